/* SPDX-License-Identifier: Apache-2.0 */
/* A test world whose database is reached through a PostgreSQL protocol proxy. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgproxy.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

struct pgway {
    struct world w;
    struct pgproxy *proxy;
    char uri[512]; /* connects through the proxy */
    char source[600];
};

#define PGWAY_LIMITS "\"retry_budget\": \"1s\", \"poll_max\": \"100ms\""

/* Starts the world with the change log installed, before the first sync. */
static inline void pgway_start(struct pgway *g, long rows)
{
    *g = (struct pgway){0};
    world_start(&g->w, rows, NULL);
    world_install(&g->w);
    const char *port = strrchr(g->w.uri, ':') + 1;
    g->proxy = pgproxy_start(atoi(port));
    snprintf(g->uri, sizeof(g->uri), "%.*s%d%s", (int)(port - g->w.uri), g->w.uri,
             pgproxy_port(g->proxy), strchr(port, '/'));
    snprintf(g->source, sizeof(g->source), "\"uri\": \"%s\"", g->uri);
    g->w.source = g->source;
    world_configure(&g->w, WORLD_PROPERTIES, PGWAY_LIMITS);
}

static inline void pgway_stop(struct pgway *g)
{
    pgproxy_stop(g->proxy);
    world_stop(&g->w);
}
