/* SPDX-License-Identifier: Apache-2.0 */
/* A test world whose service is reached through a fault-injecting proxy. */
#pragma once

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "http.h"
#include "proxy.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

#define FAULT_PROPERTIES                                                                           \
    "\"title\":{\"type\":\"text\"},\"price\":{\"type\":\"double\"},\"tags\":{\"type\":"            \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"}"

#define FAULT_MEMORY_KIB (160 * 1024)

struct fault_world {
    struct world w;
    struct proxy *proxy;
};

/* Starts a world with the change log installed. The configuration uses the proxy; the test's own
 * requests (world_fault, world_expect_equal) bypass it. */
static inline void fault_world(struct fault_world *f, long rows, const char *limits,
                               proxy_decide decide, void *context)
{
    char url[64];
    world_start(&f->w, rows, NULL);
    world_install(&f->w);
    f->proxy = proxy_start(f->w.service.port, decide, context);
    snprintf(url, sizeof(url), "%s", f->w.service.url);
    snprintf(f->w.service.url, sizeof(f->w.service.url), "http://127.0.0.1:%d",
             proxy_port(f->proxy));
    world_configure(&f->w, FAULT_PROPERTIES, limits);
    snprintf(f->w.service.url, sizeof(f->w.service.url), "%s", url);
}

static inline void fault_world_stop(struct fault_world *f)
{
    proxy_stop(f->proxy);
    world_stop(&f->w);
}

/* Checks the peak memory of all ended child processes; the service is still running. */
static inline void expect_little_memory(void)
{
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &usage), 0);
    ck_assert_int_lt(usage.ru_maxrss, FAULT_MEMORY_KIB);
}

/* Returns the duration of outages and storms, in ms. */
static inline int64_t outage_ms(void)
{
    const char *text = getenv("ROWFERRY_OUTAGE_S");
    return (text != NULL ? strtoll(text, NULL, 10) : 3) * 1000;
}
