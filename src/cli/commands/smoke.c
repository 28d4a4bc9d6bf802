/* SPDX-License-Identifier: Apache-2.0 */
/* smoke: sends one document through a temporary index, to check that the service indexes, finds and
 * deletes it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/terminal.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/stop.h"
#include "rowferry/base/units.h"
#include "rowferry/daemon/session.h"
#include "rowferry/document/json/record.h"
#include "rowferry/service/trial/leftovers.h"
#include "rowferry/service/trial/smoke.h"
#include "setup.h"

#define RESULT_BYTES ((size_t)1 << 20)
#define REMOVE_TRIES 10
#define REMOVE_PAUSE_MS 2000

struct smoke_trial {
    struct session session;
    struct smoke smoke;
    const struct arguments *arguments;
    struct buf out; /* lines for people, or the steps of the JSON object */
    bool json;
    int64_t began_us; /* start of the step */
    size_t steps;
    enum exit_code code; /* the worst so far */
};

/* --- reporting -------------------------------------------------------------------------------- */

static void smoke_report_step(struct smoke_trial *t, const char *name, const char *text, int rc,
                              const struct err *err)
{
    int64_t ms = (clock_monotonic_us(&t->session.clock) - t->began_us + 500) / 1000;
    if (t->json) {
        buf_push_text(&t->out, t->steps > 0 ? "," : "");
        record_open(&t->out);
        record_text(&t->out, "step", name);
        record_bool(&t->out, "ok", rc == 0);
        record_int(&t->out, "milliseconds", ms);
        record_text(&t->out, "text", rc == 0 ? text : err->message);
        record_text(&t->out, "remedy", rc == 0 || err->hint[0] == '\0' ? NULL : err->hint);
        record_close(&t->out);
    } else {
        terminal_push(&t->out, terminal_colours(STDOUT_FILENO), rc == 0 ? COLOUR_GREEN : COLOUR_RED,
                      rc == 0 ? "PASS" : "FAIL");
        buf_printf(&t->out, "  %-7s %6" PRId64 " ms  %s\n", name, ms,
                   rc == 0 ? text : err->message);
        if (rc < 0 && err->hint[0] != '\0') {
            buf_printf(&t->out, "      -> %s\n", err->hint);
        }
    }
    t->steps++;
}

static void smoke_begin_step(struct smoke_trial *t)
{
    t->began_us = clock_monotonic_us(&t->session.clock);
}

/* Ends a step: adds its line, worsens the exit code if it failed, and prints the details to
 * stderr. */
static int smoke_end_step(struct smoke_trial *t, const char *name, const char *text, int rc,
                          const struct err *err)
{
    smoke_report_step(t, name, text, rc, err);
    if (rc < 0) {
        t->code = err_exit_code_worse(t->code, err_exit_code((enum err_class)rc));
        if (err->detail[0] != '\0') {
            terminal_error(t->session.pipeline->name, err);
        }
    }
    return rc;
}

/* --- steps ------------------------------------------------------------------------------------ */

static int smoke_create_index(struct smoke_trial *t)
{
    struct err err = {0};
    smoke_begin_step(t);
    int rc = smoke_create(t->session.service, &t->smoke, &err);
    return smoke_end_step(
        t, "create", t->smoke.implicit ? "the name is free" : "with a mapping of its three fields",
        rc, &err);
}

static int smoke_index_one(struct smoke_trial *t)
{
    struct err err = {0};
    char text[SMOKE_ID_BYTES + 64];
    smoke_begin_step(t);
    int rc = smoke_index(t->session.service, &t->smoke, clock_wall_us(&t->session.clock), &err);
    snprintf(text, sizeof(text), "%s, searchable by refresh=wait_for; _id %s",
             t->smoke.updated ? "updated" : "created", t->smoke.id);
    return smoke_end_step(t, "index", text, rc, &err);
}

static int smoke_search_document(struct smoke_trial *t)
{
    struct err err = {0};
    char text[SMOKE_TOKEN_BYTES + 64];
    smoke_begin_step(t);
    int rc = smoke_search(t->session.service, &t->smoke, &err);
    snprintf(text, sizeof(text), "q=message:%s finds it", t->smoke.token);
    return smoke_end_step(t, "search", text, rc, &err);
}

/* Removes the index. Retries, so that a short outage of the service does not leave it behind. */
static void smoke_drop(struct smoke_trial *t)
{
    struct err err = {0};
    smoke_begin_step(t);
    if (t->smoke.state == SMOKE_ABSENT) {
        return;
    }
    int rc = smoke_remove(t->session.service, &t->smoke, &err);
    for (int i = 1; rc == ERR_TRANSIENT && i < REMOVE_TRIES; i++) {
        clock_sleep(REMOVE_PAUSE_MS, NULL);
        rc = smoke_remove(t->session.service, &t->smoke, &err);
    }
    if (rc < 0 && err.hint[0] == '\0') {
        err_hint(&err, "the index \"%s\" may be left: remove it with DELETE /%s", t->smoke.index,
                 t->smoke.index);
    }
    (void)smoke_end_step(t, "delete", "the index is gone", rc, &err);
}

static void smoke_run_steps(struct smoke_trial *t, const volatile sig_atomic_t *stop)
{
    int (*const steps[])(struct smoke_trial *) = {smoke_create_index, smoke_index_one,
                                                  smoke_search_document};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (*stop != 0) {
            t->code = err_exit_code_worse(t->code, EXIT_TEMPORARY);
            break;
        }
        rc = steps[i](t);
    }
    smoke_drop(t);
}

/* --- what killed trials left ------------------------------------------------------------------ */

static void smoke_report_deleted(struct smoke_trial *t, const struct leftover *l)
{
    char age[UNITS_BYTES];
    if (t->json) {
        buf_push_text(&t->out, t->steps > 0 ? "," : "");
        text_json(&t->out, l->index, strlen(l->index));
    } else {
        buf_printf(&t->out, "%s: deleted %s, %s old\n", t->session.pipeline->name, l->index,
                   units_duration(age, l->age_s * 1000));
    }
    t->steps++;
}

static int smoke_delete_leftovers(struct smoke_trial *t, struct err *err)
{
    struct service *service = t->session.service;
    const struct pipeline_config *p = t->session.pipeline;
    struct leftover *list = mem_zero(LEFTOVERS_MOST, sizeof(*list));
    size_t count;
    int rc = leftovers_list(service, p->to.index, p->name, clock_wall_us(&t->session.clock), list,
                            &count, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = leftovers_remove(service, &list[i], err);
        if (rc == 0) {
            smoke_report_deleted(t, &list[i]);
        }
    }
    free(list);
    return rc;
}

/* Reports what was deleted also after an error. */
static int smoke_clean_pipeline(struct smoke_trial *t, const struct config *config,
                                const struct pipeline_config *pipeline, struct err *err)
{
    struct buf whole;
    struct err unwritten;
    int rc = session_init(&t->session, config, pipeline, "smoke", err);
    if (rc == 0) {
        rc = session_open_service(&t->session, err);
    }
    if (rc == 0) {
        rc = smoke_delete_leftovers(t, err);
    }
    buf_init(&whole, 2 * RESULT_BYTES);
    if (t->json) {
        record_open(&whole);
        record_text(&whole, "pipeline", pipeline->name);
        record_name(&whole, "deleted");
        buf_printf(&whole, "[%s]", buf_text(&t->out));
        record_close(&whole);
        buf_push_char(&whole, '\n');
    } else if (rc == 0 && t->steps == 0) {
        buf_printf(&whole, "%s: nothing is left\n", pipeline->name);
    } else {
        buf_push_text(&whole, buf_text(&t->out));
    }
    int written = terminal_result(&whole, &unwritten);
    if (rc == 0 && written < 0) {
        *err = unwritten;
        rc = written;
    }
    buf_release(&whole);
    return rc < 0 ? err_context(err, "pipeline \"%s\"", pipeline->name) : 0;
}

/* --- the command ------------------------------------------------------------------------------ */

static int smoke_name_index(struct smoke_trial *t, struct err *err)
{
    const char *given = t->arguments->values[OPTION_INDEX];
    uint64_t random = clock_random(&t->session.clock);
    const char *alias = t->session.pipeline->to.index;
    snprintf(t->smoke.token, sizeof(t->smoke.token), "smoke%016" PRIx64, random);
    int len = given != NULL ? snprintf(t->smoke.index, sizeof(t->smoke.index), "%s", given)
                            : snprintf(t->smoke.index, sizeof(t->smoke.index),
                                       "%s-smoke-%08" PRIx64, alias, random >> 32);
    if (len < 0 || (size_t)len >= sizeof(t->smoke.index)) {
        return err_set(err, ERR_CONFIG,
                       "the name \"%s%s\" is longer than an index's may be (255 bytes)",
                       given != NULL ? given : alias, given != NULL ? "" : "-smoke-...");
    }
    return 0;
}

static int smoke_open_trial(struct smoke_trial *t, const struct config *config,
                            const struct pipeline_config *pipeline, struct err *err)
{
    struct product_info product = {0};
    int rc = session_init(&t->session, config, pipeline, "smoke", err);
    if (rc == 0) {
        rc = smoke_name_index(t, err);
    }
    if (rc == 0) {
        rc = session_open_service(&t->session, err);
    }
    if (rc == 0) {
        rc = product_detect(t->session.service, &product, err);
    }
    t->smoke.product = product.product;
    if (rc == 0 && !t->json) {
        buf_printf(&t->out, "%s: %s%s%s%s, index %s\n", pipeline->name,
                   product_name(product.product), product.version[0] != '\0' ? " " : "",
                   product.version, product.stand_in ? " (devsearch, a stand-in)" : "",
                   t->smoke.index);
    }
    return rc;
}

static void smoke_push_end(struct smoke_trial *t, struct buf *whole)
{
    const char *steps = buf_text(&t->out);
    if (!t->json) {
        buf_push_text(whole, steps);
        return;
    }
    record_open(whole);
    record_text(whole, "pipeline", t->session.pipeline->name);
    record_text(whole, "index", t->smoke.index);
    record_name(whole, "steps");
    buf_printf(whole, "[%s]", steps);
    record_bool(whole, "ok", t->code == EXIT_DONE);
    record_int(whole, "exit_code", t->code);
    record_close(whole);
    buf_push_char(whole, '\n');
}

static int smoke_try_pipeline(struct smoke_trial *t, const struct config *config,
                              const struct pipeline_config *pipeline,
                              const volatile sig_atomic_t *stop, struct err *err)
{
    struct buf whole;
    int rc = smoke_open_trial(t, config, pipeline, err);
    if (rc < 0) {
        return err_context(err, "pipeline \"%s\"", pipeline->name);
    }
    buf_init(&whole, 2 * RESULT_BYTES);
    smoke_run_steps(t, stop);
    smoke_push_end(t, &whole);
    rc = terminal_result(&whole, err);
    buf_release(&whole);
    return rc < 0 ? rc : (int)t->code;
}

static int smoke_do(const struct arguments *a, const struct config *config,
                    const struct pipeline_config *pipeline, const volatile sig_atomic_t *stop,
                    struct err *err)
{
    struct smoke_trial t = {
        .arguments = a, .json = arguments_have(a, OPTION_JSON), .code = EXIT_DONE};
    t.smoke.implicit = arguments_have(a, OPTION_IMPLICIT);
    buf_init(&t.out, RESULT_BYTES);
    int rc = arguments_have(a, OPTION_CLEAN) ? smoke_clean_pipeline(&t, config, pipeline, err)
                                             : smoke_try_pipeline(&t, config, pipeline, stop, err);
    buf_release(&t.out);
    session_release(&t.session);
    return rc;
}

static int smoke_check_options(const struct arguments *a, const struct setup *setup,
                               struct err *err)
{
    bool names = arguments_have(a, OPTION_INDEX);
    if (arguments_have(a, OPTION_CLEAN) && (names || arguments_have(a, OPTION_IMPLICIT))) {
        return err_set(err, ERR_CONFIG, "option \"--clean\" makes no index, so \"%s\" has no use",
                       names ? "--index" : "--implicit");
    }
    if (names && setup->count > 1) {
        return err_set(err, ERR_CONFIG,
                       "option \"--index\" names one index, and there are %zu pipelines: name one",
                       setup->count);
    }
    return 0;
}

int command_smoke(const struct arguments *a, struct err *err)
{
    struct setup setup = {0};
    enum exit_code worst = EXIT_DONE;
    int rc = setup_load(&setup, a, err);
    rc = rc == 0 ? smoke_check_options(a, &setup, err) : rc;
    if (rc == 0) {
        rc = setup_secrets(&setup, err);
    }
    const volatile sig_atomic_t *stop = stop_watch();
    for (size_t i = 0; rc == 0 && i < setup.count && *stop == 0; i++) {
        int code = smoke_do(a, setup.config, setup.pipelines[i], stop, err);
        rc = code < 0 ? code : 0;
        worst = code < 0 ? worst : err_exit_code_worse(worst, (enum exit_code)code);
    }
    if (rc == 0 && *stop != 0 && worst != EXIT_FAILED) {
        rc = err_set(err, ERR_TRANSIENT, "interrupted before the last step");
    }
    setup_release(&setup);
    return rc < 0 ? rc : (int)worst;
}
