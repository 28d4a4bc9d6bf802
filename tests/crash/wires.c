/* SPDX-License-Identifier: Apache-2.0 */
/* A switch in a single thread. */
#include "wires.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wait.h"

#define FRAME_MOST 2048
#define WAITING_MOST 4096 /* frames; more are dropped, as by any switch */
#define AT_ONCE 64        /* frames read from one wire before the next has its turn */
#define HELD_MS 40
#define TURN_MS 100
#define HOST_BYTE 5 /* byte of a MAC address that identifies the host */

struct frame {
    int64_t due_ms;
    int to;
    size_t len;
    unsigned char bytes[FRAME_MOST];
};

static struct {
    int sockets[WIRES_PORTS];
    pthread_t thread;
    pthread_mutex_t lock; /* protects the rules */
    struct wires_rule rules[WIRES_PORTS][WIRES_PORTS];
    atomic_bool ends;
    atomic_llong counts[WIRES_DEEDS];
    struct frame *waiting[WAITING_MOST]; /* in order of arrival */
    size_t count;
    uint64_t random;
} wires;

static bool happens(int share)
{
    wires.random = wires.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((wires.random >> 33) % 1000) < share;
}

static void did(enum wires_deed deed)
{
    atomic_fetch_add(&wires.counts[deed], 1);
}

static void keep(const unsigned char *bytes, size_t len, int to, int64_t due_ms)
{
    if (wires.count == WAITING_MOST) {
        return;
    }
    struct frame *f = malloc(sizeof(*f));
    if (f == NULL) {
        abort();
    }
    f->due_ms = due_ms;
    f->to = to;
    f->len = len;
    memcpy(f->bytes, bytes, len);
    wires.waiting[wires.count++] = f;
}

static void pass(const unsigned char *bytes, size_t len, int from, int to)
{
    pthread_mutex_lock(&wires.lock);
    const struct wires_rule rule = wires.rules[from][to];
    pthread_mutex_unlock(&wires.lock);
    int64_t due_ms = deadline_now_ms() + rule.delay_ms;
    if (rule.cut) {
        did(WIRES_CUT);
        return;
    }
    if (happens(rule.lost)) {
        did(WIRES_LOST);
        return;
    }
    if (happens(rule.held)) {
        due_ms += HELD_MS;
    }
    if (rule.delay_ms > 0) {
        did(WIRES_DELAYED);
    }
    keep(bytes, len, to, due_ms);
    if (happens(rule.doubled)) {
        did(WIRES_DOUBLED);
        keep(bytes, len, to, due_ms);
    }
}

/* A frame to an address that is not a host's goes to all hosts. */
static void forward(const unsigned char *bytes, size_t len, int from)
{
    int to = bytes[HOST_BYTE];
    bool one = bytes[0] == 2 && to < WIRES_PORTS;
    for (int i = 0; i < WIRES_PORTS; i++) {
        if (wires.sockets[i] >= 0 && i != from && (!one || i == to)) {
            pass(bytes, len, from, i);
        }
    }
}

static void receive(int from)
{
    unsigned char bytes[FRAME_MOST];
    for (int i = 0; i < AT_ONCE; i++) {
        ssize_t n = recv(wires.sockets[from], bytes, sizeof(bytes), 0);
        if (n < 14) {
            return;
        }
        forward(bytes, (size_t)n, from);
    }
}

/* Returns true if an earlier frame of the same wire is still waiting. */
static bool overtakes(size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (wires.waiting[i] != NULL && wires.waiting[i]->to == wires.waiting[at]->to) {
            return true;
        }
    }
    return false;
}

/* Sends due frames. Returns the time until the next one is due. */
static int64_t send_due(void)
{
    int64_t now_ms = deadline_now_ms();
    int64_t next_ms = TURN_MS;
    size_t left = 0;
    for (size_t i = 0; i < wires.count; i++) {
        struct frame *f = wires.waiting[i];
        if (f->due_ms > now_ms) {
            next_ms = f->due_ms - now_ms < next_ms ? f->due_ms - now_ms : next_ms;
            continue;
        }
        if (overtakes(i)) {
            did(WIRES_OVERTAKEN);
        }
        send(wires.sockets[f->to], f->bytes, f->len, MSG_DONTWAIT);
        free(f);
        wires.waiting[i] = NULL;
    }
    for (size_t i = 0; i < wires.count; i++) {
        if (wires.waiting[i] != NULL) {
            wires.waiting[left++] = wires.waiting[i];
        }
    }
    wires.count = left;
    return next_ms;
}

static void *work(void *unused)
{
    struct pollfd polled[WIRES_PORTS];
    (void)unused;
    while (!atomic_load(&wires.ends)) {
        int64_t next_ms = send_due();
        for (int i = 0; i < WIRES_PORTS; i++) {
            polled[i] = (struct pollfd){.fd = wires.sockets[i], .events = POLLIN};
        }
        poll(polled, WIRES_PORTS, (int)next_ms);
        for (int i = 0; i < WIRES_PORTS; i++) {
            if ((polled[i].revents & POLLIN) != 0) {
                receive(i);
            }
        }
    }
    return NULL;
}

void wires_start(const int sockets[WIRES_PORTS], uint64_t seed)
{
    memcpy(wires.sockets, sockets, sizeof(wires.sockets));
    memset(wires.rules, 0, sizeof(wires.rules));
    for (size_t i = 0; i < WIRES_DEEDS; i++) {
        atomic_store(&wires.counts[i], 0);
    }
    wires.random = seed;
    atomic_store(&wires.ends, false);
    pthread_mutex_init(&wires.lock, NULL);
    if (pthread_create(&wires.thread, NULL, work, NULL) != 0) {
        abort();
    }
}

void wires_stop(void)
{
    atomic_store(&wires.ends, true);
    pthread_join(wires.thread, NULL);
    for (size_t i = 0; i < wires.count; i++) {
        free(wires.waiting[i]);
    }
    wires.count = 0;
    pthread_mutex_destroy(&wires.lock);
}

void wires_say(int from, int to, const struct wires_rule *rule)
{
    pthread_mutex_lock(&wires.lock);
    wires.rules[from][to] = *rule;
    pthread_mutex_unlock(&wires.lock);
}

int64_t wires_count(enum wires_deed deed)
{
    return atomic_load(&wires.counts[deed]);
}
