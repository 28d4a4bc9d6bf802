/* SPDX-License-Identifier: Apache-2.0 */
/* Files requests, follows them, or carries them out. */
#include "client/holder_request.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "output/refusal.h"
#include "output/report.h"
#include "output/terminal.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/log.h"
#include "rowferry/base/stop.h"
#include "rowferry/base/units.h"
#include "rowferry/document/json/json_tree.h"
#include "rowferry/document/json/record.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/pause.h"

/* Maximum keys per request. A resync reads and sends each row. A discard only deletes dead letters,
 * so the request itself costs more than its keys. */
#define HOLDER_REQUEST_KEYS 1000
#define HOLDER_REQUEST_DISCARDED 20000
#define HOLDER_REQUEST_LOOK_MS 100
#define HOLDER_REQUEST_HOLD_US INT64_C(1000000)
#define HOLDER_REQUEST_GRACE_US                                                                    \
    INT64_C(10000000) /* time for the source to detect that a holder has died */
#define ANSWER_MAX_BYTES ((size_t)64 * 1024)

int holder_request_open(struct holder_request *k, const struct arguments *a, const char *command,
                        const char *request, struct err *err)
{
    *k = (struct holder_request){.arguments = a, .request = request};
    progress_line_init(&k->progress, !arguments_have(a, OPTION_NO_PROGRESS));
    int rc = setup_load_one(&k->setup, a, err);
    if (rc == 0) {
        rc = session_init(&k->session, k->setup.config, k->setup.pipelines[0], command, err);
    }
    return rc < 0 ? rc : session_open_state(&k->session, err);
}

int holder_request_named(const struct holder_request *k, int rc, struct err *err)
{
    if (rc >= 0 || rc == ERR_CONFIG || k->session.pipeline == NULL ||
        strncmp(err->message, "pipeline \"", 10) == 0) {
        return rc;
    }
    return err_context(err, "pipeline \"%s\"", k->session.pipeline->name);
}

static void holder_request_drop(struct holder_request *k)
{
    for (size_t i = 0; i < k->count; i++) {
        buf_release(&k->asked[i].keys);
    }
    k->count = 0;
    k->answered = 0;
    k->before = (int64_t)k->keys;
}

void holder_request_release(struct holder_request *k)
{
    holder_request_drop(k);
    free(k->asked);
    session_release(&k->session);
    setup_release(&k->setup);
    progress_line_release(&k->progress);
}

static size_t holder_request_keys_most(const struct holder_request *k)
{
    return strcmp(k->request, REQUEST_DISCARD) == 0 ? HOLDER_REQUEST_DISCARDED
                                                    : HOLDER_REQUEST_KEYS;
}

void holder_request_push(struct holder_request *k, struct span key)
{
    struct asked *last = k->count > 0 ? &k->asked[k->count - 1] : NULL;
    /* leaves room for escapes, which may double a key */
    if (last == NULL || last->count == holder_request_keys_most(k) ||
        last->keys.len + 2 * key.len >= REQUEST_MAX_BYTES) {
        k->asked = mem_grow(k->asked, k->count + 1, sizeof(*k->asked));
        last = &k->asked[k->count++];
        *last = (struct asked){0};
        buf_init(&last->keys, REQUEST_MAX_BYTES);
    }
    keylist_push_key(&last->keys, key);
    last->count++;
    k->keys++;
}

static int holder_request_file(struct holder_request *k, struct err *err)
{
    struct session *s = &k->session;
    for (size_t i = 0; i < k->count; i++) {
        struct asked *asked = &k->asked[i];
        if (asked->keys.failed) {
            return err_set(err, ERR_TRANSIENT, "no memory for a request of %zu keys", asked->count);
        }
        int rc = request_file(s->state, k->request, buf_text(&asked->keys),
                              clock_wall_us(&s->clock), &asked->id, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* --- the answer ---------------------------------------------------------------------------- */

static int64_t holder_request_member(struct json_object *answer, const char *name)
{
    return json_object_get_int64(json_tree_member(answer, name));
}

/* Adds a final reply to the totals. */
static void holder_request_add(struct holder_request *k, enum request_state state,
                               struct json_object *answer)
{
    k->upserts += holder_request_member(answer, "upserts");
    k->present += holder_request_member(answer, "present");
    k->deletes += holder_request_member(answer, "deletes");
    k->rejected += holder_request_member(answer, "rejected");
    k->discarded += holder_request_member(answer, "discarded");
    if (state == REQUEST_FAILED && k->refused.class == ERR_NONE) {
        (void)refusal_read(answer, "the request failed", &k->refused);
    }
}

/* Looks at the first request without a reply. *final: it has one now. */
static int holder_request_look_at(struct holder_request *k, bool *final, struct err *err)
{
    struct buf text;
    enum request_state state = REQUEST_FILED;
    buf_init(&text, ANSWER_MAX_BYTES);
    int rc = request_look(k->session.state, k->asked[k->answered].id, &state, &text, err);
    struct json_object *answer = rc == 0 ? json_tree_of(buf_text(&text)) : NULL;
    *final = rc == 0 && (state == REQUEST_DONE || state == REQUEST_FAILED);
    if (*final) {
        holder_request_add(k, state, answer);
    }
    k->done = k->before + (int64_t)(k->answered * holder_request_keys_most(k)) +
              holder_request_member(answer, "done");
    json_object_put(answer);
    buf_release(&text);
    return rc;
}

static int holder_request_look(struct holder_request *k, struct err *err)
{
    bool final = true;
    while (final && k->answered < k->count) {
        int rc = holder_request_look_at(k, &final, err);
        if (rc < 0) {
            return rc;
        }
        k->answered += final;
    }
    if (k->answered == k->count && k->refused.class != ERR_NONE) {
        *err = k->refused;
        return (int)err->class;
    }
    return 0;
}

/* --- carrying it out ----------------------------------------------------------------------- */

/* Sets this state and answer on all requests without a reply. */
static int holder_request_mark(struct holder_request *k, enum request_state state,
                               const char *answer, struct err *err)
{
    struct session *s = &k->session;
    int rc = 0;
    for (size_t i = k->answered; rc == 0 && i < k->count; i++) {
        rc = request_answer(s->state, k->asked[i].id, state, answer, clock_wall_us(&s->clock), err);
    }
    return rc;
}

/* Withdraws requests after an error, which this command reports, so that no later holder carries
 * them out unexpectedly. */
static void holder_request_withdraw(struct holder_request *k, const struct err *why)
{
    struct err ignored;
    struct buf answer;
    buf_init(&answer, ANSWER_MAX_BYTES);
    record_open(&answer);
    record_text(&answer, "error", why->message);
    record_close(&answer);
    int withdrawn = holder_request_mark(k, REQUEST_FAILED, buf_text(&answer), &ignored);
    (void)withdrawn; /* on error the next holder carries them out, which is acceptable */
    buf_release(&answer);
}

/* Dead letters exist in the state file only, so neither server is needed. */
static int holder_request_discard(struct holder_request *k, struct err *err)
{
    const struct clock *clock = &k->session.clock;
    int rc = 0;
    for (size_t i = k->answered; rc == 0 && i < k->count; i++) {
        rc = requests_discard(k->session.state, clock, k->asked[i].id, buf_text(&k->asked[i].keys),
                              err);
    }
    return rc;
}

static int holder_request_open_both(struct holder_request *k, struct err *err)
{
    int rc = k->secrets ? 0 : setup_secrets(&k->setup, err);
    k->secrets = rc == 0;
    if (rc == 0) {
        rc = session_open_service(&k->session, err);
    }
    if (rc == 0) {
        session_open_table(&k->session);
    }
    return rc;
}

static int holder_request_sync(struct holder_request *k, struct err *err)
{
    struct session *s = &k->session;
    int rc = pause_expect_none(s->state, err);
    rc = rc == 0 && s->service == NULL ? holder_request_open_both(k, err) : rc;
    if (rc < 0) {
        return rc;
    }
    struct pipeline_options options;
    struct pipeline_ports ports;
    session_options(s, &options);
    session_ports(s, &ports);
    options.mode = PIPELINE_REQUESTS;
    options.hooks = (struct pipeline_hooks){
        .stop = k->stop, .progress = progress_line_draw, .progress_context = &k->progress};
    int64_t until = clock_monotonic_us(&s->clock) + (k->followed ? HOLDER_REQUEST_GRACE_US : 0);
    rc = pipeline_sync(&options, &ports, &k->outcome.result, err);
    while (rc == ERR_HELD && *k->stop == 0 && clock_monotonic_us(&s->clock) < until) {
        clock_sleep(HOLDER_REQUEST_LOOK_MS, k->stop);
        rc = holder_request_mark(k, REQUEST_FILED, "{}", err);
        if (rc == 0) {
            rc = pipeline_sync(&options, &ports, &k->outcome.result, err);
        }
    }
    return rc;
}

static enum exit_code holder_request_exit_code(const struct holder_request *k, int rc)
{
    if (rc < 0) {
        return err_exit_code((enum err_class)rc);
    }
    if (k->answered < k->count) {
        return EXIT_TEMPORARY;
    }
    return k->rejected > 0 && k->outcome.result.dead_letters > 0 ? EXIT_DEAD_LETTERS : EXIT_DONE;
}

static int holder_request_carry_out(struct holder_request *k, struct err *err)
{
    int64_t id;
    struct err unrecorded;
    int rc = holder_request_look(
        k, err); /* the previous holder may have answered just before it ended */
    if (rc < 0 || k->answered == k->count) {
        return rc;
    }
    rc = run_record_begin(&k->session, &id, err);
    if (rc < 0) {
        return rc;
    }
    rc = strcmp(k->request, REQUEST_DISCARD) == 0 ? holder_request_discard(k, err)
                                                  : holder_request_sync(k, err);
    if (rc < 0) {
        holder_request_withdraw(k, err);
    } else {
        rc = holder_request_look(k, err);
    }
    k->outcome.exit_code = holder_request_exit_code(k, rc);
    k->outcome.err = rc < 0 ? err : NULL;
    if (run_record_end(&k->session, id, &k->outcome, &unrecorded) < 0 && rc == 0) {
        *err = unrecorded;
        rc = (int)unrecorded.class;
    }
    return rc;
}

/* --- following ----------------------------------------------------------------------------- */

/* Logs once which holder it waits for. */
static void holder_request_note_other(struct holder_request *k, const struct err *held)
{
    if (!k->followed) {
        log_event(LOG_INFO, "request_filed", F_TEXT("command", k->session.command),
                  F_INT("keys", k->keys), F_TEXT("message", held->message));
    }
    k->followed = true;
}

static void holder_request_show(struct holder_request *k)
{
    char done[UNITS_BYTES];
    char all[UNITS_BYTES];
    struct buf text;
    buf_init(&text, 1024);
    buf_printf(&text, "%s: asked the one who holds it, %s of %s keys", k->session.pipeline->name,
               units_count(done, k->done), units_count(all, (int64_t)k->keys));
    progress_line_show(&k->progress, buf_text(&text));
    buf_release(&text);
}

static int holder_request_see_through(struct holder_request *k, struct err *err)
{
    int64_t hold_us = 0;
    for (;;) {
        int rc = holder_request_look(k, err);
        if (rc < 0 || k->answered == k->count || *k->stop != 0) {
            return rc;
        }
        int64_t now = clock_monotonic_us(&k->session.clock);
        if (now >= hold_us) {
            hold_us = now + HOLDER_REQUEST_HOLD_US;
            rc = k->holding ? 0 : session_hold(&k->session, err);
            if (rc != ERR_HELD) {
                k->holding = rc == 0;
                return rc < 0 ? rc : holder_request_carry_out(k, err);
            }
            holder_request_note_other(k, err);
        }
        holder_request_show(k);
        clock_sleep(HOLDER_REQUEST_LOOK_MS, k->stop);
    }
}

/* --- reporting -------------------------------------------------------------------------------- */

static void holder_request_push_discarded(struct holder_request *k, struct buf *out)
{
    const struct sync_outcome *o = &k->outcome;
    char count[UNITS_BYTES];
    if (!arguments_have(k->arguments, OPTION_JSON)) {
        buf_printf(out, "%s: %s%s dead letter%s forgotten\n", o->pipeline,
                   o->err != NULL      ? "failed, "
                   : o->result.stopped ? "stopped, "
                                       : "",
                   units_count(count, k->discarded), k->discarded == 1 ? "" : "s");
        return;
    }
    record_open(out);
    record_text(out, "pipeline", o->pipeline);
    record_int(out, "discarded", k->discarded);
    record_int(out, "dead_letters", o->result.dead_letters);
    record_seconds(out, "seconds", o->took_ms);
    record_int(out, "exit_code", o->exit_code);
    record_text(out, "error", o->err != NULL ? o->err->message : NULL);
    record_close(out);
    buf_push_char(out, '\n');
}

static void holder_request_report(struct holder_request *k)
{
    struct sync_outcome *o = &k->outcome;
    if (strcmp(k->request, REQUEST_DISCARD) == 0) {
        struct buf out;
        buf_init(&out, ANSWER_MAX_BYTES);
        holder_request_push_discarded(k, &out);
        report_write(&out, o, &k->progress);
        buf_release(&out);
    } else {
        report_print(arguments_have(k->arguments, OPTION_JSON), o, &k->progress);
    }
    if (o->result.stopped) {
        terminal_print("pipeline \"%s\": the request stays filed: whoever holds the pipeline next "
                       "carries it out",
                       o->pipeline);
    }
}

/* Processes one part at a time. Requests without a reply are kept for the report. */
static int holder_request_parts(struct holder_request *k, struct err *err)
{
    bool last = k->more == NULL;
    int rc = 0;
    do {
        if (k->more != NULL) {
            holder_request_drop(k);
            rc = k->more(k->context, k, &last, err);
        }
        if (rc == 0) {
            rc = holder_request_file(k, err);
        }
        if (rc < 0) {
            holder_request_drop(k); /* a request that was not filed gets no reply */
            return rc;
        }
        rc = holder_request_see_through(k, err);
    } while (rc == 0 && !last && *k->stop == 0);
    return rc;
}

int holder_request_run(struct holder_request *k, struct err *err)
{
    struct session *s = &k->session;
    struct sync_outcome *o = &k->outcome;
    struct err ignored;
    int64_t began_us = clock_monotonic_us(&s->clock);
    k->stop = stop_watch();
    o->pipeline = s->pipeline->name;
    int rc = holder_request_parts(k, err);
    if (deadletter_count(s->state, &o->result.dead_letters, &ignored) < 0) {
        o->result.dead_letters = 0; /* as in pipeline_sync */
    }
    o->result.counters.upserts = k->upserts;
    o->result.counters.present = k->present;
    o->result.counters.deletes = k->deletes;
    o->result.counters.rejected = k->rejected;
    o->result.stopped = rc == 0 && k->answered < k->count;
    o->took_ms = (clock_monotonic_us(&s->clock) - began_us) / 1000;
    o->exit_code = holder_request_exit_code(k, rc);
    o->err = rc < 0 ? err : NULL;
    holder_request_report(k);
    return (int)o->exit_code;
}
