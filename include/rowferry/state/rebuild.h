/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rebuild: the next generation of a pipeline, with its own checkpoint besides the live one's.
 *
 * The request outlives the process: the next lock holder continues the rebuild. The rows of the
 * next generation (checkpoint, dead letters, reconcile, working) belong to a pipeline with a name
 * that no configuration can have. rebuild_promote makes them the pipeline's own in one transaction
 * and ends the rebuild. Consumers of generations that are not live any more are recorded until the
 * source has removed them.
 */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/store.h"

enum rebuild_kind {
    REBUILD_NEW,  /* a new generation, filled from the beginning */
    REBUILD_BACK, /* a former generation, brought up to date */
};

struct rebuild {
    enum rebuild_kind kind;
    bool adopt; /* an index with the alias's name may be replaced */
    int64_t begun_us;
    const char *former; /* for rebuild_begin: a consumer that ceases to be a former one; or null */
};

int rebuild_look(struct state *live, struct rebuild *out, bool *underway,
                 struct err *err) MUST_CHECK;

/* `begin` is null for REBUILD_NEW. For REBUILD_BACK it is the former generation's checkpoint (name,
 * uuid, fingerprints, identity, number, position or null, clock). ERR_INTERNAL if a rebuild is
 * under way. */
int rebuild_begin(struct state *live, const struct rebuild *rebuild, const struct checkpoint *begin,
                  struct err *err) MUST_CHECK;

/* Opens a connection to the next generation's rows, read-only if `live` is. *next is null if no
 * rebuild is under way. The caller closes it. */
int rebuild_open(struct state *live, struct state **next, struct err *err) MUST_CHECK;

/* Makes the next generation's rows the pipeline's own, because the alias points at it. `consumer`
 * is that of the generation that was live, or null. */
int rebuild_promote(struct state *live, const char *consumer, int64_t wall_us,
                    struct err *err) MUST_CHECK;

/* Deletes the next generation's rows and the rebuild. `consumer` is that of the unfinished
 * generation, or null. */
int rebuild_forget(struct state *live, const char *consumer, struct err *err) MUST_CHECK;

/* Consumers in the source whose generation is not live any more, or never was. For some time a
 * generation can be restored from its last position; after that the source need not keep the
 * consumer. */
struct former {
    char consumer[1024];
    int64_t left_us; /* when it ceased to be live; 0: cannot be restored */
    int64_t count;   /* number of all former consumers */
};
/* Finds the consumer that left first; sets *known to false if none exists. */
int rebuild_former_look(struct state *live, struct former *out, bool *known,
                        struct err *err) MUST_CHECK;
/* Finds the last consumer that left and can be restored; sets *known to false if none exists. */
int rebuild_former_last(struct state *live, struct former *out, bool *known,
                        struct err *err) MUST_CHECK;
/* Marks a consumer for removal as soon as possible: its generation was deleted, or will never go
 * live. */
int rebuild_former_due(struct state *live, const char *consumer, struct err *err) MUST_CHECK;
/* Records a consumer that was found in the source, unless it is known. */
int rebuild_former_meet(struct state *live, const char *consumer, int64_t left_us,
                        struct err *err) MUST_CHECK;
int rebuild_former_forget(struct state *live, const char *consumer, struct err *err) MUST_CHECK;
