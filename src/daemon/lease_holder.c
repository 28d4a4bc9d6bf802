/* SPDX-License-Identifier: Apache-2.0 */
/* The lease thread: takes the lease, renews it, detects its loss and takes it again. */
#include "rowferry/daemon/lease_holder.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
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
    pthread_t thread;
    int wake_fd;

    pthread_mutex_t lock; /* Protected by the lock: */
    enum lease_holder_state state;
    struct err why;
    char *attended; /* consumer to keep alive; owned; null if none */
    bool stop;

    /* Owned by the thread: */
    struct clock clock;
    struct backoff backoff;
    struct lease *lease;
    struct buf name; /* name of the lease; empty if not known yet */
    bool holds;
    unsigned tries;
};

static bool lease_holder_stopping(struct lease_holder *k)
{
    pthread_mutex_lock(&k->lock);
    bool stop = k->stop;
    pthread_mutex_unlock(&k->lock);
    return stop;
}

static void lease_holder_enter(struct lease_holder *k, enum lease_holder_state state,
                               const struct err *why)
{
    pthread_mutex_lock(&k->lock);
    bool news = k->state != state;
    k->state = state;
    if (why != NULL) {
        k->why = *why;
    }
    pthread_mutex_unlock(&k->lock);
    if (news) {
        k->options.call(k->options.context, state);
    }
}

/* Waits for `ms`. Returns early if the thread is woken or the server ends the session. */
static void lease_holder_rest(struct lease_holder *k, int64_t ms)
{
    struct pollfd fds[] = {{.fd = k->wake_fd, .events = POLLIN},
                           {.fd = k->lease != NULL ? lease_fd(k->lease) : -1, .events = POLLIN}};
    eventfd_t ignored;
    (void)poll(fds, 2, (int)ms);
    (void)eventfd_read(k->wake_fd, &ignored);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* The name contains the cluster: the same pipeline on two services (a trial and production) has
 * two leases. */
static int lease_holder_name_it(struct lease_holder *k, const struct config *config,
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
        buf_printf(&k->name, "%s of %s at %s", pipeline->name, pipeline->to.index,
                   info.cluster[0] != '\0' ? info.cluster : options.urls[0]);
    }
    return rc;
}

static int lease_holder_open_hold(struct lease_holder *k, struct err *err)
{
    struct buf shown;
    struct source_options options;
    struct reading *reading = settings_reload_take(k->options.settings);
    const struct config *config = &reading->config;
    const struct pipeline_config *pipeline = config_pipeline(config, k->options.pipeline);
    buf_init(&shown, NAME_BYTES);
    buf_printf(&shown, "rowferry standby %s", k->options.pipeline);
    int rc = k->name.len == 0 ? lease_holder_name_it(k, config, pipeline, err) : 0;
    if (rc == 0) {
        config_source_options(config, buf_text(&shown), &options);
        options.connect_timeout_ms = ANSWER_MS;
        options.silence_ms = ANSWER_MS;
        rc = lease_open(&k->lease, &options, err);
    }
    settings_reload_drop(k->options.settings, reading);
    buf_release(&shown);
    return rc;
}

static void lease_holder_rest_longer(struct lease_holder *k)
{
    lease_holder_rest(k, backoff_next_ms(&k->backoff, clock_random(&k->clock)));
}

static void lease_holder_lose(struct lease_holder *k, const struct err *why)
{
    lease_close(k->lease);
    k->lease = NULL;
    k->holds = false;
    lease_holder_enter(k, LEASE_HOLDER_UNSURE, why);
}

/* --- the thread ------------------------------------------------------------------------------- */

static int lease_holder_begin_holding(struct lease_holder *k, struct err *err)
{
    struct buf shown;
    buf_init(&shown, NAME_BYTES);
    buf_printf(&shown, "rowferry %s %s", k->options.command, k->options.pipeline);
    int rc = lease_show_as(k->lease, buf_text(&shown), err);
    buf_release(&shown);
    if (rc == 0) {
        k->holds = true;
        backoff_reset(&k->backoff);
        lease_holder_enter(k, LEASE_HOLDER_HOLDS, NULL);
    }
    return rc;
}

/* Finding out who holds the lease costs the server more than a try, so it is done rarely. */
static int lease_holder_find_other(struct lease_holder *k, struct err *err)
{
    if (k->state == LEASE_HOLDER_ASKING && k->tries++ < TRIES) {
        lease_holder_rest(k, TRY_MS);
        return 0;
    }
    if (k->state != LEASE_HOLDER_TAKEN || k->tries++ % WHO_TRIES == 0) {
        int rc = lease_who(k->lease, buf_text(&k->name), err);
        if (rc != ERR_HELD) {
            return rc;
        }
        lease_holder_enter(k, LEASE_HOLDER_TAKEN, err);
    }
    lease_holder_rest(k, STANDBY_MS + (int64_t)(clock_random(&k->clock) % STANDBY_SPREAD_MS));
    return 0;
}

static void lease_holder_try_it(struct lease_holder *k)
{
    struct err err;
    bool got = false;
    int rc = lease_try(k->lease, buf_text(&k->name), &got, &err);
    if (rc == 0) {
        rc = got ? lease_holder_begin_holding(k, &err) : lease_holder_find_other(k, &err);
    }
    if (rc < 0) { /* a server may accept the connection and still refuse this */
        lease_holder_lose(k, &err);
        lease_holder_rest_longer(k);
    }
}

static int lease_holder_beat(struct lease_holder *k, struct err *err)
{
    pthread_mutex_lock(&k->lock);
    char *attended = k->attended != NULL ? text_copy(k->attended) : NULL;
    pthread_mutex_unlock(&k->lock);
    int rc = attended != NULL ? lease_attend(k->lease, attended, err) : lease_beat(k->lease, err);
    free(attended);
    return rc;
}

static void lease_holder_turn(struct lease_holder *k)
{
    struct err err;
    if (k->lease == NULL && lease_holder_open_hold(k, &err) < 0) {
        lease_holder_enter(k, LEASE_HOLDER_UNSURE, &err);
        lease_holder_rest_longer(k);
    } else if (!k->holds) {
        lease_holder_try_it(k);
    } else {
        lease_holder_rest(k, LEASE_BEAT_MS);
        if (lease_holder_beat(k, &err) < 0) {
            lease_holder_lose(k, &err);
        }
    }
}

static void *lease_holder_run(void *argument)
{
    struct lease_holder *k = argument;
    while (!lease_holder_stopping(k)) {
        lease_holder_turn(k);
    }
    lease_close(k->lease);
    return NULL;
}

static void lease_holder_free(struct lease_holder *k)
{
    if (k->wake_fd >= 0) {
        close(k->wake_fd);
    }
    buf_release(&k->name);
    free(k->attended);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

int lease_holder_start(struct lease_holder **out, const struct lease_holder_options *options,
                       struct err *err)
{
    struct lease_holder *k = mem_zero(1, sizeof(*k));
    *k = (struct lease_holder){.options = *options, .clock = clock_system()};
    *out = NULL;
    pthread_mutex_init(&k->lock, NULL);
    backoff_init(&k->backoff, AGAIN_BASE_MS, AGAIN_MAX_MS);
    buf_init(&k->name, NAME_BYTES);
    k->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int failed = k->wake_fd < 0 ? errno : pthread_create(&k->thread, NULL, lease_holder_run, k);
    if (failed != 0) {
        lease_holder_free(k);
        return err_set(err, ERR_TRANSIENT, "could not start a thread: %s", strerror(failed));
    }
    *out = k;
    return 0;
}

void lease_holder_stop(struct lease_holder *k)
{
    if (k == NULL) {
        return;
    }
    pthread_mutex_lock(&k->lock);
    k->stop = true;
    pthread_mutex_unlock(&k->lock);
    (void)eventfd_write(k->wake_fd, 1);
    pthread_join(k->thread, NULL);
    lease_holder_free(k);
}

enum lease_holder_state lease_holder_look(struct lease_holder *k, struct err *why)
{
    pthread_mutex_lock(&k->lock);
    enum lease_holder_state state = k->state;
    if (why != NULL) {
        *why = k->why;
    }
    pthread_mutex_unlock(&k->lock);
    return state;
}

void lease_holder_attend(struct lease_holder *k, const char *consumer)
{
    pthread_mutex_lock(&k->lock);
    free(k->attended);
    k->attended = consumer != NULL ? text_copy(consumer) : NULL;
    pthread_mutex_unlock(&k->lock);
}
