/* SPDX-License-Identifier: Apache-2.0 */
/* deadletter list, deadletter show: the operations that the service refuses, and why. */
#include "rowferry/state/deadletter.h"

#include <string.h>

#include "choice.h"
#include "output/terminal.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/units.h"
#include "rowferry/document/json/record.h"
#include "setup.h"

#define RESULT_BYTES ((size_t)1024 * 1024 * 1024)
#define FLUSH_BYTES ((size_t)64 * 1024)

struct letter_listing {
    const char *pipeline;
    struct dead_letter_filter filter;
    bool groups; /* grouped by error type */
    bool whole;  /* with all details */
    bool json;
    int64_t count;
    const char *unknown; /* a pipeline whose state file has no position: its dead letters may be in
                          * the source's checkpoint backup */
    struct buf out;
    struct err err;
};

static void deadletter_push_json(struct buf *out, const char *pipeline, const struct dead_letter *l)
{
    record_open(out);
    record_text(out, "pipeline", pipeline);
    record_span(out, "key", l->key, l->key_len);
    record_text(out, "operation", operation_kind_name(l->kind));
    record_int(out, "status", l->http_status);
    record_int(out, "version", l->version);
    record_text(out, "error_type", l->error_type[0] != '\0' ? l->error_type : NULL);
    record_text(out, "reason", l->reason);
    record_time(out, "first", l->first_us);
    record_time(out, "last", l->last_us);
    record_int(out, "attempts", l->attempts);
    record_close(out);
    buf_push_char(out, '\n');
}

static void deadletter_push_human(struct buf *out, const char *pipeline,
                                  const struct dead_letter *l)
{
    char first[CLOCK_ISO_BYTES];
    char last[CLOCK_ISO_BYTES];
    buf_printf(out, "%s: %s of \"", pipeline, operation_kind_name(l->kind));
    if (l->key_len == 0) {
        buf_push_literal(out, "(none)"); /* a part of the key is NULL */
    }
    terminal_push_safe(out, l->key, l->key_len);
    buf_printf(out, "\", first %s, last %s, %lld attempt%s", clock_iso(first, l->first_us, 0),
               clock_iso(last, l->last_us, 0), (long long)l->attempts, l->attempts == 1 ? "" : "s");
    if (l->http_status != 0) {
        buf_printf(out, ", status %d\n    ", l->http_status);
    } else {
        buf_push_literal(out, ", never sent\n    ");
    }
    terminal_push_safe(out, l->reason, strlen(l->reason));
    buf_push_char(out, '\n');
}

/* Appends a placeholder if the service gave no error type. */
static void deadletter_push_type(struct buf *out, const char *type, bool never_sent)
{
    if (type[0] != '\0') {
        terminal_push_safe(out, type, strlen(type));
    } else {
        buf_push_text(out, never_sent ? "never sent" : "none");
    }
}

static void deadletter_push_whole(struct buf *out, const char *pipeline,
                                  const struct dead_letter *l)
{
    char first[CLOCK_ISO_BYTES];
    char last[CLOCK_ISO_BYTES];
    buf_printf(out, "pipeline   %s\nkey        ", pipeline);
    terminal_push_safe(out, l->key, l->key_len);
    buf_printf(out, "\noperation  %s\nversion    %lld\nstatus     ", operation_kind_name(l->kind),
               (long long)l->version);
    if (l->http_status != 0) {
        buf_printf(out, "%d", l->http_status);
    } else {
        buf_push_literal(out, "never sent");
    }
    buf_push_literal(out, "\ntype       ");
    deadletter_push_type(out, l->error_type, l->http_status == 0);
    buf_printf(out, "\nfirst      %s\nlast       %s\nattempts   %lld\nreason     ",
               clock_iso(first, l->first_us, 0), clock_iso(last, l->last_us, 0),
               (long long)l->attempts);
    terminal_push_safe(out, l->reason, strlen(l->reason));
    buf_push_char(out, '\n');
}

static int deadletter_flush(struct letter_listing *l)
{
    int rc = terminal_result(&l->out, &l->err);
    buf_reset(&l->out);
    return rc;
}

static int deadletter_list_one(void *context, const struct dead_letter *letter)
{
    struct letter_listing *l = context;
    l->count++;
    if (l->json) {
        deadletter_push_json(&l->out, l->pipeline, letter);
    } else if (l->whole) {
        deadletter_push_whole(&l->out, l->pipeline, letter);
    } else {
        deadletter_push_human(&l->out, l->pipeline, letter);
    }
    return l->out.len >= FLUSH_BYTES ? deadletter_flush(l) : 0;
}

static int deadletter_list_group(void *context, const struct dead_letter_group *g)
{
    struct letter_listing *l = context;
    char count[UNITS_BYTES];
    char first[CLOCK_ISO_BYTES];
    char last[CLOCK_ISO_BYTES];
    l->count++;
    if (!l->json) {
        buf_printf(&l->out, "%s: %s ", l->pipeline, units_count(count, g->count));
        deadletter_push_type(&l->out, g->error_type, g->never_sent);
        buf_printf(&l->out, ", first %s, last %s\n", clock_iso(first, g->first_us, 0),
                   clock_iso(last, g->last_us, 0));
        return 0;
    }
    record_open(&l->out);
    record_text(&l->out, "pipeline", l->pipeline);
    record_text(&l->out, "error_type", g->error_type[0] != '\0' ? g->error_type : NULL);
    record_bool(&l->out, "never_sent", g->never_sent);
    record_int(&l->out, "count", g->count);
    record_time(&l->out, "first", g->first_us);
    record_time(&l->out, "last", g->last_us);
    record_close(&l->out);
    buf_push_char(&l->out, '\n');
    return 0;
}

static int deadletter_note_unknown(struct letter_listing *l, struct state *state, struct err *err)
{
    struct checkpoint checkpoint = {0};
    int rc = state != NULL ? checkpoint_load(state, &checkpoint, err) : 0;
    if (rc == 0 && checkpoint.position == NULL && l->unknown == NULL) {
        l->unknown = l->pipeline;
    }
    checkpoint_release(&checkpoint);
    return rc;
}

static int deadletter_list_pipeline(struct letter_listing *l, const char *path, struct err *err)
{
    struct state *state;
    int rc = state_open_read_only(&state, path, l->pipeline, err);
    if (rc == 0) {
        rc = deadletter_note_unknown(l, state, err);
    }
    if (rc == 0 && state != NULL) {
        l->err.class = ERR_NONE;
        rc = l->groups ? deadletter_groups(state, &l->filter, deadletter_list_group, l, err)
                       : deadletter_select(state, &l->filter, deadletter_list_one, l, err);
        if (rc == 0) {
            rc = deadletter_flush(l);
        }
        if (l->err.class != ERR_NONE) {
            *err = l->err;
        }
    }
    state_close(state);
    return rc;
}

int command_deadletter_list(const struct arguments *a, struct err *err)
{
    struct setup setup;
    struct letter_listing l = {.json = arguments_have(a, OPTION_JSON),
                               .groups = arguments_have(a, OPTION_BY_REASON)};
    struct clock clock = clock_system();
    buf_init(&l.out, RESULT_BYTES);
    int rc = setup_load(&setup, a, err);
    if (rc == 0) {
        rc = choice_of(a, clock_wall_us(&clock), &l.filter, err);
    }
    int64_t limit = l.filter.limit;
    for (size_t i = 0; rc == 0 && i < setup.count && (limit == 0 || l.count < limit); i++) {
        l.pipeline = setup.pipelines[i]->name;
        l.filter.limit = limit > 0 ? limit - l.count : 0;
        rc = deadletter_list_pipeline(&l, setup.config->state_path, err);
    }
    if (rc == 0 && l.count == 0 && !l.json) {
        buf_push_literal(&l.out, "no dead letters");
        if (l.unknown != NULL) {
            buf_printf(&l.out, "; pipeline \"%s\" has no position yet: run a sync first",
                       l.unknown);
        }
        buf_push_char(&l.out, '\n');
        rc = terminal_result(&l.out, err);
    }
    setup_release(&setup);
    buf_release(&l.out);
    return rc;
}

int command_deadletter_show(const struct arguments *a, struct err *err)
{
    struct setup setup = {0};
    struct letter_listing l = {
        .json = arguments_have(a, OPTION_JSON), .filter = {.key = a->operands[0]}, .whole = true};
    buf_init(&l.out, RESULT_BYTES);
    int rc = setup_load_one(&setup, a, err);
    if (rc == 0) {
        l.pipeline = setup.pipelines[0]->name;
        rc = deadletter_list_pipeline(&l, setup.config->state_path, err);
    }
    if (rc == 0 && l.count == 0) {
        err_set(err, ERR_STATE, "pipeline \"%s\" has no dead letter with key \"%s\"", l.pipeline,
                l.filter.key);
        rc = err_hint(err, "see: rowferry deadletter list %s", l.pipeline);
    }
    setup_release(&setup);
    buf_release(&l.out);
    return rc;
}
