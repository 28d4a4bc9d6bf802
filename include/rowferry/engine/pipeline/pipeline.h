/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline: the only module that knows the order read -> map -> batch -> send -> settle ->
 * checkpoint, and the invariants that hold on the way.
 *
 *   read >= sent >= settled >= committed               engine/pipeline/window
 *   at most one operation of a key is unsettled        engine/pipeline/window
 *   no reads while unsettled bytes exceed the window   engine/pipeline/window
 *   the checkpoint never passes an unsettled operation state/checkpoint
 *   versions only grow; the ceiling is durable first   document/model/version + state/checkpoint
 *
 * One thread and one event loop. It blocks only on short queries to the source and on commits of
 * the state file.
 */
#pragma once

#include <signal.h>

#include "rowferry/base/clock.h"
#include "rowferry/engine/counters.h"
#include "rowferry/engine/generation/pipeline_definition.h"
#include "rowferry/engine/guard/guard_limits.h"
#include "rowferry/engine/observe/stall.h"
#include "rowferry/engine/observe/status_snapshot.h"
#include "rowferry/engine/port.h"
#include "rowferry/state/store.h"

/* What a run of the pipeline is for. */
enum pipeline_mode {
    PIPELINE_SYNC,     /* returns when caught up */
    PIPELINE_FOLLOW,   /* then waits for changes and sends them, until stopped */
    PIPELINE_BUILD,    /* rebuild: fills the generation beside the live one; does not go live */
    PIPELINE_REQUESTS, /* carries out requests and reads nothing else */
};

/* Sizes of the data on its way. */
struct pipeline_limits {
    size_t batch_bytes;
    size_t batch_operations;
    unsigned in_flight; /* requests at the same time */
    size_t window_bytes;
    size_t document_bytes;
    int64_t retry_budget_ms; /* retry budget without progress of source or service; negative:
                                unlimited */
};

/* What a person permitted in answer to the last guard stop. */
struct pipeline_permission {
    bool deletes;    /* as many as were counted then */
    bool rejections; /* for the same reason */
    int64_t request; /* request that granted it, answered when caught up; 0 = none */
};

/* PIPELINE_FOLLOW. */
struct pipeline_follow {
    int64_t poll_min_ms, poll_max_ms; /* interval between two polls */
    int64_t linger_ms;                /* how long a partial batch waits for the source */
    bool retry;                       /* after a failed round: log start and end at debug level */
    bool quiet;                       /* return after a minute without changes ... */
    bool rested;         /* ... and at once if there are none: the last round returned so */
    int wake_fd;         /* readable once hooks.stop is set; 0 = none: `stop` is polled */
    struct stall *stall; /* kept over several rounds; null = not observed */
    struct status_snapshot *snapshot; /* null = none */
    /* Receives the requests about a rebuild (engine/pipeline/requests.h) after they were taken.
     * Returns true if it will answer the request, false if the request must stay filed. Null: all
     * stay filed. */
    bool (*asked)(void *context, int64_t id, const char *command, const char *arguments);
    void *asked_context;
};

/* PIPELINE_BUILD. */
struct pipeline_build {
    bool adopt;       /* the alias's name is the name of an existing index */
    bool back;        /* return to a former generation; its documents may have lost their rows */
    int64_t begun_us; /* time of the request, which marks its indices */
};

struct pipeline_hooks {
    const volatile sig_atomic_t *stop; /* set to request a stop after requests in flight */
    int64_t *alive_us; /* receives the monotonic time of each turn (atomic), for a watchdog in
                          another thread; null = none */
    void (*progress)(void *context, const struct progress *progress); /* null = none */
    void *progress_context;
};

/* All pointers are borrowed and must outlive the pipeline. */
struct pipeline_options {
    enum pipeline_mode mode;
    struct pipeline_definition definition;
    struct pipeline_limits limits;
    struct guard_limits guard; /* a window with more deletes stops the pipeline */
    int64_t reconcile_ms;      /* interval between two reconciles; 0: never by schedule */
    struct pipeline_permission permission;
    enum pipeline_rivals rivals;
    bool refresh; /* PIPELINE_SYNC: return when all documents are searchable */
    struct pipeline_follow follow;
    struct pipeline_build build;
    struct pipeline_hooks hooks;
};

struct pipeline_ports {
    struct source_port source;
    struct service_port service;
    struct state *state; /* locked by the caller (state/lock.h) */
    struct clock clock;
};

struct pipeline_result {
    struct counters counters;
    bool begun;      /* source, service and generation were found */
    bool first_load; /* a generation was built and went live */
    bool stopped;    /* stopped by hooks.stop before it was caught up */
    bool quiet;      /* returned because there are no changes */
    int64_t elapsed_ms;
    int64_t dead_letters; /* open at the end */
    char generation[256];
    bool stream;        /* the generation is a data stream */
    char extended[512]; /* properties added to the live index; empty: none */
};

/*
 * Runs until caught up with what the source shows when the last poll begins, or in PIPELINE_FOLLOW
 * until hooks.stop or follow.quiet. On success everything is settled and the checkpoint is durable.
 * After an error the checkpoint is correct too, because settled operations are kept. If err->drift
 * is set, the index has another definition and a rebuild is the remedy.
 */
int pipeline_run(const struct pipeline_options *options, const struct pipeline_ports *ports,
                 struct pipeline_result *result, struct err *err) MUST_CHECK;
