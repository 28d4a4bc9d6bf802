/* SPDX-License-Identifier: Apache-2.0 */
/* Divides keys into requests; files and follows them, or carries them out. */
#include "client/holder_request.h"

#include <stdlib.h>

#include "output/report.h"
#include "output/terminal.h"
#include "rowferry/base/log.h"
#include "rowferry/base/stop.h"
#include "rowferry/base/units.h"
#include "rowferry/document/json/record.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/pause.h"

/* Maximum keys per request. A resync reads and sends each row. A discard only deletes dead letters,
 * so the request itself costs more than its keys. */
#define HOLDER_REQUEST_KEYS 1000
#define HOLDER_REQUEST_DISCARDED 20000
#define RETRY_MS 100
#define GRACE_US INT64_C(10000000) /* time for the source to detect that a holder has died */
#define RESULT_BYTES ((size_t)64 * 1024)

static int holder_request_take(void *context, const struct holder_reply *reply, struct err *err);
static void holder_request_show(void *context, struct buf *line);

int holder_request_open(struct holder_request *k, const struct arguments *a, const char *command,
                        const char *request, struct err *err)
{
    *k = (struct holder_request){.arguments = a};
    k->client = (struct holder_client){.session = &k->session,
                                       .request = request,
                                       .progress = &k->progress,
                                       .take = holder_request_take,
                                       .show = holder_request_show,
                                       .context = k};
    progress_line_init(&k->progress, !arguments_have(a, OPTION_NO_PROGRESS));
    int rc = setup_load_one(&k->setup, a, err);
    if (rc == 0) {
        rc = session_init(&k->session, k->setup.config, k->setup.pipelines[0], command, err);
    }
    return rc < 0 ? rc : session_open_state(&k->session, err);
}

int holder_request_end(const struct holder_request *k, int rc, const struct err *err)
{
    if (rc >= 0) {
        return rc;
    }
    bool names = rc != ERR_CONFIG && k->session.pipeline != NULL;
    terminal_error(names ? k->session.pipeline->name : NULL, err);
    return (int)err_exit_code((enum err_class)rc);
}

static void holder_request_drop(struct holder_request *k)
{
    for (size_t i = 0; i < k->count; i++) {
        buf_release(&k->parts[i].keys);
    }
    k->count = 0;
    holder_client_reset(&k->client);
    k->before = (int64_t)k->client.keys;
}

void holder_request_release(struct holder_request *k)
{
    holder_request_drop(k);
    free(k->parts);
    holder_client_release(&k->client);
    session_release(&k->session);
    setup_release(&k->setup);
    progress_line_release(&k->progress);
}

static size_t holder_request_keys_most(const struct holder_request *k)
{
    return strcmp(k->client.request, REQUEST_DISCARD) == 0 ? HOLDER_REQUEST_DISCARDED
                                                           : HOLDER_REQUEST_KEYS;
}

void holder_request_push(struct holder_request *k, struct span key)
{
    struct key_part *last = k->count > 0 ? &k->parts[k->count - 1] : NULL;
    /* leaves room for escapes, which may double a key */
    if (last == NULL || last->count == holder_request_keys_most(k) ||
        last->keys.len + 2 * key.len >= REQUEST_MAX_BYTES) {
        k->parts = mem_grow(k->parts, k->count + 1, sizeof(*k->parts));
        last = &k->parts[k->count++];
        *last = (struct key_part){0};
        buf_init(&last->keys, REQUEST_MAX_BYTES);
    }
    keylist_push_key(&last->keys, key);
    last->count++;
    k->client.keys++;
}

static int holder_request_file(struct holder_request *k, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < k->count; i++) {
        struct key_part *part = &k->parts[i];
        rc = part->keys.failed
                 ? err_set(err, ERR_TRANSIENT, "no memory for a request of %zu keys", part->count)
                 : holder_client_file(&k->client, buf_text(&part->keys), err);
    }
    return rc;
}

/* --- the replies --------------------------------------------------------------------------- */

static int holder_request_take(void *context, const struct holder_reply *reply, struct err *err)
{
    struct holder_request *k = context;
    (void)err;
    if (reply->final) {
        k->counters.upserts += holder_reply_number(reply, "upserts");
        k->counters.present += holder_reply_number(reply, "present");
        k->counters.deletes += holder_reply_number(reply, "deletes");
        k->counters.rejected += holder_reply_number(reply, "rejected");
        k->discarded += holder_reply_number(reply, "discarded");
    }
    k->done = k->before + (int64_t)(k->client.answered * holder_request_keys_most(k)) +
              holder_reply_number(reply, "done");
    return 0;
}

static void holder_request_show(void *context, struct buf *line)
{
    const struct holder_request *k = context;
    char done[UNITS_BYTES];
    char all[UNITS_BYTES];
    buf_printf(line, ", %s of %s keys", units_count(done, k->done),
               units_count(all, (int64_t)k->client.keys));
}

/* --- carrying it out ----------------------------------------------------------------------- */

/* Dead letters exist in the state file only, so neither server is needed. */
static int holder_request_discard(struct holder_request *k, struct err *err)
{
    const struct clock *clock = &k->session.clock;
    int rc = 0;
    for (size_t i = k->client.answered; rc == 0 && i < k->count; i++) {
        rc = requests_discard(k->session.state, clock, k->client.ids[i],
                              buf_text(&k->parts[i].keys), err);
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

/* Files what a failed try has answered anew: an answered request has no keys any more. */
static int holder_request_file_again(struct holder_request *k, struct err *err)
{
    struct session *s = &k->session;
    int rc = 0;
    for (size_t i = k->client.answered; rc == 0 && i < k->client.count; i++) {
        enum request_state state;
        struct buf answer;
        int64_t *id = &k->client.ids[i];
        buf_init(&answer, RESULT_BYTES);
        rc = request_look(s->state, *id, &state, &answer, err);
        buf_release(&answer);
        int64_t now_us = clock_wall_us(&s->clock);
        if (rc == 0 && state == REQUEST_TAKEN) {
            rc = request_answer(s->state, *id, REQUEST_FILED, "{}", now_us, err);
        } else if (rc == 0 && state != REQUEST_FILED) {
            rc = request_file(s->state, k->client.request, buf_text(&k->parts[i].keys), now_us, id,
                              err);
        }
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
        .stop = k->client.stop, .progress = progress_line_draw, .progress_context = &k->progress};
    int64_t until = clock_monotonic_us(&s->clock) + (k->client.followed ? GRACE_US : 0);
    rc = pipeline_run(&options, &ports, &k->outcome.result, err);
    while (rc == ERR_HELD && *k->client.stop == 0 && clock_monotonic_us(&s->clock) < until) {
        clock_sleep(RETRY_MS, k->client.stop);
        rc = holder_request_file_again(k, err);
        if (rc == 0) {
            rc = pipeline_run(&options, &ports, &k->outcome.result, err);
        }
    }
    return rc;
}

static enum exit_code holder_request_exit_code(const struct holder_request *k, int rc)
{
    if (rc < 0) {
        return err_exit_code((enum err_class)rc);
    }
    if (k->client.answered < k->client.count) {
        return EXIT_TEMPORARY;
    }
    return k->counters.rejected > 0 && k->outcome.result.dead_letters > 0 ? EXIT_DEAD_LETTERS
                                                                          : EXIT_DONE;
}

/* Carries the requests out as the holder. On an error, which this command reports, withdraws
 * them. */
static int holder_request_carry_out(struct holder_request *k, struct err *err)
{
    int64_t id;
    struct err other;
    int rc = run_record_begin(&k->session, &id, err);
    if (rc < 0) {
        return rc;
    }
    rc = strcmp(k->client.request, REQUEST_DISCARD) == 0 ? holder_request_discard(k, err)
                                                         : holder_request_sync(k, err);
    if (rc == 0) {
        rc = holder_client_look(&k->client, err);
    } else if (holder_client_withdraw(&k->client, err->message, &other) < 0) {
        log_err(LOG_WARN, "request_not_withdrawn", k->session.pipeline->name, &other);
    }
    k->outcome.exit_code = holder_request_exit_code(k, rc);
    k->outcome.err = rc < 0 ? err : NULL;
    if (run_record_end(&k->session, id, &k->outcome, &other) < 0 && rc == 0) {
        *err = other;
        rc = (int)other.class;
    }
    return rc;
}

/* --- reporting -------------------------------------------------------------------------------- */

static void holder_request_push_discarded(struct holder_request *k, struct buf *out)
{
    const struct sync_outcome *o = &k->outcome;
    char count[UNITS_BYTES];
    if (!arguments_have(k->arguments, OPTION_JSON)) {
        buf_printf(out, "%s: %s%s dead letter%s discarded\n", o->pipeline,
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
    if (strcmp(k->client.request, REQUEST_DISCARD) == 0) {
        struct buf out;
        buf_init(&out, RESULT_BYTES);
        holder_request_push_discarded(k, &out);
        report_write(&out, o, &k->progress);
        buf_release(&out);
    } else {
        report_print(arguments_have(k->arguments, OPTION_JSON), o, &k->progress);
    }
    if (o->result.stopped) {
        terminal_print("pipeline \"%s\": the request stays filed: the next holder of the pipeline "
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
        rc = holder_client_follow(&k->client, err);
        if (rc == 0 && !k->client.stopped && k->client.holding &&
            k->client.answered < k->client.count) {
            rc = holder_request_carry_out(k, err);
        }
    } while (rc == 0 && !last && *k->client.stop == 0);
    return rc;
}

int holder_request_run(struct holder_request *k, struct err *err)
{
    struct session *s = &k->session;
    struct sync_outcome *o = &k->outcome;
    struct err ignored;
    int64_t began_us = clock_monotonic_us(&s->clock);
    k->client.stop = stop_watch();
    o->pipeline = s->pipeline->name;
    int rc = holder_request_parts(k, err);
    if (deadletter_count(s->state, &o->result.dead_letters, &ignored) < 0) {
        o->result.dead_letters = 0; /* as in pipeline_run */
    }
    o->result.counters.upserts = k->counters.upserts;
    o->result.counters.present = k->counters.present;
    o->result.counters.deletes = k->counters.deletes;
    o->result.counters.rejected = k->counters.rejected;
    o->result.stopped = rc == 0 && k->client.answered < k->client.count;
    o->took_ms = (clock_monotonic_us(&s->clock) - began_us) / 1000;
    o->exit_code = holder_request_exit_code(k, rc);
    o->err = rc < 0 ? err : NULL;
    holder_request_report(k);
    return (int)o->exit_code;
}
