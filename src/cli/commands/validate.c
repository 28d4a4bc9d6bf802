/* SPDX-License-Identifier: Apache-2.0 */
/* validate: sends representative rows through a temporary index, step by step. */
#include "rowferry/engine/validate/validate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output/newfile.h"
#include "output/progress_line.h"
#include "output/terminal.h"
#include "output/validation_report.h"
#include "rowferry/base/file.h"
#include "rowferry/base/log.h"
#include "rowferry/base/stop.h"
#include "rowferry/daemon/session.h"
#include "rowferry/source/pg/pg.h"
#include "setup.h"

#define RESULT_BYTES ((size_t)4 << 20)
#define PAGE_BYTES ((size_t)64 << 20)
#define PLACE_BYTES 65536
#define PIPE_TIMEOUT_MS 10000

struct validate_job {
    const struct arguments *arguments;
    const struct pipeline_config *pipeline;
    const struct config *other; /* of --against; null: none */
    const volatile sig_atomic_t *stop;
    struct session session;
    struct validate_report report;
    struct progress_line progress;
    struct buf *sections; /* sections of the page */
};

static void validate_on_stage(void *context, const char *words)
{
    struct validate_job *j = context;
    struct buf text;
    buf_init(&text, 1024);
    buf_printf(&text, "validating, %s", words);
    progress_line_show(&j->progress, j->pipeline->name, buf_text(&text));
    buf_release(&text);
}

/* Fills what is of the definition. */
static struct validate_options validate_define(const struct pipeline_config *p,
                                               const struct mapping *mapping)
{
    return (struct validate_options){.pipeline = p->name,
                                     .alias = p->to.index,
                                     .ingest_pipeline = p->to.ingest_pipeline,
                                     .routing = config_routing(p),
                                     .mapping = mapping,
                                     .settings = p->to.settings,
                                     .fields = p->fields,
                                     .field_count = p->field_count,
                                     .batch_bytes = (size_t)p->limits.batch_bytes,
                                     .batch_operations = (size_t)p->limits.batch_operations,
                                     .document_bytes = (size_t)p->limits.document_bytes,
                                     .retry_budget_ms = p->limits.retry_budget_ms};
}

/* Reads the searches of the application; leaves *out empty if there are none. */
static int validate_read_log(const char *path, struct querylog *out, struct err *err)
{
    struct buf text;
    int rc = 0;
    *out = (struct querylog){0};
    if (path == NULL) {
        return 0;
    }
    buf_init(&text, QUERYLOG_BYTES);
    const char *reason = file_read(path, PIPE_TIMEOUT_MS, &text, NULL);
    if (reason != NULL || text.failed) {
        rc =
            err_set(err, ERR_CONFIG, "cannot read the file \"%s\" of \"validate.queries_file\": %s",
                    path, reason != NULL ? reason : "it is larger than 64 MiB");
    } else {
        rc = querylog_read(out, path, span_make(text.data, text.len), err);
    }
    buf_release(&text);
    return rc;
}

static int validate_run_trial(struct validate_job *j, const struct validate_against *against,
                              struct err *err)
{
    const struct validate_config *c = &j->pipeline->validate;
    struct source_options source;
    struct listing_options rows;
    struct querylog log;
    int rc = validate_read_log(c->queries_file, &log, err);
    rc = rc == 0 ? session_open_service(&j->session, err) : rc;
    if (rc < 0) {
        querylog_release(&log);
        return rc;
    }
    session_source_options(&j->session, &source);
    session_listing(&j->session, NULL, &rows);
    struct validate_options options = validate_define(j->pipeline, &j->session.mapping);
    options.sample = (size_t)c->sample;
    options.k = c->k;
    options.min_ndcg = c->min_ndcg;
    options.queries = c->queries;
    options.query_count = c->query_count;
    options.filter = (const char *const *)c->filter;
    options.filter_count = c->filter_count;
    options.sort = (const char *const *)c->sort;
    options.sort_count = c->sort_count;
    options.log = c->queries_file != NULL ? &log : NULL;
    options.log_file = c->queries_file;
    options.against = against;
    options.stop = j->stop;
    options.stage = validate_on_stage;
    options.context = j;
    struct validate_ports ports = {j->session.service, &source, &rows, j->session.clock};
    rc = validate_run(&options, &ports, &j->report, err);
    querylog_release(&log);
    return rc;
}

/* The trial needs the same rows for both definitions. */
static int validate_find_other(const struct validate_job *j, const struct pipeline_config **out,
                               struct err *err)
{
    const char *file = j->arguments->values[OPTION_AGAINST];
    const struct pipeline_config *p = config_pipeline(j->other, j->pipeline->name);
    *out = p;
    if (p == NULL) {
        return err_set(err, ERR_CONFIG, "option \"--against\": %s has no pipeline \"%s\"", file,
                       j->pipeline->name);
    }
    bool same = strcmp(p->from.table, j->pipeline->from.table) == 0 &&
                p->from.key_count == j->pipeline->from.key_count;
    for (size_t i = 0; same && i < p->from.key_count; i++) {
        same = strcmp(p->from.key[i], j->pipeline->from.key[i]) == 0;
    }
    return same ? 0
                : err_set(
                      err, ERR_CONFIG,
                      "option \"--against\": the pipeline \"%s\" of %s has another from.table or "
                      "from.key",
                      j->pipeline->name, file);
}

static int validate_try_pipeline(struct validate_job *j, struct err *err)
{
    const struct pipeline_config *p = NULL;
    struct session other;
    struct listing_options rows;
    if (j->other == NULL) {
        return validate_run_trial(j, NULL, err);
    }
    int rc = validate_find_other(j, &p, err);
    if (rc < 0) {
        return rc;
    }
    rc = session_init(&other, j->other, p, "validate", err);
    if (rc == 0) {
        const struct validate_options options = validate_define(p, &other.mapping);
        session_listing(&other, NULL, &rows);
        const struct validate_against against = {j->arguments->values[OPTION_AGAINST], &options,
                                                 &rows};
        rc = validate_run_trial(j, &against, err);
    }
    session_release(&other);
    return rc;
}

/* Records the result for the next sync. A trial that did not end judges nothing. If that fails, the
 * result is the same, and the definition counts as untried. */
static void validate_record(struct validate_job *j)
{
    struct err err;
    struct validation v = {.ended_us = clock_wall_us(&j->session.clock),
                           .passed = validate_worst(&j->report, VALIDATE_AGAINST) != VALIDATE_FAIL};
    session_hash_definition(j->pipeline, v.definition);
    int rc = session_open_state(&j->session, &err);
    rc = rc == 0 ? validation_write(j->session.state, &v, &err) : rc;
    if (rc < 0) {
        log_err(LOG_WARN, "not_recorded", j->pipeline->name, &err);
    }
}

static int validate_print(struct validate_job *j, const struct validation_report *v,
                          struct err *err)
{
    struct buf out;
    buf_init(&out, RESULT_BYTES);
    if (arguments_have(j->arguments, OPTION_JSON)) {
        validation_report_push_json(&out, v);
    } else if (validation_report_tried(v)) {
        validation_report_push_text(&out, v, terminal_colours(STDOUT_FILENO));
    }
    if (arguments_have(j->arguments, OPTION_HTML)) {
        validation_report_push_section(j->sections, v);
    }
    int rc = terminal_result(&out, err);
    buf_release(&out);
    return rc;
}

/* Returns the exit code, or an error if the result cannot be written. */
static int validate_pipeline(struct validate_job *j, const struct config *config, struct err *err)
{
    struct err why = {0};
    struct buf source;
    struct buf service;
    buf_init(&source, PLACE_BYTES);
    buf_init(&service, PLACE_BYTES);
    pg_place(config->source.uri, &source);
    config_push_service_place(&config->service, &service);
    validate_report_init(&j->report);
    progress_line_init(&j->progress, !arguments_have(j->arguments, OPTION_NO_PROGRESS));
    int rc = session_init(&j->session, config, j->pipeline, "validate", &why);
    int64_t began_us = clock_monotonic_us(&j->session.clock);
    rc = rc == 0 ? validate_try_pipeline(j, &why) : rc;
    if (rc == 0) {
        validate_record(j);
    }
    progress_line_end(&j->progress, j->pipeline->name);
    const struct validation_subject subject = {.table = j->pipeline->from.table,
                                               .query = j->pipeline->from.query != NULL,
                                               .source = buf_text(&source),
                                               .alias = j->pipeline->to.index,
                                               .service = buf_text(&service)};
    struct validation_report v = {
        .pipeline = j->pipeline->name,
        .subject = &subject,
        .report = &j->report,
        .code = rc < 0 ? err_exit_code((enum err_class)rc)
                : validate_worst(&j->report, VALIDATE_STEPS) == VALIDATE_FAIL ? EXIT_DIFFERENCES
                                                                              : EXIT_DONE,
        .err = rc < 0 ? &why : NULL,
        .took_us = clock_monotonic_us(&j->session.clock) - began_us,
        .wall_us = clock_wall_us(&j->session.clock)};
    if (rc < 0) {
        terminal_error(j->pipeline->name, &why);
    }
    rc = validate_print(j, &v, err);
    validate_report_release(&j->report);
    buf_release(&source);
    buf_release(&service);
    progress_line_release(&j->progress);
    session_release(&j->session);
    return rc < 0 ? rc : (int)v.code;
}

/* --- the page --------------------------------------------------------------------------------- */

static int validate_of_page(int rc, struct err *err)
{
    return rc < 0 ? err_context(err, "option \"--html\"") : 0;
}

static int validate_write_page(const struct arguments *a, const struct buf *sections, bool good,
                               struct err *err)
{
    struct buf page;
    const char *path = a->values[OPTION_HTML];
    if (path == NULL) {
        return 0;
    }
    const struct clock clock = clock_system();
    buf_init(&page, PAGE_BYTES);
    validation_report_push_page(&page, sections, good, clock_random(&clock));
    int rc = newfile_save(path, true, &page, err);
    buf_release(&page);
    return validate_of_page(rc, err);
}

int command_validate(const struct arguments *a, struct err *err)
{
    struct setup setup = {0};
    struct config *other = NULL;
    struct buf sections;
    enum exit_code worst = EXIT_DONE;
    buf_init(&sections, PAGE_BYTES);
    int rc = setup_load(&setup, a, err);
    if (rc == 0 && a->values[OPTION_HTML] != NULL) { /* before minutes of work */
        rc = validate_of_page(newfile_check(a->values[OPTION_HTML], true, err), err);
    }
    if (rc == 0) {
        rc = setup_secrets(&setup, err);
    }
    if (rc == 0 && a->values[OPTION_AGAINST] != NULL) {
        rc = config_load(&other, a->values[OPTION_AGAINST], err);
    }
    const volatile sig_atomic_t *stop = stop_watch();
    for (size_t i = 0; rc == 0 && i < setup.count && *stop == 0; i++) {
        struct validate_job job = {.arguments = a,
                                   .pipeline = setup.pipelines[i],
                                   .other = other,
                                   .stop = stop,
                                   .sections = &sections};
        int code = validate_pipeline(&job, setup.config, err);
        rc = code < 0 ? code : 0;
        worst = code < 0 ? worst : err_exit_code_worse(worst, (enum exit_code)code);
    }
    if (rc == 0) {
        rc = validate_write_page(a, &sections, worst == EXIT_DONE, err);
    }
    buf_release(&sections);
    config_free(other);
    setup_release(&setup);
    return rc < 0 ? rc : (int)worst;
}
