/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that tells the hooks of a `run`: a hook that hangs delays nothing but other hooks. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rowferry/base/backoff.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/log.h"
#include "rowferry/base/text.h"
#include "rowferry/daemon/hooks.h"

#define LOOK_MS 1000
#define FAILED_BASE_MS 5000
#define FAILED_MAX_MS 60000

/* One pipeline, as the thread sees it. */
struct hooked {
    struct status_snapshot *snapshot;
    struct hook_facts trouble; /* the last one; it is told although it may be over meanwhile */
    struct hook_facts told;    /* all of them were told if `complete` */
    bool complete;
    int64_t told_us[HOOK_EVENTS];
    struct backoff backoff;
    int64_t next_us; /* time of the next try if something is left to tell */
};

static void hooks_thread_read(struct status_snapshot *snapshot, struct hook_facts *out)
{
    struct status_snapshot_view v;
    status_snapshot_look(snapshot, &v);
    const struct live_progress *w = &v.moment.work;
    *out = (struct hook_facts){.dead_letters = v.moment.dead_letters};
    bool guard = strcmp(w->stall, stall_name(STALL_GUARD)) == 0;
    bool stopped = strcmp(w->stall, stall_name(STALL_STOPPED)) == 0;
    out->guard_us = guard ? w->stall_us : 0;
    out->stopped =
        stopped || (v.over && v.exit_code != EXIT_DONE && v.exit_code != EXIT_HELD && !guard);
    out->works = !v.over && strcmp(v.stage, "following") == 0;
    snprintf(out->why, sizeof(out->why), "%s",
             guard || stopped ? w->stall_why
             : out->stopped   ? v.message
                              : "");
    snprintf(out->generation, sizeof(out->generation), "%s", v.moment.generation);
}

static bool hooks_thread_in_trouble(const struct hook_facts *f)
{
    return f->guard_us != 0 || f->stopped;
}

static bool hooks_thread_is_same(const struct hook_facts *a, const struct hook_facts *b)
{
    return a->guard_us == b->guard_us && a->stopped == b->stopped && a->works == b->works &&
           a->dead_letters == b->dead_letters && strcmp(a->why, b->why) == 0 &&
           strcmp(a->generation, b->generation) == 0;
}

static bool hooks_thread_tell(const struct hooks *h, struct hooked *p,
                              const struct hook_facts *facts)
{
    struct err err;
    struct state *state = NULL;
    const char *name = status_snapshot_name(p->snapshot);
    if (state_open(&state, h->config->state_path, name, &err) < 0) {
        log_err(LOG_WARN, "hook_failed", name, &err);
        return false;
    }
    const struct hooks_call call = {h->config, config_pipeline(h->config, name), state, p->told_us,
                                    h->stop_fd};
    bool complete = hooks_tell(&call, facts);
    state_close(state);
    return complete;
}

/* Tells the last trouble before what is now: a limit or a failed hook may have delayed it. */
static bool hooks_thread_tell_both(const struct hooks *h, struct hooked *p,
                                   const struct hook_facts *now)
{
    if (hooks_thread_in_trouble(&p->trouble) && !hooks_thread_tell(h, p, &p->trouble)) {
        return false;
    }
    p->trouble = (struct hook_facts){0};
    return hooks_thread_tell(h, p, now);
}

static void hooks_thread_look(const struct hooks *h, struct hooked *p)
{
    struct hook_facts facts;
    const struct clock clock = clock_system();
    int64_t now_us = clock_monotonic_us(&clock);
    hooks_thread_read(p->snapshot, &facts);
    p->trouble = hooks_thread_in_trouble(&facts) ? facts : p->trouble;
    if ((p->complete && hooks_thread_is_same(&facts, &p->told)) || now_us < p->next_us) {
        return;
    }
    p->complete = hooks_thread_tell_both(h, p, &facts);
    p->told = facts;
    p->next_us = 0;
    if (p->complete) {
        backoff_reset(&p->backoff);
    } else {
        p->next_us = now_us + 1000 * backoff_next_ms(&p->backoff, clock_random(&clock));
    }
}

static void *hooks_thread_work(void *context)
{
    const struct hooks *h = context;
    struct pollfd stop = {.fd = h->stop_fd, .events = POLLIN};
    while (poll(&stop, 1, LOOK_MS) == 0) {
        for (size_t i = 0; i < h->count; i++) {
            hooks_thread_look(h, &h->pipelines[i]);
        }
    }
    return NULL;
}

int hooks_start(struct hooks *h, const struct config *config, struct status_snapshot **snapshots,
                size_t count, struct err *err)
{
    *h = (struct hooks){.count = count, .stop_fd = -1};
    if (!hooks_any(config)) {
        return 0;
    }
    h->config = config;
    h->pipelines = mem_zero(count, sizeof(*h->pipelines));
    for (size_t i = 0; i < count; i++) {
        h->pipelines[i].snapshot = snapshots[i];
        backoff_init(&h->pipelines[i].backoff, FAILED_BASE_MS, FAILED_MAX_MS);
    }
    h->stop_fd = eventfd(0, EFD_CLOEXEC);
    int failed = h->stop_fd < 0 ? errno : pthread_create(&h->thread, NULL, hooks_thread_work, h);
    if (failed != 0) {
        h->config = NULL;
        return err_set(err, ERR_TRANSIENT, "could not start a thread: %s", strerror(failed));
    }
    return 0;
}

void hooks_stop(struct hooks *h)
{
    if (h->config != NULL) {
        (void)eventfd_write(h->stop_fd, 1);
        pthread_join(h->thread, NULL);
    }
    if (h->stop_fd > 0) {
        close(h->stop_fd);
    }
    free(h->pipelines);
    *h = (struct hooks){0};
}
