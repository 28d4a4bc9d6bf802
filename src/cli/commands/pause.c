/* SPDX-License-Identifier: Apache-2.0 */
/* pause, resume: stop writing a pipeline, or start again, even if another process holds it. */
#include "rowferry/state/pause.h"
#include "rowferry/document/json/json_tree.h"

#include <json-c/json.h>
#include <string.h>

#include "arguments.h"
#include "output/refusal.h"
#include "output/terminal.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/log.h"
#include "rowferry/base/stop.h"
#include "rowferry/daemon/session.h"
#include "rowferry/document/json/record.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/request.h"
#include "setup.h"

#define LOOK_MS 100
#define HOLD_US INT64_C(1000000)
#define ANSWER_BYTES ((size_t)64 * 1024)

struct job {
    struct session session;
    const char *request; /* REQUEST_PAUSE, REQUEST_RESUME */
    const volatile sig_atomic_t *stop;
    int64_t id;
    int64_t since_us; /* begin of the pause; 0 if there was none */
    bool changed;
};

static bool pause_pauses(const struct job *j)
{
    return strcmp(j->request, REQUEST_PAUSE) == 0;
}

/* --- without a holder ------------------------------------------------------------------------- */

static int pause_do_it(struct job *j, struct err *err)
{
    struct state *state = j->session.state;
    int64_t now_us = clock_wall_us(&j->session.clock);
    int rc = pause_read(state, &j->since_us, err);
    j->changed = rc == 0 && pause_pauses(j) == (j->since_us == 0);
    if (rc == 0 && j->changed && pause_pauses(j)) {
        j->since_us = now_us;
        rc = pause_begin(state, now_us, err);
    } else if (rc == 0 && j->changed) {
        rc = pause_end(state, err);
    }
    return rc;
}

/* --- by the holder ---------------------------------------------------------------------------- */

static int pause_read_answer(struct job *j, enum request_state state, const char *text,
                             struct err *err)
{
    struct json_object *answer = json_tree_of(text);
    int rc = state == REQUEST_FAILED ? refusal_read(answer, "the request failed", err) : 1;
    j->since_us = json_object_get_int64(json_tree_member(answer, "since_us"));
    j->changed = json_object_get_boolean(json_tree_member(answer, "changed"));
    json_object_put(answer);
    return rc;
}

/* Returns 1 if there is a reply. */
static int pause_look_answer(struct job *j, struct err *err)
{
    enum request_state state = REQUEST_FILED;
    struct buf text;
    buf_init(&text, ANSWER_BYTES);
    int rc = request_look(j->session.state, j->id, &state, &text, err);
    if (rc == 0 && (state == REQUEST_DONE || state == REQUEST_FAILED)) {
        rc = pause_read_answer(j, state, buf_text(&text), err);
    }
    buf_release(&text);
    return rc;
}

/* Waits for the reply. The holder may end before that. */
static int pause_follow(struct job *j, struct err *err)
{
    int64_t hold_us = clock_monotonic_us(&j->session.clock) + HOLD_US;
    for (;;) {
        int rc = pause_look_answer(j, err);
        if (rc != 0) {
            return rc < 0 ? rc : 0;
        }
        if (*j->stop != 0) {
            rc = refusal_withdraw(&j->session, j->id, err);
            return rc < 0 ? rc : err_set(err, ERR_TRANSIENT, "interrupted; nothing was asked for");
        }
        if (clock_monotonic_us(&j->session.clock) >= hold_us) {
            hold_us += HOLD_US;
            rc = session_hold(&j->session, err);
            if (rc == 0) {
                rc = pause_look_answer(j, err);
                rc = rc == 0 ? refusal_withdraw(&j->session, j->id, err) : rc;
                return rc < 0 ? rc : pause_do_it(j, err);
            }
            if (rc != ERR_HELD) {
                return rc;
            }
        }
        clock_sleep(LOOK_MS, j->stop);
    }
}

static int pause_ask(struct job *j, struct err *err)
{
    log_event(LOG_INFO, "request_filed", F_TEXT("pipeline", j->session.pipeline->name),
              F_TEXT("command", j->request), F_TEXT("message", err->message));
    int rc = request_file(j->session.state, j->request, "", clock_wall_us(&j->session.clock),
                          &j->id, err);
    return rc == 0 ? pause_follow(j, err) : rc;
}

/* --- reporting -------------------------------------------------------------------------------- */

static void pause_push_text(struct buf *out, const struct job *j)
{
    char iso[CLOCK_ISO_BYTES];
    const char *name = j->session.pipeline->name;
    if (pause_pauses(j)) {
        buf_printf(out, "%s: %s since %s\n", name, j->changed ? "paused" : "was paused already",
                   clock_iso(iso, j->since_us, 0));
    } else if (j->changed) {
        buf_printf(out, "%s: resumed, was paused since %s\n", name, clock_iso(iso, j->since_us, 0));
    } else {
        buf_printf(out, "%s: was not paused\n", name);
    }
}

static void pause_push_json(struct buf *out, const struct job *j)
{
    record_open(out);
    record_text(out, "pipeline", j->session.pipeline->name);
    record_bool(out, "paused", pause_pauses(j));
    record_bool(out, "changed", j->changed);
    record_time(out, "since", j->since_us);
    record_close(out);
    buf_push_char(out, '\n');
}

static int pause_report(const struct job *j, const struct arguments *a, struct err *err)
{
    struct buf out;
    buf_init(&out, ANSWER_BYTES);
    if (arguments_have(a, OPTION_JSON)) {
        pause_push_json(&out, j);
    } else {
        pause_push_text(&out, j);
    }
    int rc = terminal_result(&out, err);
    buf_release(&out);
    return rc;
}

/* --- the command ------------------------------------------------------------------------------ */

static int pause_job_run(struct job *j, const struct setup *setup, size_t i,
                         const struct arguments *a, struct err *err)
{
    int rc = session_init(&j->session, setup->config, setup->pipelines[i], j->request, err);
    if (rc == 0) {
        rc = session_open_state(&j->session, err);
    }
    if (rc == 0) {
        rc = session_hold(&j->session, err);
        rc = rc == 0 ? pause_do_it(j, err) : rc == ERR_HELD ? pause_ask(j, err) : rc;
    }
    if (rc == 0) {
        rc = pause_report(j, a, err);
    }
    session_release(&j->session);
    return rc;
}

static int pause_run(const struct arguments *a, const char *request, struct err *err)
{
    struct setup setup;
    enum exit_code worst = EXIT_DONE;
    int rc = setup_load(&setup, a, a->operands, a->operand_count, err);
    for (size_t i = 0; rc == 0 && i < setup.count; i++) {
        struct err why;
        struct job job = {.request = request, .stop = stop_watch()};
        int failed = pause_job_run(&job, &setup, i, a, &why);
        if (failed < 0) {
            terminal_error(setup.pipelines[i]->name, &why);
            worst = err_exit_code_worse(worst, err_exit_code((enum err_class)failed));
        }
    }
    setup_release(&setup);
    return rc < 0 ? rc : (int)worst;
}

int command_pause(const struct arguments *a, struct err *err)
{
    return pause_run(a, REQUEST_PAUSE, err);
}

int command_resume(const struct arguments *a, struct err *err)
{
    return pause_run(a, REQUEST_RESUME, err);
}
