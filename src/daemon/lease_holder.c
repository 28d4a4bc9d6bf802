/* SPDX-License-Identifier: Apache-2.0 */
/* The lease keeper: takes the leases, renews them, detects their loss and takes them again. */
#include "rowferry/daemon/lease_holder.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rowferry/base/backoff.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"
#include "rowferry/service/http/product.h"
#include "rowferry/source/pg/lease.h"

#define AGAIN_BASE_MS 200
#define AGAIN_MAX_MS 5000
#define ANSWER_MS 4000 /* server timeout, because a stop waits for an answer that long */
#define TRIES 15       /* the server may detect the end of the previous holder with a delay */
#define TRY_MS 200
#define WHO_TRIES 15
#define STANDBY_MS 1500 /* between two tries, plus a random part */
#define STANDBY_SPREAD_MS 1000
#define NAME_BYTES ((size_t)4096)

struct lease_holder {
    struct lease_holder_options options;
    struct lease_holder *next; /* changed by the keeper's thread alone */

    /* Protected by the keeper's lock: */
    enum lease_holder_state state;
    struct err why;
    char *attended; /* consumer to keep alive; owned; null if none */
    bool rests;
    bool leaves;
    bool left;

    /* Owned by the keeper's thread: */
    struct buf name; /* empty before the first try */
    bool waits;      /* the server shows that it waits */
    unsigned tries;
    int64_t due_us; /* monotonic time of the next try */
};

struct lease_keeper {
    struct settings_reload *settings;
    pthread_t thread;
    int wake_fd;

    pthread_mutex_t lock; /* Protected by the lock: */
    pthread_cond_t left;
    struct lease_holder *added; /* not yet known to the thread */
    bool stop;

    /* Owned by the thread: */
    struct lease_holder *holders;
    struct clock clock;
    struct backoff backoff;
    struct lease *lease; /* null: not connected */
    struct buf cluster;  /* name of the search cluster; empty if not known yet */
    int64_t beat_us;     /* monotonic time of the next heartbeat */
};

static void lease_keeper_wake(struct lease_keeper *k)
{
    (void)eventfd_write(k->wake_fd, 1);
}

static int64_t lease_keeper_after(const struct lease_keeper *k, int64_t ms)
{
    return clock_monotonic_us(&k->clock) + ms * 1000;
}

static void lease_holder_enter(struct lease_holder *h, enum lease_holder_state state,
                               const struct err *why)
{
    pthread_mutex_lock(&h->options.keeper->lock);
    bool news = h->state != state;
    h->state = state;
    if (why != NULL) {
        h->why = *why;
    }
    pthread_mutex_unlock(&h->options.keeper->lock);
    if (news) {
        h->options.call(h->options.context, state);
    }
}

static bool lease_keeper_may_rest(struct lease_keeper *k)
{
    bool rests = true;
    pthread_mutex_lock(&k->lock);
    for (const struct lease_holder *h = k->holders; h != NULL; h = h->next) {
        rests = rests && h->rests;
    }
    pthread_mutex_unlock(&k->lock);
    return rests;
}

/* Waits for `ms`; -1: without end. Returns early if the thread is woken. Returns true if the server
 * has ended the session. */
static bool lease_keeper_sleep(struct lease_keeper *k, int64_t ms)
{
    struct pollfd fds[] = {{.fd = k->wake_fd, .events = POLLIN},
                           {.fd = k->lease != NULL ? lease_fd(k->lease) : -1, .events = POLLIN}};
    eventfd_t ignored;
    (void)poll(fds, 2, (int)ms);
    (void)eventfd_read(k->wake_fd, &ignored);
    return fds[1].revents != 0;
}

/* Ends the session; each lease is then UNSURE, or ASKING if it was given up on purpose. */
static void lease_keeper_lose(struct lease_keeper *k, enum lease_holder_state state,
                              const struct err *why)
{
    lease_close(k->lease);
    k->lease = NULL;
    for (struct lease_holder *h = k->holders; h != NULL; h = h->next) {
        h->waits = false;
        h->due_us = 0;
        h->tries = 0;
        lease_holder_enter(h, state, why);
    }
}

/* --- opening ---------------------------------------------------------------------------------- */

/* A lease's name contains the cluster: the same pipeline on two services (a trial and production)
 * has two leases. */
static int lease_keeper_name_cluster(struct lease_keeper *k, const struct config *config,
                                     const struct pipeline_config *pipeline, struct err *err)
{
    struct service_options options;
    struct service *service = NULL;
    struct product_info info = {0};
    config_service_options(config, pipeline, &options);
    options.request_timeout_ms = ANSWER_MS;
    int rc = http_service_open(&service, &options, err);
    if (rc == 0) {
        rc = product_detect(service, &info, err);
    }
    http_service_close(service);
    if (rc == 0) {
        buf_push_text(&k->cluster, info.cluster[0] != '\0' ? info.cluster : options.urls[0]);
    }
    return rc;
}

static int lease_keeper_open(struct lease_keeper *k, struct err *err)
{
    struct source_options options;
    struct reading *reading = settings_reload_take(k->settings);
    const struct config *config = &reading->config;
    int rc = k->cluster.len == 0
                 ? lease_keeper_name_cluster(
                       k, config, config_pipeline(config, k->holders->options.pipeline), err)
                 : 0;
    if (rc == 0) {
        config_source_options(config, "rowferry run", &options);
        options.connect_timeout_ms = ANSWER_MS;
        options.silence_ms = ANSWER_MS;
        rc = lease_open(&k->lease, &options, err);
    }
    settings_reload_drop(k->settings, reading);
    return rc;
}

/* A pipeline may be added while the session is open. */
static const char *lease_holder_name(struct lease_holder *h)
{
    struct lease_keeper *k = h->options.keeper;
    if (h->name.len == 0) {
        const char *name = h->options.pipeline;
        struct reading *reading = settings_reload_take(k->settings);
        buf_printf(&h->name, "%s of %s at %s", name,
                   config_pipeline(&reading->config, name)->to.index, buf_text(&k->cluster));
        settings_reload_drop(k->settings, reading);
    }
    return buf_text(&h->name);
}

/* --- taking ----------------------------------------------------------------------------------- */

/* Lets `status` show that it waits for the lease. */
static int lease_holder_show_waiting(struct lease_holder *h, bool waits, struct err *err)
{
    if (h->waits == waits) {
        return 0;
    }
    h->waits = waits;
    return lease_show_waiting(h->options.keeper->lease, h->options.pipeline, waits, err);
}

/* Finding out who holds the lease costs the server more than a try, so it is done rarely. */
static int lease_holder_find_other(struct lease_holder *h, struct err *err)
{
    struct lease_keeper *k = h->options.keeper;
    if (h->state == LEASE_HOLDER_ASKING && h->tries++ < TRIES) {
        h->due_us = lease_keeper_after(k, TRY_MS);
        return 0;
    }
    if (h->state != LEASE_HOLDER_TAKEN || h->tries++ % WHO_TRIES == 0) {
        int rc = lease_who(k->lease, lease_holder_name(h), err);
        if (rc != ERR_HELD) {
            return rc;
        }
        lease_holder_enter(h, LEASE_HOLDER_TAKEN, err);
        rc = lease_holder_show_waiting(h, true, err);
        if (rc < 0) {
            return rc;
        }
    }
    h->due_us =
        lease_keeper_after(k, STANDBY_MS + (int64_t)(clock_random(&k->clock) % STANDBY_SPREAD_MS));
    return 0;
}

static int lease_holder_try(struct lease_holder *h, struct err *err)
{
    struct lease_keeper *k = h->options.keeper;
    bool got = false;
    int rc = lease_try(k->lease, lease_holder_name(h), &got, err);
    if (rc == 0 && !got) {
        return lease_holder_find_other(h, err);
    }
    rc = rc == 0 ? lease_holder_show_waiting(h, false, err) : rc;
    if (rc == 0) {
        backoff_reset(&k->backoff);
        lease_holder_enter(h, LEASE_HOLDER_HOLDS, NULL);
    }
    return rc;
}

/* Returns the pipeline without a lease whose try is due next; null if all have theirs. */
static struct lease_holder *lease_keeper_next(const struct lease_keeper *k)
{
    struct lease_holder *next = NULL;
    for (struct lease_holder *h = k->holders; h != NULL; h = h->next) {
        if (h->state != LEASE_HOLDER_HOLDS && (next == NULL || h->due_us < next->due_us)) {
            next = h;
        }
    }
    return next;
}

/* --- keeping ---------------------------------------------------------------------------------- */

/* Returns a copy, which the caller frees; null if no consumer is to be kept. */
static char *lease_holder_attended(struct lease_holder *h)
{
    pthread_mutex_lock(&h->options.keeper->lock);
    char *attended = h->attended != NULL ? text_copy(h->attended) : NULL;
    pthread_mutex_unlock(&h->options.keeper->lock);
    return attended;
}

static int lease_keeper_beat(struct lease_keeper *k, struct err *err)
{
    int rc = lease_beat(k->lease, err);
    for (struct lease_holder *h = k->holders; rc == 0 && h != NULL; h = h->next) {
        char *attended = h->state == LEASE_HOLDER_HOLDS ? lease_holder_attended(h) : NULL;
        rc = attended != NULL ? lease_attend(k->lease, attended, err) : 0;
        free(attended);
    }
    k->beat_us = lease_keeper_after(k, LEASE_BEAT_MS);
    return rc;
}

/* One step with an open session: whatever is due, or the wait for it. */
static int lease_keeper_step(struct lease_keeper *k, struct err *err)
{
    struct lease_holder *next = lease_keeper_next(k);
    int64_t now_us = clock_monotonic_us(&k->clock);
    int64_t until_us = next != NULL && next->due_us < k->beat_us ? next->due_us : k->beat_us;
    if (until_us > now_us && !lease_keeper_sleep(k, (until_us - now_us) / 1000 + 1)) {
        return 0;
    }
    return until_us <= now_us && until_us < k->beat_us ? lease_holder_try(next, err)
                                                       : lease_keeper_beat(k, err);
}

static void lease_keeper_turn(struct lease_keeper *k)
{
    struct err err;
    int rc = k->lease == NULL ? lease_keeper_open(k, &err) : 0;
    rc = rc == 0 ? lease_keeper_step(k, &err) : rc;
    if (rc < 0) { /* a server may accept the connection and still refuse a lock */
        bool held = lease_keeper_next(k) == NULL;
        lease_keeper_lose(k, LEASE_HOLDER_UNSURE, &err);
        if (!held) {
            (void)lease_keeper_sleep(k, backoff_next_ms(&k->backoff, clock_random(&k->clock)));
        }
    }
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Takes the pipelines that were added. Returns one that leaves, no longer in the list; or null. */
static struct lease_holder *lease_keeper_gather(struct lease_keeper *k, bool *stop)
{
    struct lease_holder *leaver = NULL;
    pthread_mutex_lock(&k->lock);
    *stop = k->stop;
    for (struct lease_holder *h = k->added; h != NULL; h = k->added) {
        k->added = h->next;
        h->next = k->holders;
        k->holders = h;
    }
    for (struct lease_holder **at = &k->holders; leaver == NULL && *at != NULL;) {
        if ((*at)->leaves) {
            leaver = *at;
            *at = leaver->next;
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&k->lock);
    return leaver;
}

static void lease_keeper_let_go(struct lease_keeper *k, struct lease_holder *h)
{
    struct err err;
    int rc = 0;
    if (k->lease != NULL && h->state == LEASE_HOLDER_HOLDS) {
        rc = lease_release(k->lease, lease_holder_name(h), &err);
    } else if (k->lease != NULL) {
        rc = lease_holder_show_waiting(h, false, &err);
    }
    if (rc < 0) {
        lease_keeper_lose(k, LEASE_HOLDER_UNSURE, &err);
    }
    pthread_mutex_lock(&k->lock);
    h->left = true;
    pthread_cond_broadcast(&k->left);
    pthread_mutex_unlock(&k->lock);
}

static void *lease_keeper_run(void *argument)
{
    struct lease_keeper *k = argument;
    bool stop = false;
    while (!stop) {
        struct lease_holder *leaver = lease_keeper_gather(k, &stop);
        if (leaver != NULL) {
            lease_keeper_let_go(k, leaver);
        } else if (!lease_keeper_may_rest(k)) {
            lease_keeper_turn(k);
        } else if (!stop) { /* none has a lease, or wants one now */
            lease_keeper_lose(k, LEASE_HOLDER_ASKING, NULL);
            (void)lease_keeper_sleep(k, -1);
        }
    }
    lease_close(k->lease);
    return NULL;
}

static void lease_keeper_free(struct lease_keeper *k)
{
    if (k->wake_fd >= 0) {
        close(k->wake_fd);
    }
    buf_release(&k->cluster);
    pthread_cond_destroy(&k->left);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

int lease_keeper_start(struct lease_keeper **out, struct settings_reload *settings, struct err *err)
{
    struct lease_keeper *k = mem_zero(1, sizeof(*k));
    *k = (struct lease_keeper){.settings = settings, .clock = clock_system()};
    *out = NULL;
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->left, NULL);
    backoff_init(&k->backoff, AGAIN_BASE_MS, AGAIN_MAX_MS);
    buf_init(&k->cluster, NAME_BYTES);
    k->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int failed = k->wake_fd < 0 ? errno : pthread_create(&k->thread, NULL, lease_keeper_run, k);
    if (failed != 0) {
        lease_keeper_free(k);
        return err_set(err, ERR_TRANSIENT, "could not start a thread: %s", strerror(failed));
    }
    *out = k;
    return 0;
}

void lease_keeper_stop(struct lease_keeper *k)
{
    if (k == NULL) {
        return;
    }
    pthread_mutex_lock(&k->lock);
    k->stop = true;
    pthread_mutex_unlock(&k->lock);
    lease_keeper_wake(k);
    pthread_join(k->thread, NULL);
    lease_keeper_free(k);
}

/* --- one pipeline ----------------------------------------------------------------------------- */

int lease_holder_start(struct lease_holder **out, const struct lease_holder_options *options,
                       struct err *err)
{
    struct lease_holder *h = mem_zero(1, sizeof(*h));
    struct lease_keeper *k = options->keeper;
    (void)err;
    *h = (struct lease_holder){.options = *options};
    buf_init(&h->name, NAME_BYTES);
    pthread_mutex_lock(&k->lock);
    h->next = k->added;
    k->added = h;
    pthread_mutex_unlock(&k->lock);
    lease_keeper_wake(k);
    *out = h;
    return 0;
}

void lease_holder_stop(struct lease_holder *h)
{
    if (h == NULL) {
        return;
    }
    struct lease_keeper *k = h->options.keeper;
    pthread_mutex_lock(&k->lock);
    h->leaves = true;
    lease_keeper_wake(k);
    while (!h->left) {
        pthread_cond_wait(&k->left, &k->lock);
    }
    pthread_mutex_unlock(&k->lock);
    buf_release(&h->name);
    free(h->attended);
    free(h);
}

enum lease_holder_state lease_holder_look(struct lease_holder *h, struct err *why)
{
    pthread_mutex_lock(&h->options.keeper->lock);
    enum lease_holder_state state = h->state;
    if (why != NULL) {
        *why = h->why;
    }
    pthread_mutex_unlock(&h->options.keeper->lock);
    return state;
}

void lease_holder_rest(struct lease_holder *h, bool rests)
{
    pthread_mutex_lock(&h->options.keeper->lock);
    h->rests = rests;
    pthread_mutex_unlock(&h->options.keeper->lock);
    lease_keeper_wake(h->options.keeper);
}

void lease_holder_attend(struct lease_holder *h, const char *consumer)
{
    pthread_mutex_lock(&h->options.keeper->lock);
    free(h->attended);
    h->attended = consumer != NULL ? text_copy(consumer) : NULL;
    pthread_mutex_unlock(&h->options.keeper->lock);
}
