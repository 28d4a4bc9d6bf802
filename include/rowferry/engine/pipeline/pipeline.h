/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline: the only one that knows the order read -> map -> batch -> send -> settle ->
 * checkpoint, and the laws that hold on the way.
 *
 *   read >= sent >= settled >= committed               engine/pipeline/window
 *   of one key at most one operation is unsettled      engine/pipeline/window
 *   unsettled bytes <= window; nothing is read beyond  engine/pipeline/window
 *   the checkpoint never passes an unsettled operation state/checkpoint
 *   versions only grow, the ceiling is durable first   document/model/version + state/checkpoint
 *
 * One thread and one event loop; nothing here blocks but short questions to the source and commits
 * of the state file.
 */
#ifndef ROWFERRY_ENGINE_PIPELINE_H
#define ROWFERRY_ENGINE_PIPELINE_H

#include <signal.h>

#include "rowferry/base/clock.h"
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/engine/counters.h"
#include "rowferry/engine/generation/drift.h"
#include "rowferry/engine/observe/stall.h"
#include "rowferry/engine/observe/status_snapshot.h"
#include "rowferry/engine/port.h"
#include "rowferry/state/store.h"

/* All borrowed; outlive the pipeline. */
struct pipeline_options {
    const char *name;
    const char *alias;
    const char *ingest_pipeline; /* null = none */
    bool stream;                 /* the alias is a data stream's name: documents are only added */
    struct key_routing routing;  /* of documents; count 0: none */
    const struct mapping *mapping;
    const char *settings; /* JSON object or null */
    const char *built;    /* what the documents are made from, in words kept beside a generation
                             (state/generation_config.h); null: none are */
    size_t batch_bytes;
    size_t batch_operations;
    unsigned in_flight;
    size_t window_bytes;
    size_t document_bytes;
    int64_t retry_budget_ms; /* without any progress of source or service; negative: no end */
    int64_t poll_min_ms, poll_max_ms; /* between two polls, where it follows */
    int64_t linger_ms;                /* how long a batch then waits for the source */
    double guard_share;               /* of the documents, and */
    int64_t guard_count;              /* more deletes than both of a window stop the pipeline */
    int64_t reconcile_ms;             /* between two reconciles; 0: none by time */
    bool allow_deletes;               /* as many as were counted when the guard stopped it last */
    bool allow_rejections;            /* for the reason that the guard named then */
    int64_t permission; /* the request that permitted it, answered when caught up; 0 = none */
    bool follow;        /* do not end when caught up: wait for changes and send them */
    bool again;         /* as before, when it failed: its beginning and end are no news */
    bool rivals;   /* other state files of it may have gone on since: what the source keeps counts
                      where that is ahead, */
    bool stood_by; /* and also where it is as far: one has */
    bool requests_only; /* carry out what is asked for, and read nothing else */
    bool next;  /* of a rebuild: fill the generation beside the live one; it does not go live */
    bool adopt; /* the same, where an index bears the alias's name */
    bool back;  /* the same: a former generation, whose documents may have no rows any more */
    int64_t begun_us; /* the same: when that was wished for, which marks its indices */
    int64_t keep; /* former generations that stay, where a swap is found that was not recorded */
    bool refresh; /* return when everything is searchable */
    const volatile sig_atomic_t *stop; /* set by a signal or thread: finish what is in flight and
                                          return */
    int wake_fd;         /* readable once stop is set, where it follows; 0 = none: it is
                            looked at now and then */
    struct stall *stall; /* goes on over several runs of the engine; null = nobody asks for it */
    struct board
        *board; /* gets what others may see of it (engine/observe/status_snapshot.h); null = none */
    int64_t *alive_us; /* gets the monotonic time of each turn, for a watchdog that
                          reads it in another thread (atomically); null = none */
    void (*progress)(void *context, const struct progress *progress); /* null = none */
    void *progress_context;
    /* Gets the requests about a rebuild (engine/pipeline/requests.h), taken: true where it sees
     * that they are answered, false where they are to stay filed. Null: they do. */
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
    bool stopped;    /* by options.stop, before it was caught up */
    int64_t elapsed_ms;
    int64_t dead_letters; /* open at the end */
    char generation[256];
    bool stream;        /* it is a data stream */
    char extended[512]; /* properties that were added to the live index; empty: none */
};

/*
 * Until caught up with what the source shows when the last poll begins (or where it follows, until
 * options.stop); then everything is settled
 * and the checkpoint durable. On an error the checkpoint is right too: what was settled is kept;
 * err->drift says that the index is of another definition, so that a rebuild is the answer.
 */
int pipeline_sync(const struct pipeline_options *options, const struct pipeline_ports *ports,
                  struct pipeline_result *result, struct err *err) MUST_CHECK;

/* In what the pipeline is another than the index was built from, "it was built ..."; null: in
 * nothing. facts: of its source, connected. */
const char *pipeline_differs(const struct pipeline_options *options,
                             const struct source_facts *facts, const struct index_info *index);

/* The same line by line. state: where the words of the index's definition may be, null: nowhere.
 * The caller releases *out. */
int pipeline_drift(const struct pipeline_options *options, const struct source_facts *facts,
                   const struct index_info *index, struct state *state, struct drift_found *out,
                   struct err *err) MUST_CHECK;

#endif
