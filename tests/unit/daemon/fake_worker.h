/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline worker over the engine's fake world (tests/unit/engine/fake.h): the caller's thread
 * runs it, with the fake's clock, so no wait takes time. The state file is a real one.
 *
 * Each wait that no order ends advances the clock and calls `waited`, where a test sends the next
 * order or request. `opened` may fail a round before it begins.
 */
#pragma once

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "rowferry/state/request.h"
#include "worker/pipeline_worker_private.h"
#include "workplace.h"

#define FAKE_WAITS 256

struct fake_worker {
    struct fake *fake;
    struct config config;
    struct pipeline_config pipeline;
    struct settings_reload settings;
    struct pipeline_worker worker;
    struct fake_table *table;
    int64_t waits[FAKE_WAITS]; /* ms; the last ones are left out */
    size_t wait_count;
    size_t rounds; /* that were opened */
    size_t steps;  /* calls of a port, of all rounds */
    struct events events;
    int (*opened)(struct fake_worker *w, struct err *err);
    void (*waited)(struct fake_worker *w, int64_t ms);
    void *context;

    struct lease_holder_options lease; /* null pipeline: not started */
    enum lease_holder_state lease_state;
    unsigned rested;    /* how often the lease was given up for a while */
    char attended[300]; /* the consumer that the lease keeps alive */
};

/* The lease of the only worker; the reason is "held on another host". */
struct lease_holder {
    struct fake_worker *owner;
};

static inline int fake_worker_open(void *context, struct session *s, struct pipeline_ports *out,
                                   struct err *err)
{
    struct fake_worker *w = context;
    w->rounds++;
    int rc = w->opened != NULL ? w->opened(w, err) : 0;
    return rc == 0 ? fake_open(w->fake, s->state, out, &w->table, err) : rc;
}

static inline void fake_worker_close(void *context, struct session *s)
{
    struct fake_worker *w = context;
    (void)s;
    fake_close(w->table);
    w->table = NULL;
}

static inline int fake_worker_wait(void *context, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct fake_worker *w = context;
    int ready = poll(fds, count, 0);
    if (ready == 0) {
        w->fake->now_us += (int64_t)timeout_ms * 1000;
        if (w->wait_count < FAKE_WAITS) {
            w->waits[w->wait_count++] = timeout_ms;
        }
        if (w->waited != NULL) {
            w->waited(w, timeout_ms);
        }
    }
    return ready;
}

static inline int fake_worker_lease_start(struct lease_holder **out,
                                          const struct lease_holder_options *options,
                                          struct err *err)
{
    static struct lease_holder holder;
    (void)err;
    holder.owner = ((struct pipeline_worker *)options->context)->ports.context;
    holder.owner->lease = *options;
    *out = &holder;
    return 0;
}

static inline enum lease_holder_state fake_worker_lease_look(struct lease_holder *k,
                                                             struct err *why)
{
    err_set(why, ERR_HELD, "held on another host");
    return k->owner->lease_state;
}

static inline void fake_worker_lease_attend(struct lease_holder *k, const char *consumer)
{
    snprintf(k->owner->attended, sizeof(k->owner->attended), "%s",
             consumer != NULL ? consumer : "");
}

static inline void fake_worker_lease_rest(struct lease_holder *k, bool rests)
{
    k->owner->rested += rests;
}

static inline void fake_worker_lease_stop(struct lease_holder *k)
{
    if (k != NULL) {
        k->owner->lease = (struct lease_holder_options){0};
    }
}

/* Changes the state of the lease and reports it, as the lease thread does. */
static inline void fake_worker_lease(struct fake_worker *w, enum lease_holder_state state)
{
    w->lease_state = state;
    w->lease.call(w->lease.context, state);
}

static inline void fake_worker_init(struct fake_worker *w, struct fake *f)
{
    static char name[] = "things";
    static char table[] = "public.things";
    static char key[] = "id";
    static char *keys[] = {key};
    static char mappings[] = "{\"properties\":{\"n\":{\"type\":\"long\"}}}";
    struct err err;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL); /* the worker signals changes of its stage */
    *w = (struct fake_worker){.fake = f, .lease_state = LEASE_HOLDER_HOLDS};
    w->pipeline = (struct pipeline_config){
        .name = name,
        .from = {.table = table,
                 .key = keys,
                 .key_count = 1,
                 .capture_mode = f->cursor ? CAPTURE_MODE_CURSOR : CAPTURE_MODE_CHANGELOG,
                 .reconcile_ms = f->reconcile_ms},
        .to = {.index = name, .mappings = mappings, .keep = f->keep},
        .limits = {.batch_bytes = 512,
                   .batch_operations = 5,
                   .in_flight = (int64_t)f->max_in_flight,
                   .readers = 1,
                   .window_bytes = FAKE_WINDOW_BYTES,
                   .document_bytes = 1 << 20,
                   .retry_budget_ms = 60000,
                   .poll_min_ms = 100,
                   .poll_max_ms = 1000},
        .delete_guard = {.share = f->guard_share, .count = f->guard_count}};
    w->config =
        (struct config){.state_path = f->path, .pipelines = &w->pipeline, .pipeline_count = 1};
    settings_reload_init(&w->settings, &w->config);
    ck_assert_int_eq(pipeline_worker_init(&w->worker, PIPELINE_WORKER_ENDS_IF_HELD, name, "run",
                                          &w->settings, &err),
                     0);
    w->worker.ports = (struct pipeline_worker_ports){.clock = fake_clock(f),
                                                     .open = fake_worker_open,
                                                     .close = fake_worker_close,
                                                     .wait = fake_worker_wait,
                                                     .lease_start = fake_worker_lease_start,
                                                     .lease_look = fake_worker_lease_look,
                                                     .lease_attend = fake_worker_lease_attend,
                                                     .lease_rest = fake_worker_lease_rest,
                                                     .lease_stop = fake_worker_lease_stop,
                                                     .context = w};
}

/* Makes changes of w->pipeline the settings of the next round, as a reload does. */
static inline void fake_worker_reload(struct fake_worker *w)
{
    settings_reload_release(&w->settings); /* the reading of the worker stays */
    settings_reload_init(&w->settings, &w->config);
}

static inline void fake_worker_release(struct fake_worker *w)
{
    pipeline_worker_release(&w->worker);
    settings_reload_release(&w->settings);
}

/* Runs the worker to its end and returns its exit code. */
static inline enum exit_code fake_worker_run(struct fake_worker *w)
{
    pipeline_worker_run(&w->worker);
    ck_assert_str_eq(pipeline_worker_stage(&w->worker), "ended");
    return w->worker.outcome.exit_code;
}

static inline void fake_worker_stop(struct fake_worker *w)
{
    pipeline_worker_send_order(&w->worker, PIPELINE_WORKER_STOP);
}

/* Files a request as another command does. Returns its id. */
static inline int64_t fake_worker_ask(struct fake_worker *w, const char *command,
                                      const char *arguments)
{
    struct err err;
    struct state *state = NULL;
    int64_t id = 0;
    ck_assert_int_eq(state_open(&state, w->fake->path, "things", &err), 0);
    ck_assert_int_eq(request_file(state, command, arguments, w->fake->now_us, &id, &err), 0);
    state_close(state);
    return id;
}

/* Expects this state of a request, and this text in its reply. */
static inline void fake_worker_expect(struct fake_worker *w, int64_t id,
                                      enum request_state expected, const char *part)
{
    struct err err;
    struct state *state = NULL;
    struct buf answer;
    enum request_state got;
    buf_init(&answer, 65536);
    ck_assert_int_eq(state_open(&state, w->fake->path, "things", &err), 0);
    ck_assert_int_eq(request_look(state, id, &got, &answer, &err), 0);
    ck_assert_int_eq(got, expected);
    ck_assert_msg(strstr(buf_text(&answer), part) != NULL, "%s is not in %s", part,
                  buf_text(&answer));
    state_close(state);
    buf_release(&answer);
}

/* Begins a test with a table of that many rows. Also collects the events of the log. */
static inline void fake_worker_begin(struct fake_worker *w, struct fake *f, size_t rows)
{
    fake_init(f, rows);
    fake_worker_init(w, f);
    events_watch(&w->events);
}

static inline void fake_worker_end(struct fake_worker *w)
{
    log_watch(NULL);
    fake_worker_release(w);
    fake_release(w->fake);
}

/* Returns how often an event was logged. */
static inline size_t fake_worker_logged(const struct fake_worker *w, const char *event)
{
    char word[64];
    size_t count = 0;
    snprintf(word, sizeof(word), " %s ", event);
    for (const char *at = strstr(w->events.names, word); at != NULL; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}
