/* SPDX-License-Identifier: Apache-2.0 */
/* pause, resume: stop writing a pipeline, or start again, even if another process holds it. */
#include "rowferry/state/pause.h"

#include <string.h>

#include "client/holder_client.h"
#include "output/terminal.h"
#include "rowferry/base/stop.h"
#include "rowferry/document/json/json_tree.h"
#include "rowferry/document/json/record.h"
#include "rowferry/engine/pipeline/requests.h"
#include "setup.h"

#define RESULT_BYTES ((size_t)64 * 1024)

struct pause_job {
    struct session session;
    const char *request; /* REQUEST_PAUSE, REQUEST_RESUME */
    const volatile sig_atomic_t *stop;
    int64_t since_us; /* begin of the pause; 0 if there was none */
    bool changed;
    bool again; /* the holder tries a stopped pipeline again */
};

static bool pause_pauses(const struct pause_job *j)
{
    return strcmp(j->request, REQUEST_PAUSE) == 0;
}

/* --- without a holder ------------------------------------------------------------------------- */

static int pause_do_it(struct pause_job *j, struct err *err)
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

static int pause_take(void *context, const struct holder_reply *reply, struct err *err)
{
    struct pause_job *j = context;
    (void)err;
    j->since_us = holder_reply_number(reply, "since_us");
    j->changed = json_object_get_boolean(json_tree_member(reply->answer, "changed"));
    j->again = json_object_get_boolean(json_tree_member(reply->answer, "again"));
    return 0;
}

/* Waits for the reply. If the holder ends before that, does it here. */
static int pause_ask(struct pause_job *j, struct err *err)
{
    struct holder_client client = {.session = &j->session,
                                   .request = j->request,
                                   .stop = j->stop,
                                   .take = pause_take,
                                   .context = j};
    int rc = holder_client_file(&client, "", err);
    rc = rc == 0 ? holder_client_follow(&client, err) : rc;
    bool answered = client.answered > 0;
    holder_client_release(&client);
    if (rc == 0 && client.stopped) {
        return err_set(err, ERR_TRANSIENT, "interrupted; the request was withdrawn");
    }
    return rc < 0 || answered ? rc : pause_do_it(j, err);
}

/* --- reporting -------------------------------------------------------------------------------- */

static void pause_push_text(struct buf *out, const struct pause_job *j)
{
    char iso[CLOCK_ISO_BYTES];
    const char *name = j->session.pipeline->name;
    if (pause_pauses(j)) {
        buf_printf(out, "%s: %s since %s\n", name, j->changed ? "paused" : "was paused already",
                   clock_iso(iso, j->since_us, 0));
    } else if (j->changed) {
        buf_printf(out, "%s: resumed, was paused since %s\n", name, clock_iso(iso, j->since_us, 0));
    } else if (j->again) {
        buf_printf(out, "%s: is tried again now\n", name);
    } else {
        buf_printf(out, "%s: was not paused\n", name);
    }
}

static void pause_push_json(struct buf *out, const struct pause_job *j)
{
    record_open(out);
    record_text(out, "pipeline", j->session.pipeline->name);
    record_bool(out, "paused", pause_pauses(j));
    record_bool(out, "changed", j->changed);
    record_bool(out, "again", !pause_pauses(j) && !j->changed && j->again);
    record_time(out, "since", j->since_us);
    record_close(out);
    buf_push_char(out, '\n');
}

static int pause_report(const struct pause_job *j, const struct arguments *a, struct err *err)
{
    struct buf out;
    buf_init(&out, RESULT_BYTES);
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

static int pause_job_run(struct pause_job *j, const struct setup *setup, size_t i,
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
    int rc = setup_load(&setup, a, err);
    for (size_t i = 0; rc == 0 && i < setup.count; i++) {
        struct err why;
        struct pause_job job = {.request = request, .stop = stop_watch()};
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
