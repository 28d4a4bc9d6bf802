/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline: the only one that knows the order read -> map -> batch -> send -> settle ->
 * checkpoint, and the laws that hold on the way.
 *
 *   read >= sent >= settled >= committed               engine/window
 *   of one key at most one operation is unsettled      engine/window
 *   unsettled bytes <= window; nothing is read beyond  engine/window
 *   the checkpoint never passes an unsettled operation state/checkpoint
 *   versions only grow, the ceiling is durable first   document/version + state/checkpoint
 *
 * One thread and one event loop; nothing here blocks but short questions to the source and commits
 * of the state file.
 */
#ifndef ROWFERRY_ENGINE_PIPELINE_H
#define ROWFERRY_ENGINE_PIPELINE_H

#include <signal.h>

#include "rowferry/base/clock.h"
#include "rowferry/document/mapping.h"
#include "rowferry/engine/counters.h"
#include "rowferry/engine/port.h"
#include "rowferry/state/store.h"

/* All borrowed; outlive the pipeline. */
struct pipeline_options {
    const char *name;
    const char *alias;
    const char *ingest_pipeline; /* null = none */
    const struct mapping *mapping;
    const char *settings; /* JSON object or null */
    size_t batch_bytes;
    size_t batch_operations;
    unsigned in_flight;
    size_t window_bytes;
    size_t document_bytes;
    int64_t retry_budget_ms;           /* without any progress of source or service */
    double guard_share;                /* of the documents, and */
    int64_t guard_count;               /* more deletes than both of a window stop the pipeline */
    bool allow_deletes;                /* as many as were counted when the guard stopped it last */
    bool requests_only;                /* carry out what is asked for, and read nothing else */
    bool refresh;                      /* return when everything is searchable */
    const volatile sig_atomic_t *stop; /* set by a signal: finish what is in flight and return */
    void (*progress)(void *context, const struct progress *progress); /* null = none */
    void *progress_context;
};

struct pipeline_ports {
    struct source_port source;
    struct service_port service;
    struct state *state; /* locked by the caller (state/lock.h) */
    struct clock clock;
};

struct pipeline_result {
    struct counters counters;
    bool first_load; /* a generation was built and went live */
    bool stopped;    /* by options.stop, before it was caught up */
    int64_t elapsed_ms;
    int64_t dead_letters; /* open at the end */
    char generation[256];
};

/*
 * Until caught up with what the source shows when the last poll begins; then everything is settled
 * and the checkpoint durable. On an error the checkpoint is right too: what was settled is kept.
 */
int pipeline_sync(const struct pipeline_options *options, const struct pipeline_ports *ports,
                  struct pipeline_result *result, struct err *err) MUST_CHECK;

#endif
