/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generation that a pipeline writes to: found, built, and swapped in.
 *
 * Searches use the alias. Writes use a separate write alias of the generation, so that a late
 * request cannot recreate a deleted index (service/index/index.h). Before the first write, the
 * state file is checked against the service: same index (uuid), same mapping, and both aliases in
 * place. After a crash between swap and commit the alias is authoritative. Without a checkpoint,
 * the live generation is continued if its definition matches and the source has a checkpoint
 * backup.
 */
#pragma once

#include "guard/guard.h"
#include "rowferry/base/clock.h"
#include "rowferry/engine/generation/pipeline_definition.h"
#include "rowferry/engine/port.h"
#include "rowferry/state/checkpoint.h"

/* The rebuild that a generation belongs to. */
struct generation_rebuild {
    bool adopt;       /* an index with the alias's name may be replaced */
    int64_t begun_us; /* time of the request, identifies its indices; 0: no rebuild */
    int64_t keep;     /* former generations to keep if the generation is found swapped in */
};

/* Result of place_check. */
struct generation_place {
    char text[512]; /* of the source, and of the index after place_settle; empty: unknown */
    bool moved;     /* the index names another one */
    bool noted;     /* the state file names this one */
};

struct generation {
    const struct pipeline_definition *definition; /* borrowed; of a data stream, the stream is the
                                                     only generation (generation_stream.c) */
    struct source_port source;                    /* connected */
    struct service_port service;
    struct state *state;
    struct clock clock;
    struct source_facts facts;
    struct product_info product;  /* of the service */
    struct buf replaced;          /* consumer of the generation that a swap replaced */
    struct checkpoint checkpoint; /* as in the state file, kept current */
    const struct guard *guard; /* borrowed: limits the documents that searches may lose in a swap */
    bool taken_over;           /* this run took the checkpoint over from the source */
    enum pipeline_rivals rivals;
    bool next; /* rebuild: built beside the live one, without a takeover */
    struct generation_rebuild rebuild;
    bool observes;                             /* read-only: another process writes it */
    struct drift_found drift;                  /* result of the last comparison, see schema.c */
    char write_alias[INDEX_WRITE_ALIAS_BYTES]; /* of the generation; empty: not opened for writes */
    char extended[512];                        /* properties that this run added; empty: none */
    struct generation_place place;
    char creator[17]; /* mark of the index that this run creates or resumes */
};

/* Reads the checkpoint. */
int generation_init(struct generation *t, struct err *err) MUST_CHECK;
void generation_release(struct generation *t);

/* Promotes the generation of a rebuild if the alias points at it but the swap was not recorded.
 * Only the lock holder may call this. */
int generation_end_rebuild(struct generation *t, struct err *err) MUST_CHECK;

/* On success the checkpoint is BUILDING or LIVE, and its generation exists and is ours. */
int generation_prepare(struct generation *t, struct err *err) MUST_CHECK;

/* Puts a complete generation behind the alias: refreshes, swaps atomically, records. May be
 * repeated after a failure at any point. */
int generation_go_live(struct generation *t, struct err *err) MUST_CHECK;

/* Appends the name of this generation's consumer in the source. */
void generation_consumer(const struct generation *t, struct buf *out);

/* Finds the index that a swap would take the alias from. *kind is ALIAS_ABSENT, ALIAS_ONE, or
 * ALIAS_CONCRETE if it may be adopted. Returns an error for an index that is not ours. */
int generation_holder(struct generation *t, enum alias_kind *kind, struct index_info *from,
                      struct err *err) MUST_CHECK;

/* Resolves the alias. For a data stream *kind is ALIAS_ONE if the stream exists, and
 * ALIAS_CONCRETE if an index or alias has its name. */
int generation_resolve(const struct generation *t, enum alias_kind *kind, struct index_info *at,
                       struct err *err) MUST_CHECK;

/* Looks up a generation by name. */
int generation_look(const struct generation *t, const char *name, bool *found,
                    struct index_info *at, struct err *err) MUST_CHECK;

/* Creates the checkpoint's generation, or adapts an existing data stream. */
int generation_create(const struct generation *t, const char *fingerprint,
                      struct err *err) MUST_CHECK;

/* Opens it for writes and sets write_alias. */
int generation_open(struct generation *t, struct err *err) MUST_CHECK;

/* Sets the hint "put it back .., or .." with the commands that this kind of pipeline supports. */
int generation_hint_anew(const struct generation *t, const char *or_else, struct err *err);

/* Returns true if the index is the checkpoint's generation. If its uuid was not recorded, the
 * creator mark must match, because another state file may have chosen the same name. The mark was
 * recorded before the index was created: the time of the request for a rebuild, the clock's
 * ceiling for an initial load. */
bool generation_is_generation(const struct generation *t, const struct index_info *index);

/* Checks that the index being filled still exists with the same uuid; ERR_STATE if not. */
int generation_check_filled(struct generation *t, struct err *err) MUST_CHECK;

/* Returns true if both are known and equal. */
bool generation_same_text(const char *a, const char *b);

/*
 * Counts the documents of the generation and of index `from`, which people search, and says whether
 * the guard refuses that the one takes the place of the other. May be called again.
 */
int generation_judge_swap(struct generation *t, const struct guard_limits *limits, int64_t allowed,
                          const char *from, struct swap_loss *out, struct err *err) MUST_CHECK;

/* Returns the consumer of the generation that generation_go_live replaced or that was abandoned; or
 * "". */
const char *generation_replaced(const struct generation *t);

/* Same as generation_consumer, for any index. */
void generation_consumer_name(const struct generation *t, const char *index, const char *uuid,
                              struct buf *out);

/* Computes a fingerprint of mapping and ingest pipeline, which determine the documents on this
 * side. */
void schema_fingerprint(const struct generation *t, char out[17]);

/* Reads the checkpoint again. */
int generation_reload(struct generation *t, struct err *err) MUST_CHECK;
