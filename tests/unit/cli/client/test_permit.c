/* SPDX-License-Identifier: Apache-2.0 */
/* Who is asked to try again, and who is not. */
#include "client/permit.h"

#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/request.h"
#include "workplace.h"

/* Returns true if a request to try again was filed, and takes it. */
static bool was_asked(struct state *s)
{
    struct err err;
    struct buf command;
    struct buf arguments;
    int64_t id;
    buf_init(&command, 64);
    buf_init(&arguments, 64);
    OK(request_take(s, 0, &id, &command, &arguments, &err));
    bool asked = id != 0 && strcmp(buf_text(&command), REQUEST_TRY_AGAIN) == 0;
    buf_release(&command);
    buf_release(&arguments);
    return asked;
}

static void show(struct state *s, const char *stage)
{
    struct err err;
    struct live_progress work = {.told_us = 1};
    snprintf(work.stage, sizeof(work.stage), "%s", stage);
    OK(live_progress_write(s, &work, &err));
}

START_TEST(only_a_holder_that_is_stopped_is_asked_to_try_again)
{
    struct workplace w = workplace_make("", "");
    const struct pipeline_config *pipeline = &w.config->pipelines[0];
    struct state *s = NULL;
    struct err err;
    permit_try_again(w.config, pipeline);
    ck_assert_int_ne(access(w.config->state_path, F_OK), 0); /* no state file is made */
    OK(state_open(&s, w.config->state_path, pipeline->name, &err));
    permit_try_again(w.config, pipeline);
    ck_assert(!was_asked(s));
    show(s, "settling");
    permit_try_again(w.config, pipeline);
    ck_assert(!was_asked(s));
    show(s, "stopped");
    permit_try_again(w.config, pipeline);
    ck_assert(was_asked(s));
    state_close(s);
    workplace_remove(&w);
}
END_TEST

SUITE_MAIN("cli/permit", only_a_holder_that_is_stopped_is_asked_to_try_again)
