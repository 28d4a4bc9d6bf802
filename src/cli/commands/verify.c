/* SPDX-License-Identifier: Apache-2.0 */
/* verify: compares the index with the table; --repair sends the differences. */
#include "rowferry/engine/verify/verify.h"

#include <string.h>

#include "client/holder_request.h"
#include "output/differences.h"
#include "output/terminal.h"
#include "rowferry/base/log.h"
#include "rowferry/base/stop.h"
#include "rowferry/base/units.h"
#include "rowferry/daemon/repairs.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/guard_stop.h"

#define REPORT_BYTES ((size_t)8 << 20)
#define SETTLE_MS 30000

struct verify_job {
    const struct arguments *arguments;
    const struct pipeline_config *pipeline;
    struct session session;
    struct progress_line progress;
    struct differences differences;
    struct compare_rules rules;
    struct verify_result result;
    int64_t limit, sample;
    struct repairs repairs;
};

/* --- differences ------------------------------------------------------------------------------ */

static void verify_push_all(struct holder_request *ask, const struct repair_keys *k)
{
    struct span key;
    for (size_t at = 0; repairs_keys_next(k, &at, &key);) {
        holder_request_push(ask, key);
    }
}

static void verify_on_found(void *context, const struct verify_found *found)
{
    struct verify_job *j = context;
    differences_add(&j->differences, found);
    if (arguments_have(j->arguments, OPTION_REPAIR)) {
        repairs_add(&j->repairs, j->pipeline->to.kind == INDEX_KIND_DATA_STREAM, found);
    }
}

static void verify_on_again(void *context)
{
    struct verify_job *j = context;
    differences_reset(&j->differences);
    repairs_reset(&j->repairs);
}

static void verify_on_progress(void *context, const struct verify_progress *p)
{
    struct verify_job *j = context;
    struct buf text;
    char n[UNITS_BYTES];
    char all[UNITS_BYTES];
    buf_init(&text, 1024);
    buf_printf(&text, "verifying %s, %s", p->stage, units_count(n, p->done));
    if (p->expected >= p->done && p->done > 0) {
        int64_t left_ms = p->elapsed_ms * (p->expected - p->done) / p->done;
        buf_printf(&text, " of about %s", units_count(all, p->expected));
        buf_printf(&text, ", %s left", units_duration(all, left_ms));
    }
    buf_printf(&text, ", %s differences", units_count(n, p->differences));
    progress_line_show(&j->progress, j->pipeline->name, buf_text(&text));
    buf_release(&text);
}

/* --- comparison ------------------------------------------------------------------------------- */

static int verify_never_synced(const struct verify_job *j, struct err *err)
{
    err_set(err, ERR_STATE, "it has not been synced yet");
    return err_hint(err, "run: rowferry sync %s", j->pipeline->name);
}

static int verify_open_parts(struct verify_job *j, struct err *err)
{
    struct session *s = &j->session;
    int rc = state_open_read_only(&s->state, s->config->state_path, j->pipeline->name, err);
    if (rc == 0 && s->state == NULL) {
        rc = verify_never_synced(j, err);
    }
    if (rc == 0) {
        rc = session_open_service(s, err);
    }
    if (rc == 0) {
        session_open_table(s);
    }
    return rc;
}

static int verify_look(struct verify_job *j, const volatile sig_atomic_t *stop, struct err *err)
{
    struct pipeline_options pipeline;
    struct pipeline_ports ports;
    struct source_options source;
    struct listing_options listing;
    session_options(&j->session, &pipeline);
    session_ports(&j->session, &ports);
    session_source_options(&j->session, &source);
    session_listing(&j->session, j->arguments->values[OPTION_WHERE], &listing);
    struct verify_options options = {
        .pipeline = &pipeline,
        .fields = j->pipeline->fields,
        .field_count = j->pipeline->field_count,
        .sample = (size_t)j->sample,
        .rows_only = arguments_have(j->arguments, OPTION_WHERE),
        .settle_ms = SETTLE_MS,
        .stop = stop,
        .found = verify_on_found,
        .again = verify_on_again,
        .progress = verify_on_progress,
        .context = j,
    };
    struct verify_ports all = {&ports, j->session.service, &source, &listing};
    j->rules = (struct compare_rules){.mapping = &j->session.mapping,
                                      .fields = j->pipeline->fields,
                                      .field_count = j->pipeline->field_count,
                                      .filled = j->pipeline->to.ingest_pipeline != NULL};
    int rc = verify_run(&options, &all, &j->result, err);
    j->rules.form = j->result.form;
    return rc;
}

static enum exit_code verify_exit_of(const struct verify_job *j, int rc)
{
    const struct verify_result *r = &j->result;
    return rc < 0                        ? err_exit_code((enum err_class)rc)
           : verify_differences(r) > 0   ? EXIT_DIFFERENCES
           : r->waiting > 0 && r->halted ? EXIT_FAILED
           : verify_unsure(r)            ? EXIT_TEMPORARY
           : r->found[VERIFY_LETTER] > 0 ? EXIT_DEAD_LETTERS
                                         : EXIT_DONE;
}

static enum exit_code verify_report(struct verify_job *j, int rc, const struct err *err,
                                    int64_t took_ms)
{
    struct buf out;
    struct err unwritten;
    enum exit_code code = verify_exit_of(j, rc);
    struct verified v = {.pipeline = j->pipeline->name,
                         .index = j->pipeline->to.index,
                         .result = &j->result,
                         .rules = &j->rules,
                         .sampled = j->sample > 0,
                         .filtered = arguments_have(j->arguments, OPTION_WHERE),
                         .took_ms = took_ms,
                         .exit_code = (int)code,
                         .error = rc < 0 ? err->message : NULL};
    progress_line_end(&j->progress, j->pipeline->name);
    if (rc < 0) {
        log_err(LOG_ERROR, "verify_failed", j->pipeline->name, err);
        terminal_error(j->pipeline->name, err);
    }
    buf_init(&out, REPORT_BYTES);
    if (rc == 0 || j->differences.json) {
        differences_push(&out, &j->differences, &v);
    }
    if (terminal_result(&out, &unwritten) < 0) {
        terminal_error(j->pipeline->name, &unwritten);
        code = err_exit_code_worse(code, EXIT_TEMPORARY);
    }
    buf_release(&out);
    return code;
}

/* --- repair ----------------------------------------------------------------------------------- */

/* Returns true if the guard of a sync would let the deletes pass. */
static bool verify_guard_passes(const struct verify_job *j)
{
    const struct verify_result *r = &j->result;
    if (j->pipeline->to.kind == INDEX_KIND_DATA_STREAM ||
        repairs_guard_passes(&j->pipeline->delete_guard, r) ||
        arguments_have(j->arguments, OPTION_ALLOW_DELETES)) {
        return true;
    }
    terminal_print("pipeline \"%s\": the guard stopped the deletion of %lld extra document%s of "
                   "%lld; if it is intended: rowferry verify --repair --allow-deletes %s",
                   j->pipeline->name, (long long)r->found[VERIFY_EXTRA],
                   r->found[VERIFY_EXTRA] == 1 ? "" : "s", (long long)r->documents,
                   j->pipeline->name);
    return false;
}

/* Reports that the guard is the reason of a failed request, because its answer does not mention
 * it. */
static void verify_report_halted(const struct verify_job *j, struct state *state)
{
    struct guard_stop halt;
    struct err ignored;
    bool halted = false;
    if (guard_stop_read(state, &halt, &halted, &ignored) == 0 && halted) {
        terminal_print("pipeline \"%s\": differences were not sent because the guard stopped the "
                       "pipeline; see: rowferry status %s",
                       j->pipeline->name, j->pipeline->name);
    }
}

/* Returns the exit code for differences that a successful repair leaves. */
static enum exit_code verify_left_by_repair(const struct verify_job *j, int64_t letters)
{
    const struct verify_result *r = &j->result;
    return r->waiting > 0 ? (r->halted ? EXIT_FAILED : EXIT_TEMPORARY)
           : letters > 0  ? EXIT_DEAD_LETTERS
                          : EXIT_DONE;
}

/* Returns the exit code, or an error. */
static int verify_send_keys(struct verify_job *j, struct holder_request *ask, bool extra_too,
                            struct err *err)
{
    int64_t letters = j->result.found[VERIFY_LETTER];
    int rc = EXIT_DONE;
    verify_push_all(ask, &j->repairs.changed);
    if (extra_too) {
        verify_push_all(ask, &j->repairs.extra);
    }
    if (ask->count > 0) {
        rc = holder_request_run(ask, err);
        letters = ask->outcome.result.dead_letters;
    }
    if (rc == EXIT_FAILED) {
        verify_report_halted(j, ask->session.state);
    }
    return rc < 0 ? rc
                  : (int)err_exit_code_worse(verify_left_by_repair(j, letters), (enum exit_code)rc);
}

static int verify_send(struct verify_job *j, struct err *err)
{
    struct holder_request ask;
    struct arguments a = *j->arguments;
    a.values[OPTION_PIPELINE] = j->pipeline->name;
    bool passes = verify_guard_passes(j);
    int rc = holder_request_open(&ask, &a, "verify", REQUEST_RESYNC, err);
    if (rc == 0) {
        rc = verify_send_keys(j, &ask, passes, err);
    }
    holder_request_release(&ask);
    if (rc < 0) {
        return rc;
    }
    if (j->repairs.changed.left_out + j->repairs.extra.left_out > 0) {
        terminal_print("pipeline \"%s\": %zu differences remain for a second repair",
                       j->pipeline->name, j->repairs.changed.left_out + j->repairs.extra.left_out);
    }
    if (j->repairs.impossible > 0) {
        terminal_print("pipeline \"%s\": %zu extra document%s that no row can have: delete by hand",
                       j->pipeline->name, j->repairs.impossible,
                       j->repairs.impossible == 1 ? " has an id" : "s have ids");
        rc = (int)err_exit_code_worse(EXIT_DIFFERENCES, (enum exit_code)rc);
    }
    if (j->repairs.fixed > 0) {
        terminal_print("pipeline \"%s\": %zu difference%s stay%s: a data stream takes no updates "
                       "and no deletes; correct them there by hand (docs/verify.md)",
                       j->pipeline->name, j->repairs.fixed, j->repairs.fixed == 1 ? "" : "s",
                       j->repairs.fixed == 1 ? "s" : "");
        rc = (int)err_exit_code_worse(EXIT_DIFFERENCES, (enum exit_code)rc);
    }
    return passes ? rc : (int)err_exit_code_worse(EXIT_FAILED, (enum exit_code)rc);
}

/* --- the command ------------------------------------------------------------------------------ */

static int verify_number_of(const struct arguments *a, enum option_id id, int64_t *out,
                            struct err *err)
{
    const char *text = a->values[id];
    if (text == NULL) {
        return 0;
    }
    if (!units_parse_count(text, out) || *out < 1 || *out > 1000000) {
        return err_set(err, ERR_CONFIG, "option \"%s\": \"%s\" is not a number from 1 to 1000000",
                       option_rows[id].name, text);
    }
    return 0;
}

static int verify_pipeline(struct verify_job *j, const struct config *config,
                           const volatile sig_atomic_t *stop)
{
    struct err err = {0};
    int rc = session_init(&j->session, config, j->pipeline, "verify", &err);
    int64_t began_us = clock_monotonic_us(&j->session.clock);
    if (rc == 0) {
        rc = verify_open_parts(j, &err);
    }
    if (rc == 0) {
        rc = verify_look(j, stop, &err);
    }
    int64_t took_ms = (clock_monotonic_us(&j->session.clock) - began_us) / 1000;
    enum exit_code code = verify_report(j, rc, &err, took_ms);
    session_release(&j->session);
    bool differ = rc == 0 && !j->result.stopped && verify_differences(&j->result) > 0;
    if (differ && arguments_have(j->arguments, OPTION_REPAIR)) {
        rc = verify_send(j, &err);
        if (rc < 0) {
            terminal_error(j->pipeline->name, &err);
        }
        code = rc < 0 ? err_exit_code((enum err_class)rc) : (enum exit_code)rc;
    }
    return (int)code;
}

static void verify_job_init(struct verify_job *j, const struct arguments *a,
                            const struct pipeline_config *p)
{
    j->arguments = a;
    j->pipeline = p;
    j->result = (struct verify_result){0};
    repairs_init(&j->repairs);
    progress_line_init(&j->progress, !arguments_have(a, OPTION_NO_PROGRESS));
    differences_init(&j->differences, arguments_have(a, OPTION_JSON), j->limit);
}

int command_verify(const struct arguments *a, struct err *err)
{
    struct setup setup = {0};
    int64_t limit = DIFFERENCES_SHOWN;
    int64_t sample = 0;
    enum exit_code worst = EXIT_DONE;
    int rc = verify_number_of(a, OPTION_LIMIT, &limit, err);
    if (rc == 0 && arguments_have(a, OPTION_ALLOW_DELETES) && !arguments_have(a, OPTION_REPAIR)) {
        rc = err_set(err, ERR_CONFIG, "option \"--allow-deletes\" needs \"--repair\"");
    }
    if (rc == 0) {
        rc = verify_number_of(a, OPTION_SAMPLE, &sample, err);
    }
    if (rc == 0) {
        rc = setup_load(&setup, a, err);
    }
    if (rc == 0) {
        rc = setup_secrets(&setup, err);
    }
    const volatile sig_atomic_t *stop = stop_watch();
    for (size_t i = 0; rc == 0 && i < setup.count && *stop == 0; i++) {
        struct verify_job job = {.limit = limit, .sample = sample};
        verify_job_init(&job, a, setup.pipelines[i]);
        worst =
            err_exit_code_worse(worst, (enum exit_code)verify_pipeline(&job, setup.config, stop));
        repairs_release(&job.repairs);
        progress_line_release(&job.progress);
        differences_release(&job.differences);
    }
    setup_release(&setup);
    return rc < 0 ? rc : (int)worst;
}
