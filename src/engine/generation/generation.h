/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generation that a pipeline writes to: found, built, and swapped in.
 *
 * The alias is what people search; writes go to the generation by an alias of its own, so that what
 * arrives after it was deleted creates nothing (service/index/index.h). What the state file says of
 * it is checked against the service before the first write: same index (uuid), same mapping, and
 * both aliases where they should be. The alias is the truth after a crash between swap and commit.
 * Without a checkpoint, the live generation is gone on with where it was built from the same and
 * the source keeps where it stood.
 */
#ifndef ROWFERRY_ENGINE_GENERATION_H
#define ROWFERRY_ENGINE_GENERATION_H

#include "guard/guard.h"
#include "rowferry/base/clock.h"
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/engine/generation/drift.h"
#include "rowferry/engine/port.h"
#include "rowferry/state/checkpoint.h"

struct target {
    const char *pipeline;
    const char *alias;
    bool stream; /* it is a data stream's name, and the stream the one generation (target_stream.c)
                  */
    const struct mapping *mapping;
    const char *settings;
    const char *ingest_pipeline; /* null: none */
    struct source_port source;   /* connected */
    struct service_port service;
    struct state *state;
    struct clock clock;
    struct source_facts facts;
    char cluster[PRODUCT_CLUSTER_BYTES]; /* the service's uuid, or "" */
    struct buf replaced;                 /* the consumer of the generation that a swap replaced */
    struct checkpoint checkpoint;        /* as the state file has it, kept current here */
    const struct guard *guard;           /* borrowed: what a swap may take from those who search */
    bool taken_over;                     /* this run took the checkpoint over from the source */
    bool rivals;                         /* see pipeline_options */
    bool stood_by;                       /* the same */
    bool next;  /* of a rebuild: beside the live one, and not to be taken over from anywhere */
    bool adopt; /* an index that bears the alias's name may be replaced */
    int64_t begun_us; /* the same: when it was wished for, by which its indices are known; 0: not */
    int64_t keep;     /* former generations that stay where it is found swapped in */
    bool observes;    /* somebody else writes it: nothing is changed */
    struct drift_found drift;                  /* what the last look found, see schema.h */
    char write_alias[INDEX_WRITE_ALIAS_BYTES]; /* of the generation; empty: not written by this */
    char extended[512];                        /* the properties that this run added; empty: none */
    char creator[17]; /* marks the index that this run creates, or would go on with */
};

/* Reads the checkpoint. */
int target_init(struct target *t, struct err *err) MUST_CHECK;
void target_release(struct target *t);

/* Where a rebuild is under way and the alias points at what it has built, which was not recorded:
 * it is live now. For the holder alone. */
int target_end_rebuild(struct target *t, struct err *err) MUST_CHECK;

/* Afterwards the checkpoint is BUILDING or LIVE and its generation exists and is ours. */
int target_prepare(struct target *t, struct err *err) MUST_CHECK;

/* Puts a complete generation behind the alias: refreshed, swapped in atomically, recorded. May be
 * called again after a failure at any point. */
int target_go_live(struct target *t, struct err *err) MUST_CHECK;

/* Appends the name of the consumer that this generation is for the source. */
void target_consumer(const struct target *t, struct buf *out);

/* Which index a swap would take the alias from; *kind is ALIAS_ABSENT, ALIAS_ONE, or where it may
 * be adopted ALIAS_CONCRETE. Refuses what is not ours. */
int target_holder(struct target *t, enum alias_kind *kind, struct index_info *from,
                  struct err *err) MUST_CHECK;

/* What the alias stands for: of a data stream ALIAS_ONE, where the pipeline has one; ALIAS_CONCRETE
 * where something else bears the name. */
int target_resolve(const struct target *t, enum alias_kind *kind, struct index_info *at,
                   struct err *err) MUST_CHECK;

/* The generation by its name. */
int target_look(const struct target *t, const char *name, bool *found, struct index_info *at,
                struct err *err) MUST_CHECK;

/* Creates the checkpoint's generation; of a stream that is there, makes it fit. */
int target_create(const struct target *t, const char *fingerprint, struct err *err) MUST_CHECK;

/* Opens it for writes, by the name in write_alias. */
int target_open(struct target *t, struct err *err) MUST_CHECK;

/* "put it back .., or .." by what a pipeline of this kind can do. */
int target_hint_anew(const struct target *t, const char *or_else, struct err *err);

/* The very index of the checkpoint. Where its uuid was not recorded any more, only one that bears
 * the mark which was recorded before it was created, a rebuild's the time of its wish, a first
 * load's the clock's ceiling: somebody with another state file may have chosen the same name. */
bool target_is_generation(const struct target *t, const struct index_info *index);

/* The index that is filled is there and the very one, ERR_STATE where it is not. */
int target_check_filled(struct target *t, struct err *err) MUST_CHECK;

/* Both are known, and alike. */
bool target_same_text(const char *a, const char *b);

/* *documents: of index `from`, which people search, that they would lose to a generation that has
 * none; 0 where it has some. */
int target_count_emptied(struct target *t, const char *from, int64_t *documents,
                         struct err *err) MUST_CHECK;

/* The consumer of the generation that was replaced by target_go_live, or abandoned; or "". */
const char *target_replaced(const struct target *t);

/* The same for any index. */
void target_consumer_name(const struct target *t, const char *index, const char *uuid,
                          struct buf *out);

/* A fingerprint of what makes a document of a row's values on this side: mapping, ingest pipeline.
 */
void target_fingerprint(const struct target *t, char out[17]);

/* Reads the checkpoint again. */
int target_reload(struct target *t, struct err *err) MUST_CHECK;

#endif
