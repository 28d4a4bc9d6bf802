/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rebuild: the next generation of a pipeline, with a checkpoint of its own beside the live one's.
 *
 * It is a wish that outlives the process: whoever holds the pipeline next goes on with it. The next
 * generation's rows (checkpoint, dead letters, reconcile, working) are those of a pipeline with a
 * name that no configuration can have; promoting makes them the pipeline's own in one transaction,
 * after which the rebuild is no more. The consumers of generations that are not live any more are
 * remembered until the source has let them go.
 */
#ifndef ROWFERRY_STATE_REBUILD_H
#define ROWFERRY_STATE_REBUILD_H

#include "rowferry/base/err.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/store.h"

enum rebuild_kind {
    REBUILD_NEW,  /* another generation, filled from the beginning */
    REBUILD_BACK, /* a former generation, brought up to date */
};

struct rebuild {
    enum rebuild_kind kind;
    bool adopt; /* an index that bears the alias's name may be replaced */
    int64_t begun_us;
    const char *former; /* to begin with: a consumer that is no former one from now on; or null */
};

int rebuild_look(struct state *live, struct rebuild *out, bool *underway,
                 struct err *err) MUST_CHECK;

/* begin: null for REBUILD_NEW; the former generation's checkpoint (name, uuid, fingerprints,
 * identity, number, position or null, clock) for REBUILD_BACK. ERR_INTERNAL where one is under way.
 */
int rebuild_begin(struct state *live, const struct rebuild *rebuild, const struct checkpoint *begin,
                  struct err *err) MUST_CHECK;

/* A connection to the next generation's rows; for reading only where `live` is. *next null where no
 * rebuild is under way. The caller closes it. */
int rebuild_open(struct state *live, struct state **next, struct err *err) MUST_CHECK;

/* The alias points at the next generation: its rows are the pipeline's own from now on. consumer:
 * of the generation that was live, null where none was. */
int rebuild_promote(struct state *live, const char *consumer, int64_t wall_us,
                    struct err *err) MUST_CHECK;

/* The next generation is gone, and the wish with it. consumer: of what was built; null: none. */
int rebuild_forget(struct state *live, const char *consumer, struct err *err) MUST_CHECK;

/* Consumers in the source of generations that are not live any more, or never were: for a while a
 * generation can be gone back to from where it stood, then the source need not keep it. */
struct former {
    char consumer[1024];
    int64_t left_us; /* since when it is not live; 0: nothing can be gone back to */
    int64_t count;   /* of all */
};
/* The one that left first; *known false: there is none. */
int former_look(struct state *live, struct former *out, bool *known, struct err *err) MUST_CHECK;
/* The one that left last and can be gone back to; *known false: there is none. */
int former_last(struct state *live, struct former *out, bool *known, struct err *err) MUST_CHECK;
/* Its generation is gone, or never will be live: to be let go as soon as may be. */
int former_due(struct state *live, const char *consumer, struct err *err) MUST_CHECK;
/* One that was found: what is known of it already stays. */
int former_meet(struct state *live, const char *consumer, int64_t left_us,
                struct err *err) MUST_CHECK;
int former_forget(struct state *live, const char *consumer, struct err *err) MUST_CHECK;

#endif
