/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's ports: the pipeline loop reaches everything outside through these. So the same loop
 * runs against the real servers and against a seeded simulation.
 *
 * The source is a capture (source/capture.h) behind an opener, because the engine reopens it after
 * a lost connection. The service is a table of functions. Both use the real state file. Clock and
 * randomness come from struct clock.
 */
#pragma once

#include "rowferry/document/bulk/batch.h"
#include "rowferry/document/plan/plan.h"
#include "rowferry/service/cluster/storage.h"
#include "rowferry/service/http/product.h"
#include "rowferry/service/index/alias_poll.h"
#include "rowferry/service/index/index.h"
#include "rowferry/service/index/scan.h"
#include "rowferry/service/index/stream.h"
#include "rowferry/source/capture.h"

#define PRESENT_MAX 1000

/* Facts about the source, known after connect. All borrowed from the port. */
struct source_facts {
    const char *identity;    /* "system/database" */
    const char *fingerprint; /* of the table's definition */
    const struct plan *plan; /* compiled against that definition */
    const char *words; /* canonical text behind the fingerprint (engine/generation/drift.h); null:
                          unknown */
};

struct source_port_ops {
    /* Connects, looks up the table, compiles the plan and checks that changes are captured. Called
     * again after a lost connection. */
    int (*connect)(void *self, struct source_facts *facts, struct err *err);
    /* Called between connect and capture; has no effect later. Keeps other processes from starting
     * an initial load of the same name (ERR_HELD for them) while the session lasts. */
    int (*claim)(void *self, const char *name, struct err *err);
    /* Opens the capture of a consumer on the new connection and takes the connection over. Also
     * takes the consumer's lock in the source; returns ERR_HELD if another process holds it. The
     * caller frees the capture. */
    int (*capture)(void *self, const char *consumer, struct capture **out, struct err *err);
    /* Called between connect and capture. Takes the lock and reads the checkpoint backup of this
     * consumer. own: the position of an intact state file, or null; a backup behind it is not
     * usable. The caller frees position and letters. */
    int (*mirrored)(void *self, const char *consumer, const char *own, struct mirrored *out,
                    struct err *err);
    /* Called between connect and capture. Takes the lock and records the columns that fill these
     * properties as part of the index's initial definition. May be repeated. */
    int (*extend)(void *self, const char *consumer, const char *const *properties, size_t count,
                  struct err *err);
};

struct source_port {
    const struct source_port_ops *ops;
    void *self;
};

struct service_port_ops {
    /* Identifies the product, before any other call (service/http/product.h); logs its name. */
    int (*greet)(void *self, bool again, char cluster[PRODUCT_CLUSTER_BYTES], struct err *err);

    /* Indices and aliases: see service/index/index.h for the contracts. */
    int (*resolve)(void *self, const char *alias, enum alias_kind *kind, struct index_info *out,
                   struct err *err);
    /* Non-blocking variant: see service/index/alias_poll.h. */
    int (*alias_poll_begin)(void *self, const char *alias, struct err *err);
    int (*alias_poll_end)(void *self, enum alias_kind *kind, struct index_info *out,
                          struct err *err);
    int (*look)(void *self, const char *index, bool *found, struct index_info *out,
                struct err *err);
    int (*create)(void *self, const char *index, const char *mappings, const char *settings,
                  struct err *err);
    int (*expect_hidden)(void *self, const char *index, const char *pipeline, struct err *err);
    /* Data streams: see service/index/stream.h. */
    int (*stream_create)(void *self, const char *name, const char *mappings, const char *settings,
                         struct err *err);
    int (*stream_mark)(void *self, const struct generation_id *stream, struct err *err);
    int (*open_writes)(void *self, const struct generation_id *generation,
                       char alias[INDEX_WRITE_ALIAS_BYTES], struct err *err);
    int (*finish)(void *self, const char *index, const char *settings, struct err *err);
    int (*swap)(void *self, const char *alias, const char *from, const char *to, struct err *err);
    int (*refresh)(void *self, const char *index, struct err *err);
    int (*remove)(void *self, const char *index, const char *pipeline, struct err *err);
    int (*count)(void *self, const char *index, int64_t *count, struct err *err);

    /* Generations: see service/index/index.h. ready: an index whose health may not be read counts
     * as green and is logged. swap_adopting may return ADOPT_CANNOT_KEEP. */
    int (*ready)(void *self, const char *index, int64_t timeout_ms, bool *green, struct err *err);
    int (*list)(void *self, const char *alias, const char *pipeline, struct index_info *out,
                size_t max, size_t *count, struct err *err);
    int (*leave)(void *self, const char *index, const char *pipeline, const char *position,
                 int64_t clock, struct err *err);
    int (*left)(void *self, const char *index, struct buf *position, int64_t *clock, bool *found,
                struct err *err);
    int (*swap_adopting)(void *self, const char *alias, const char *kept, const char *to,
                         bool *kept_it, struct err *err);
    int (*adopt_undo)(void *self, const char *alias, const char *kept, struct err *err);
    int (*mapping)(void *self, const char *index, struct buf *json, struct err *err);
    int (*extend)(void *self, const char *index, const char *properties, const char *meta,
                  struct err *err);

    /* Lists the index's keys in order: see service/index/scan.h. */
    int (*scan)(void *self, const char *index, struct span after, struct scan_page *page,
                struct err *err);

    /* Sets found[i] if keys[i] has a document now; count is at most PRESENT_MAX. */
    int (*present)(void *self, const char *index, const struct span *keys, size_t count,
                   bool *found, struct err *err);

    /* Disk space that the index uses and has left: see service/cluster/storage.h. */
    int (*storage)(void *self, const char *index, struct storage *out, struct err *err);

    /* Bulk: see service/bulk/bulk.h. */
    bool (*can_send)(void *self);
    int (*send)(void *self, const char *write_alias, const char *ingest_pipeline,
                struct batch *batch, struct err *err);
    struct batch *(*take)(void *self);
    int (*wait)(void *self, int fd, int64_t timeout_ms, bool *readable, struct err *err);
};

struct service_port {
    const struct service_port_ops *ops;
    void *self;
};

/* Returns the port of a real service. */
struct service_port service_port_of(struct service *s);
