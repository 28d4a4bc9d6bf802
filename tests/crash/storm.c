/* SPDX-License-Identifier: Apache-2.0 */
/* Two proxies that inject faults at random. */
#include "storm.h"

#include <check.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "proxy.h"
#include "rowferry/base/text.h"
#include "wait.h"

#define WAYS 2
#define PACE_MS 12  /* maximum delay of every answer */
#define LATE_MS 120 /* maximum delay of a late request */

const char *const storm_names[STORM_CLASSES] = {
    [STORM_429] = "refused with 429",
    [STORM_503] = "refused with 503",
    [STORM_CUT] = "request cut",
    [STORM_SILENT] = "carried out without an answer",
    [STORM_HALF] = "answer cut",
    [STORM_ANOTHER] = "another request's answer",
    [STORM_LATE] = "late",
};

#define BODY_429                                                                                   \
    "{\"error\":{\"type\":\"rejected_execution_exception\",\"reason\":\"storm\"},\"status\":429}"
#define BODY_503                                                                                   \
    "{\"error\":{\"type\":\"cluster_block_exception\",\"reason\":\"storm\"},\"status\":503}"
#define BODY_ANOTHER "{\"took\":1,\"errors\":false,\"items\":[]}"
#define HEAD "Content-Type: application/json\r\nContent-Length: "

struct way {
    struct storm *storm;
    struct proxy *proxy;
    size_t bulks_before; /* bulk requests before it was selected */
    atomic_uint met;
};

struct storm {
    struct way ways[WAYS];
    size_t turn;
    atomic_bool bad;
    atomic_ullong dice; /* random state of the proxies' threads */
};

static uint64_t dice(struct storm *s, uint64_t n)
{
    uint64_t x = atomic_fetch_add(&s->dice, UINT64_C(0x9E3779B97F4A7C15));
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (x ^ (x >> 31)) % n;
}

static void answer(struct proxy_fault *fault, const char *status, const char *body)
{
    static _Thread_local char text[512];
    fault->withheld = true;
    fault->answer = text;
    fault->answer_len = (size_t)snprintf(text, sizeof(text), "HTTP/1.1 %s\r\n" HEAD "%zu\r\n\r\n%s",
                                         status, strlen(body), body);
}

static void meet(struct storm *s, enum storm_class class, const struct proxy_request *request,
                 struct proxy_fault *fault)
{
    switch (class) {
    case STORM_429:
        answer(fault, "429 Too Many Requests", BODY_429);
        break;
    case STORM_503:
        answer(fault, "503 Service Unavailable", BODY_503);
        break;
    case STORM_CUT:
        fault->cut_request = request->head_len + request->body_len / 2;
        fault->withheld = fault->reset = true;
        break;
    case STORM_SILENT:
        fault->cut_answer = 0;
        fault->reset = dice(s, 2) == 0;
        break;
    case STORM_HALF:
        fault->cut_answer = 20 + dice(s, 80);
        break;
    case STORM_ANOTHER:
        answer(fault, "200 OK", BODY_ANOTHER);
        fault->withheld = dice(s, 2) == 0;
        break;
    case STORM_LATE:
    case STORM_CLASSES:
    default:
        fault->late_ms = (int64_t)dice(s, LATE_MS);
        break;
    }
}

static void decide(void *context, const struct proxy_request *request, struct proxy_fault *fault)
{
    struct way *way = context;
    struct storm *s = way->storm;
    if (!request->bulk || !atomic_load(&s->bad)) {
        return;
    }
    fault->delay_ms = (int64_t)dice(s, PACE_MS);
    if (dice(s, 2) == 0) {
        enum storm_class class = (enum storm_class)dice(s, STORM_CLASSES);
        meet(s, class, request, fault);
        atomic_fetch_or(&way->met, 1U << class);
    }
}

struct storm *storm_new(int service_port)
{
    struct storm *s = mem_zero(1, sizeof(*s));
    atomic_store(&s->dice, (unsigned long long)crash_dice(INT32_MAX) << 20);
    for (size_t i = 0; i < WAYS; i++) {
        s->ways[i].storm = s;
        s->ways[i].proxy = proxy_start(service_port, decide, &s->ways[i]);
    }
    return s;
}

void storm_free(struct storm *s)
{
    for (size_t i = 0; i < WAYS; i++) {
        proxy_stop(s->ways[i].proxy);
    }
    free(s);
}

static void await_idle(const struct way *way)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (!proxy_idle(way->proxy)) {
        ck_assert_msg(deadline_wait(&deadline), "something is still on its way");
    }
}

static const struct way *taken(const struct storm *s)
{
    return &s->ways[s->turn % WAYS];
}

int storm_calm(struct storm *s)
{
    atomic_store(&s->bad, false);
    for (size_t i = 0; i < WAYS; i++) {
        await_idle(&s->ways[i]);
    }
    return proxy_port(taken(s)->proxy);
}

int storm_next(struct storm *s)
{
    struct way *way = &s->ways[++s->turn % WAYS];
    await_idle(way);
    way->bulks_before = proxy_bulks(way->proxy);
    atomic_store(&way->met, 0);
    atomic_store(&s->bad, true);
    return proxy_port(way->proxy);
}

size_t storm_bulks(const struct storm *s)
{
    return proxy_bulks(taken(s)->proxy) - taken(s)->bulks_before;
}

size_t storm_unanswered(const struct storm *s)
{
    return proxy_bulks_now(taken(s)->proxy);
}

unsigned storm_met(const struct storm *s)
{
    return atomic_load(&taken(s)->met);
}
