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
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/engine/counters.h"
#include "rowferry/engine/generation/drift.h"
#include "rowferry/engine/observe/stall.h"
#include "rowferry/engine/observe/status_snapshot.h"
#include "rowferry/engine/port.h"
#include "rowferry/state/store.h"

/* All pointers are borrowed and must outlive the pipeline. */
struct pipeline_options {
    const char *name;
    const char *alias;
    const char *ingest_pipeline; /* null = none */
    bool stream;                 /* the alias names a data stream: documents are only added */
    struct key_routing routing;  /* of documents; count 0: no routing */
    const struct mapping *mapping;
    const char *settings; /* JSON object or null */
    const char *built;    /* canonical text of the configuration, stored with the generation
                             (state/generation_config.h); null: not stored */
    size_t batch_bytes;
    size_t batch_operations;
    unsigned in_flight;
    size_t window_bytes;
    size_t document_bytes;
    int64_t retry_budget_ms; /* retry budget without progress of source or service; negative:
                                unlimited */
    int64_t poll_min_ms, poll_max_ms; /* interval between two polls when following */
    int64_t linger_ms;     /* how long a partial batch waits for the source when following */
    double guard_share;    /* fraction of the documents; see guard_count */
    int64_t guard_count;   /* a window with more deletes than both limits stops the pipeline */
    int64_t reconcile_ms;  /* interval between two reconciles; 0: never by schedule */
    bool allow_deletes;    /* permit as many deletes as were counted at the last guard stop */
    bool allow_rejections; /* permit rejections for the reason of the last guard stop */
    int64_t permission; /* request that granted the permission, answered when caught up; 0 = none */
    bool follow;        /* do not end when caught up: wait for changes and send them */
    bool again;         /* retry of a failed round: log its start and end at debug level */
    bool rivals;        /* other state files of this pipeline may have advanced: use the source's
                           checkpoint backup if it is ahead */
    bool stood_by;      /* another process was active: use the backup also if it is equal */
    bool requests_only; /* carry out requests and read nothing else */
    bool next;          /* rebuild: fill the generation beside the live one; do not go live */
    bool adopt;         /* rebuild: the alias's name is the name of an existing index */
    bool back; /* rebuild: return to a former generation; its documents may have lost their rows */
    int64_t begun_us; /* rebuild: time of the request, which marks its indices */
    int64_t keep;     /* former generations to keep if an unrecorded swap is found */
    bool refresh;     /* return when all documents are searchable */
    const volatile sig_atomic_t *stop; /* set to request a stop after requests in flight */
    int wake_fd;         /* readable once stop is set, when following; 0 = none: `stop` is polled */
    struct stall *stall; /* kept over several runs of the engine; null = not observed */
    struct status_snapshot
        *snapshot;     /* status snapshot (engine/observe/status_snapshot.h); null = none */
    int64_t *alive_us; /* receives the monotonic time of each turn (atomic), for a watchdog in
                          another thread; null = none */
    void (*progress)(void *context, const struct progress *progress); /* null = none */
    void *progress_context;
    /* Receives the requests about a rebuild (engine/pipeline/requests.h) after they were taken.
     * Returns true if it will answer the request, false if the request must stay filed. Null: all
     * stay filed. */
    bool (*asked)(void *context, int64_t id, const char *command, const char *arguments);
    void *asked_context;
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
    bool stopped;    /* stopped by options.stop before it was caught up */
    int64_t elapsed_ms;
    int64_t dead_letters; /* open at the end */
    char generation[256];
    bool stream;        /* the generation is a data stream */
    char extended[512]; /* properties added to the live index; empty: none */
};

/*
 * Runs until caught up with what the source shows when the last poll begins, or until options.stop
 * if options.follow is set. On success everything is settled and the checkpoint is durable. After
 * an error the checkpoint is correct too, because settled operations are kept. If err->drift is
 * set, the index has another definition and a rebuild is the remedy.
 */
int pipeline_sync(const struct pipeline_options *options, const struct pipeline_ports *ports,
                  struct pipeline_result *result, struct err *err) MUST_CHECK;

/* Returns how the pipeline differs from the definition of its index ("it was built ..."), or null
 * if it does not. facts: of the connected source. */
const char *takeover_pipeline_differs(const struct pipeline_options *options,
                                      const struct source_facts *facts,
                                      const struct index_info *index);

/* Same as takeover_pipeline_differs, but line by line. state: where the canonical text of the
 * index's definition may be stored; null: unavailable. The caller releases *out. */
int schema_pipeline_drift(const struct pipeline_options *options, const struct source_facts *facts,
                          const struct index_info *index, struct state *state,
                          struct drift_found *out, struct err *err) MUST_CHECK;
