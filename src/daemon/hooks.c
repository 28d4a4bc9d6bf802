/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what hooks are told, and tells it. */
#include "rowferry/daemon/hooks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rowferry/base/child.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/log.h"
#include "rowferry/document/json/record.h"
#include "rowferry/service/http/post.h"

#define AGAIN_US INT64_C(60000000)
#define COMMAND_MS 30000
#define URL_MS 5000 /* a stop waits for it */
#define OBJECT_BYTES ((size_t)64 * 1024)

static const char *const names[HOOK_EVENTS] = {
    [HOOK_GUARD] = "guard",     [HOOK_STOPPED] = "stopped", [HOOK_DEAD_LETTERS] = "dead_letters",
    [HOOK_REBUILT] = "rebuilt", [HOOK_HEALED] = "healed",
};

/* --- what is due ------------------------------------------------------------------------------ */

/* Writes the mark of the error; empty if none stops the pipeline. */
static void hooks_mark_stopped(const struct hook_facts *facts, char out[17])
{
    out[0] = '\0';
    if (facts->stopped) {
        snprintf(out, 17, "%016" PRIx64, text_hash(facts->why, strlen(facts->why)));
    }
}

static bool hooks_differ(const struct hook_marks *marks, const struct hook_facts *facts,
                         enum hook_event event)
{
    char stopped[17];
    hooks_mark_stopped(facts, stopped);
    switch (event) {
    case HOOK_GUARD:
        return facts->guard_us != 0 && facts->guard_us != marks->guard_us;
    case HOOK_STOPPED:
        return facts->stopped && strcmp(stopped, marks->stopped) != 0;
    case HOOK_DEAD_LETTERS:
        return facts->dead_letters > marks->dead_letters;
    case HOOK_REBUILT:
        return marks->generation[0] != '\0' && facts->generation[0] != '\0' &&
               strcmp(facts->generation, marks->generation) != 0;
    case HOOK_HEALED:
        return marks->troubled && facts->works && facts->guard_us == 0 && !facts->stopped;
    case HOOK_EVENTS:
        break;
    }
    return false;
}

enum hook_event hooks_due(const struct hook_marks *marks, const struct hook_facts *facts,
                          const int64_t *told_us, int64_t now_us)
{
    enum hook_event event = 0;
    while (event < HOOK_EVENTS &&
           (!hooks_differ(marks, facts, event) ||
            (told_us != NULL && told_us[event] != 0 && now_us - told_us[event] < AGAIN_US))) {
        event++;
    }
    return event;
}

/* What needs no telling: fewer dead letters, the first index, an end of what was never told. */
static void hooks_follow(struct hook_marks *marks, const struct hook_facts *facts)
{
    if (facts->dead_letters >= 0 && facts->dead_letters < marks->dead_letters) {
        marks->dead_letters = facts->dead_letters;
    }
    if (marks->generation[0] == '\0') {
        snprintf(marks->generation, sizeof(marks->generation), "%s", facts->generation);
    }
    if (!marks->troubled && !facts->stopped) {
        marks->stopped[0] = '\0';
    }
}

bool hooks_settle(struct hook_marks *marks, const struct hook_facts *facts, enum hook_event event)
{
    const struct hook_marks before = *marks;
    switch (event) {
    case HOOK_GUARD:
        marks->guard_us = facts->guard_us;
        marks->troubled = true;
        break;
    case HOOK_STOPPED:
        hooks_mark_stopped(facts, marks->stopped);
        marks->troubled = true;
        break;
    case HOOK_DEAD_LETTERS:
        marks->dead_letters = facts->dead_letters;
        break;
    case HOOK_REBUILT:
        snprintf(marks->generation, sizeof(marks->generation), "%s", facts->generation);
        break;
    case HOOK_HEALED:
        marks->troubled = false;
        marks->stopped[0] = '\0';
        break;
    case HOOK_EVENTS:
        hooks_follow(marks, facts);
        break;
    }
    return before.guard_us != marks->guard_us || before.dead_letters != marks->dead_letters ||
           before.troubled != marks->troubled || strcmp(before.stopped, marks->stopped) != 0 ||
           strcmp(before.generation, marks->generation) != 0;
}

/* --- telling ---------------------------------------------------------------------------------- */

void hooks_push(struct buf *out, enum hook_event event, const struct pipeline_config *pipeline,
                const struct hook_facts *facts, int64_t wall_us)
{
    char when[CLOCK_ISO_BYTES];
    bool trouble = event == HOOK_GUARD || event == HOOK_STOPPED;
    record_open(out);
    record_text(out, "event", names[event]);
    record_text(out, "pipeline", pipeline->name);
    record_text(out, "index", pipeline->to.index);
    record_text(out, "generation", facts->generation[0] != '\0' ? facts->generation : NULL);
    record_text(out, "at", clock_iso(when, wall_us, 3));
    record_text(out, "message", trouble ? facts->why : NULL);
    if (facts->dead_letters >= 0) {
        record_int(out, "dead_letters", facts->dead_letters);
    }
    record_close(out);
    buf_push_char(out, '\n');
}

static int hooks_run_command(const char *command, struct span object, int stop_fd, struct err *err)
{
    int status = 0;
    int cause = child_run(command, object, COMMAND_MS, stop_fd, NULL, &status);
    if (cause == ETIMEDOUT) {
        return err_set(err, ERR_TRANSIENT, "its command did not end within %d s",
                       COMMAND_MS / 1000);
    }
    if (cause != 0) {
        return err_set(err, ERR_TRANSIENT, "its command: %s", strerror(cause));
    }
    return status == 0 ? 0 : err_set(err, ERR_TRANSIENT, "its command ended with %d", status);
}

/* Without a hook for the event there is nothing to tell. */
static int hooks_tell_one(const struct hooks_call *c, const struct hook_facts *facts,
                          enum hook_event event, struct err *err)
{
    int rc = 0;
    struct buf object;
    const struct clock clock = clock_system();
    const struct hook_config *hook = &c->config->on[event];
    if (hook->command == NULL && hook->url == NULL) {
        return 0;
    }
    buf_init(&object, OBJECT_BYTES);
    hooks_push(&object, event, c->pipeline, facts, clock_wall_us(&clock));
    struct span text = span_make(buf_text(&object), object.len);
    rc = hook->command != NULL ? hooks_run_command(hook->command, text, c->stop_fd, err)
                               : post_json(hook->url, text, URL_MS, err);
    if (rc == 0) {
        log_event(LOG_INFO, "hook_told", F_TEXT("pipeline", c->pipeline->name),
                  F_TEXT("hook", names[event]));
    }
    buf_release(&object);
    return rc < 0 ? err_context(err, "hook \"on.%s\"", names[event]) : 0;
}

/* A trouble that may have been told is kept first: its end is told even after a kill. */
static int hooks_expect_trouble(const struct hooks_call *c, enum hook_event event,
                                struct hook_marks *marks, struct err *err)
{
    if ((event != HOOK_GUARD && event != HOOK_STOPPED) || marks->troubled) {
        return 0;
    }
    marks->troubled = true;
    return hook_marks_write(c->state, marks, err);
}

static int hooks_tell_due(const struct hooks_call *c, const struct hook_facts *facts,
                          struct hook_marks *marks, struct err *err)
{
    const struct clock clock = clock_system();
    for (;;) {
        int64_t now_us = clock_monotonic_us(&clock);
        enum hook_event event = hooks_due(marks, facts, c->told_us, now_us);
        int rc = hooks_expect_trouble(c, event, marks, err);
        rc = rc == 0 && event < HOOK_EVENTS ? hooks_tell_one(c, facts, event, err) : rc;
        if (rc == 0 && event < HOOK_EVENTS && c->told_us != NULL) {
            c->told_us[event] = now_us;
        }
        if (rc == 0 && hooks_settle(marks, facts, event)) {
            rc = hook_marks_write(c->state, marks, err);
        }
        if (rc < 0 || event == HOOK_EVENTS) {
            return rc;
        }
    }
}

bool hooks_tell(const struct hooks_call *c, const struct hook_facts *facts)
{
    bool known;
    struct err err;
    struct hook_marks marks = {0};
    if (!hooks_any(c->config)) {
        return true;
    }
    int rc = hook_marks_read(c->state, &marks, &known, &err);
    rc = rc == 0 ? hooks_tell_due(c, facts, &marks, &err) : rc;
    if (rc < 0) {
        log_err(LOG_WARN, "hook_failed", c->pipeline->name, &err);
    }
    return rc == 0 && hooks_due(&marks, facts, NULL, 0) == HOOK_EVENTS;
}

bool hooks_any(const struct config *config)
{
    bool any = false;
    for (size_t i = 0; i < HOOK_EVENTS; i++) {
        any = any || config->on[i].command != NULL || config->on[i].url != NULL;
    }
    return any;
}
