/* SPDX-License-Identifier: Apache-2.0 */
/* reindex: fills a new generation of each pipeline, or selects a former one, and swaps it in when
 * it is complete. */
#include <string.h>

#include "client/rebuild_client.h"
#include "output/rebuild_report.h"
#include "output/report.h"
#include "parallel.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/pause.h"

#define RESULT_BYTES ((size_t)64 * 1024)

struct reindex_job {
    struct job_base base;
    const char *request; /* the request to a holder */
    struct rebuild_outcome rebuilt;
    struct rebuild_report_end end;
    struct err err;
};

static bool reindex_is(const struct reindex_job *j, const char *request)
{
    return strcmp(j->request, request) == 0;
}

static struct rebuild_terms reindex_terms_of(const struct reindex_job *j)
{
    return (struct rebuild_terms){.adopt = arguments_have(j->base.arguments, OPTION_ADOPT),
                                  .allow_deletes =
                                      arguments_have(j->base.arguments, OPTION_ALLOW_DELETES)};
}

static enum exit_code reindex_exit_code_of(const struct reindex_job *j, int rc)
{
    if (rc < 0) {
        return err_exit_code((enum err_class)rc);
    }
    if (j->end.stopped && j->end.asked) {
        return EXIT_TEMPORARY;
    }
    bool open = j->rebuilt.dead_letters > 0;
    return open && !arguments_have(j->base.arguments, OPTION_DEAD_LETTERS_OK) ? EXIT_DEAD_LETTERS
                                                                              : EXIT_DONE;
}

/* --- as the holder ---------------------------------------------------------------------------- */

/* `id` is the request that was filed before this command became the holder; 0 if none. */
static int reindex_rebuild(struct reindex_job *j, int64_t id, struct err *err)
{
    struct pipeline_worker *r = &j->base.worker;
    struct rebuild_worker *b = &r->rebuild_worker;
    const struct rebuild_terms terms = reindex_terms_of(j);
    int rc = 0;
    pipeline_worker_init_rebuild(r, progress_line_draw, j->base.progress);
    if (reindex_is(j, REQUEST_ABORT_REBUILD)) {
        rebuild_worker_abort(b, id);
        rebuild_worker_mind(b);
        rebuild_worker_release(b);
        *err = b->end.err;
        rc = b->end.rc;
    } else {
        rc = rebuild_worker_begin(
            b, id, reindex_is(j, REQUEST_ROLLBACK) ? REBUILD_BACK : REBUILD_NEW, &terms, err);
        rc = rc < 0 ? rc : pipeline_worker_see_rebuild(r, err);
    }
    j->rebuilt = b->end.rebuilt;
    j->end.stopped = rc == 0 && b->end.stopped;
    return rc;
}

/* Runs the rebuild and records it in the history. An error of the rebuild takes precedence. */
static int reindex_record(struct reindex_job *j, int64_t id, struct err *err)
{
    struct session *s = &j->base.worker.session;
    struct err unrecorded;
    int64_t run = 0;
    int rc = pause_expect_none(s->state, err);
    rc = rc == 0 ? run_record_begin(s, &run, err) : rc;
    if (rc < 0) {
        return rc;
    }
    rc = reindex_rebuild(j, id, err);
    struct sync_outcome outcome = {.exit_code = reindex_exit_code_of(j, rc),
                                   .err = rc < 0 ? err : NULL};
    outcome.result.counters.upserts = j->rebuilt.upserts;
    outcome.result.counters.deletes = j->rebuilt.deletes;
    outcome.result.counters.rejected = j->rebuilt.rejected;
    int recorded = run_record_end(s, run, &outcome, &unrecorded);
    if (rc == 0 && recorded < 0) {
        *err = unrecorded;
        rc = recorded;
    }
    return rc;
}

/* --- by the holder ---------------------------------------------------------------------------- */

static int reindex_ask(struct reindex_job *j, bool *held, int64_t *id, struct err *err)
{
    struct rebuild_client k = {.session = &j->base.worker.session,
                               .request = j->request,
                               .terms = reindex_terms_of(j),
                               .stop = j->base.stop,
                               .progress = j->base.progress};
    int rc = rebuild_client(&k, err);
    j->rebuilt = k.rebuilt;
    j->end.stopped = rc == 0 && k.stopped;
    j->end.asked = k.stopped && k.taken;
    *held = rc == 0 && k.held;
    *id = k.id;
    return rc;
}

/* --- one pipeline ----------------------------------------------------------------------------- */

static void reindex_report(struct reindex_job *j)
{
    struct sync_outcome outcome = {
        .pipeline = j->end.pipeline, .exit_code = j->end.exit_code, .err = j->end.err};
    struct buf out;
    buf_init(&out, RESULT_BYTES);
    rebuild_report_push(&out, arguments_have(j->base.arguments, OPTION_JSON), &j->rebuilt, &j->end);
    report_write(&out, &outcome, j->base.progress);
    j->end.exit_code = outcome.exit_code;
    buf_release(&out);
}

static int reindex_refuse_stream(const struct reindex_job *j, struct err *err)
{
    err_set(err, ERR_CONFIG, "\"%s\" is a data stream, which is never rebuilt",
            j->base.pipeline->to.index);
    return err_hint(err,
                    "to send missing documents: rowferry resync --pipeline %s --where true; for "
                    "another mapping or key give the pipeline another name and another to.index",
                    j->base.pipeline->name);
}

static int reindex_job_run(struct reindex_job *j, struct err *err)
{
    struct session *s = &j->base.worker.session;
    bool held = true;
    int64_t id = 0;
    if (j->base.pipeline->to.kind == INDEX_KIND_DATA_STREAM) {
        return reindex_refuse_stream(j, err);
    }
    int rc = session_open_state(s, err);
    if (rc == 0) {
        rc = session_hold(s, err);
    }
    if (rc == ERR_HELD) {
        rc = reindex_ask(j, &held, &id, err);
    }
    return rc == 0 && held ? reindex_record(j, id, err) : rc;
}

static void reindex_job_work(void *job)
{
    struct reindex_job *j = job;
    struct session *s = &j->base.worker.session;
    j->request = arguments_have(j->base.arguments, OPTION_ROLLBACK) ? REQUEST_ROLLBACK
                 : arguments_have(j->base.arguments, OPTION_ABORT)  ? REQUEST_ABORT_REBUILD
                                                                    : REQUEST_REINDEX;
    int rc = session_init(s, j->base.config, j->base.pipeline, "reindex", &j->err);
    int64_t began_us = clock_monotonic_us(&s->clock);
    rc = rc < 0 ? rc : reindex_job_run(j, &j->err);
    if (rc == 0 && j->rebuilt.kind == REBUILD_OUTCOME_BACK) {
        rc = session_look_returned(s->state, j->base.pipeline, &j->end.file_differs, &j->err);
    }
    j->end.pipeline = j->base.pipeline->name;
    j->end.abort = reindex_is(j, REQUEST_ABORT_REBUILD);
    j->end.back = reindex_is(j, REQUEST_ROLLBACK);
    j->end.took_ms = (clock_monotonic_us(&s->clock) - began_us) / 1000;
    j->end.exit_code = reindex_exit_code_of(j, rc);
    j->end.err = rc < 0 ? &j->err : NULL;
    session_release(s);
    reindex_report(j);
    j->base.exit_code = j->end.exit_code;
}

/* --- the command ------------------------------------------------------------------------------ */

static int reindex_require_one(const struct arguments *a, struct err *err)
{
    bool back = arguments_have(a, OPTION_ROLLBACK);
    bool abort = arguments_have(a, OPTION_ABORT);
    bool adopt = arguments_have(a, OPTION_ADOPT);
    if (back + abort + adopt > 1) {
        return err_set(
            err, ERR_CONFIG,
            "options \"--rollback\", \"--abort\" and \"--adopt\": only one can be given");
    }
    if (abort && arguments_have(a, OPTION_ALLOW_DELETES)) {
        return err_set(err, ERR_CONFIG, "option \"--allow-deletes\" does not apply to \"--abort\"");
    }
    return 0;
}

int command_reindex(const struct arguments *a, struct err *err)
{
    static const struct parallel_command command = {"reindex", sizeof(struct reindex_job),
                                                    reindex_job_work, NULL};
    int rc = reindex_require_one(a, err);
    return rc < 0 ? rc : parallel_run(a, &command, err);
}
