/* SPDX-License-Identifier: Apache-2.0 */
/* validate: sends representative rows through a temporary index, in eight steps. */
#include "rowferry/engine/validate/validate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output/newfile.h"
#include "output/progress_line.h"
#include "output/terminal.h"
#include "output/validation_report.h"
#include "rowferry/base/log.h"
#include "rowferry/base/stop.h"
#include "rowferry/daemon/session.h"
#include "rowferry/source/pg/pg.h"
#include "setup.h"

#define RESULT_BYTES ((size_t)4 << 20)
#define PAGE_BYTES ((size_t)64 << 20)
#define PLACE_BYTES 65536

struct validate_job {
    const struct arguments *arguments;
    const struct pipeline_config *pipeline;
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

static int validate_try_pipeline(struct validate_job *j, struct err *err)
{
    const struct pipeline_config *p = j->pipeline;
    const struct validate_config *c = &p->validate;
    struct source_options source;
    struct listing_options rows;
    int rc = session_open_service(&j->session, err);
    if (rc < 0) {
        return rc;
    }
    session_source_options(&j->session, &source);
    session_listing(&j->session, NULL, &rows);
    struct validate_options options = {
        .pipeline = p->name,
        .alias = p->to.index,
        .ingest_pipeline = p->to.ingest_pipeline,
        .routing = config_routing(p),
        .mapping = &j->session.mapping,
        .settings = p->to.settings,
        .fields = p->fields,
        .field_count = p->field_count,
        .batch_bytes = (size_t)p->limits.batch_bytes,
        .batch_operations = (size_t)p->limits.batch_operations,
        .document_bytes = (size_t)p->limits.document_bytes,
        .retry_budget_ms = p->limits.retry_budget_ms,
        .sample = (size_t)c->sample,
        .k = c->k,
        .min_ndcg = c->min_ndcg,
        .queries = c->queries,
        .query_count = c->query_count,
        .filter = (const char *const *)c->filter,
        .filter_count = c->filter_count,
        .sort = (const char *const *)c->sort,
        .sort_count = c->sort_count,
        .stop = j->stop,
        .stage = validate_on_stage,
        .context = j,
    };
    struct validate_ports ports = {j->session.service, &source, &rows, j->session.clock};
    return validate_run(&options, &ports, &j->report, err);
}

/* Records the result for the next sync. A trial that did not end judges nothing. If that fails, the
 * result is the same, and the definition counts as untried. */
static void validate_record(struct validate_job *j)
{
    struct err err;
    struct validation v = {.ended_us = clock_wall_us(&j->session.clock),
                           .passed = validate_worst(&j->report) != VALIDATE_FAIL};
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
    struct validation_report v = {.pipeline = j->pipeline->name,
                                  .subject = &subject,
                                  .report = &j->report,
                                  .code = rc < 0 ? err_exit_code((enum err_class)rc)
                                          : validate_worst(&j->report) == VALIDATE_FAIL
                                              ? EXIT_DIFFERENCES
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
    const volatile sig_atomic_t *stop = stop_watch();
    for (size_t i = 0; rc == 0 && i < setup.count && *stop == 0; i++) {
        struct validate_job job = {
            .arguments = a, .pipeline = setup.pipelines[i], .stop = stop, .sections = &sections};
        int code = validate_pipeline(&job, setup.config, err);
        rc = code < 0 ? code : 0;
        worst = code < 0 ? worst : err_exit_code_worse(worst, (enum exit_code)code);
    }
    if (rc == 0) {
        rc = validate_write_page(a, &sections, worst == EXIT_DONE, err);
    }
    buf_release(&sections);
    setup_release(&setup);
    return rc < 0 ? rc : (int)worst;
}
