/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's ports: everything outside that the pipeline loop touches comes in through these, so
 * that the same loop runs against the real servers and against a simulation from a seed.
 *
 * The source is a capture (source/capture.h) behind an opener, because a lost connection is
 * answered by opening again. The service is the table of functions below. The state file is the
 * real one in both. Clock and randomness are struct clock.
 */
#ifndef ROWFERRY_ENGINE_PORT_H
#define ROWFERRY_ENGINE_PORT_H

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

/* What the source is, known once it was reached. All borrowed from the port. */
struct source_facts {
    const char *identity;    /* "system/database" */
    const char *fingerprint; /* of the table's definition */
    const struct plan *plan; /* compiled against that definition */
    const char *words; /* what the fingerprint is of (engine/generation/drift.h); null: not said */
};

struct source_port_ops {
    /* Connects, looks the table up, compiles the plan and sees that changes are captured. Called
     * again after a lost connection. */
    int (*connect)(void *self, struct source_facts *facts, struct err *err);
    /* Between connect and capture, afterwards nothing: keeps everybody else from a first load of
     * the same name (ERR_HELD), as long as there is a session. */
    int (*claim)(void *self, const char *name, struct err *err);
    /* Opens the capture for a consumer on the connection just made, which it takes; also takes the
     * hold in the source (ERR_HELD where another has it). The caller frees the capture. */
    int (*capture)(void *self, const char *consumer, struct capture **out, struct err *err);
    /* Between the two: takes the hold, and asks what the source keeps of a lost state file of this
     * consumer, compared with a position of one that is not (null: none; where the mirror is behind
     * it, it is not usable). The caller frees position and letters. */
    int (*mirrored)(void *self, const char *consumer, const char *own, struct mirrored *out,
                    struct err *err);
    /* Between the two: takes the hold, and has the columns that fill these properties count as what
     * the consumer's index was begun with. May be repeated. */
    int (*extend)(void *self, const char *consumer, const char *const *properties, size_t count,
                  struct err *err);
};

struct source_port {
    const struct source_port_ops *ops;
    void *self;
};

struct service_port_ops {
    /* Asks who answers, before anything else (service/http/product.h); the log names it. */
    int (*greet)(void *self, bool again, char cluster[PRODUCT_CLUSTER_BYTES], struct err *err);

    /* Indices and aliases: see service/index/index.h for what each promises. */
    int (*resolve)(void *self, const char *alias, enum alias_kind *kind, struct index_info *out,
                   struct err *err);
    /* The same without waiting: see service/index/alias_poll.h. */
    int (*glance)(void *self, const char *alias, struct err *err);
    int (*glanced)(void *self, enum alias_kind *kind, struct index_info *out, struct err *err);
    int (*look)(void *self, const char *index, bool *found, struct index_info *out,
                struct err *err);
    int (*create)(void *self, const char *index, const char *mappings, const char *settings,
                  struct err *err);
    int (*expect_hidden)(void *self, const char *index, const char *pipeline, struct err *err);
    /* Data streams: see service/index/stream.h. */
    int (*stream_create)(void *self, const char *name, const char *mappings, const char *settings,
                         struct err *err);
    int (*stream_mark)(void *self, const struct generation *stream, struct err *err);
    int (*open_writes)(void *self, const struct generation *generation,
                       char alias[INDEX_WRITE_ALIAS_BYTES], struct err *err);
    int (*finish)(void *self, const char *index, const char *settings, struct err *err);
    int (*swap)(void *self, const char *alias, const char *from, const char *to, struct err *err);
    int (*refresh)(void *self, const char *index, struct err *err);
    int (*remove)(void *self, const char *index, const char *pipeline, struct err *err);
    int (*count)(void *self, const char *index, int64_t *count, struct err *err);

    /* Generations: the same. ready: what may not be seen counts as green, and is said in the log;
     * swap_adopting may answer ADOPT_CANNOT_KEEP. */
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

    /* The index's keys in their order: see service/index/scan.h. */
    int (*scan)(void *self, const char *index, struct span after, struct scan_page *page,
                struct err *err);

    /* Which of these keys (at most PRESENT_MAX) have a document now. */
    int (*present)(void *self, const char *index, const struct span *keys, size_t count,
                   bool *found, struct err *err);

    /* How much room the index takes and has: see service/cluster/storage.h. */
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

/* The port over the real service. */
struct service_port service_port_of(struct service *s);

#endif
