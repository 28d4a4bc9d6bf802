/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checkpoint: the durable position, and the one transaction that settles.
 *
 * The law: the checkpoint never passes an unsettled operation. The engine says how many operations
 * at or before the position are unsettled; any other number than 0 aborts (a bug of ours must not
 * become a lost document). Dead letters and clearings of the same pages are in the same
 * transaction. The clock's ceiling only grows.
 */
#ifndef ROWFERRY_STATE_CHECKPOINT_H
#define ROWFERRY_STATE_CHECKPOINT_H

#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/operation.h"
#include "rowferry/state/store.h"

enum generation_phase {
    GENERATION_NONE,     /* nothing built yet */
    GENERATION_BUILDING, /* created, being filled; the alias does not point at it */
    GENERATION_LIVE,     /* swapped in */
};

/* All texts are owned; checkpoint_release frees them. */
struct checkpoint {
    enum generation_phase phase;
    char *generation; /* the concrete index, null in NONE */
    char *index_uuid;
    char *mapping_fingerprint;
    char *table_fingerprint;
    char *source_identity;     /* "system/database" */
    char *position;            /* null: none yet */
    int64_t generation_number; /* the last that was used */
    int64_t clock_ceiling;
    int64_t settled_at_us; /* wall clock of the last commit */
    int64_t documents;     /* settled operations of the generation so far */
};

int checkpoint_load(struct state *s, struct checkpoint *out, struct err *err) MUST_CHECK;
void checkpoint_release(struct checkpoint *c);

/* A dead letter to be. Texts are copied. */
struct letter {
    struct span key;
    enum operation_kind kind;
    struct span reason;     /* one line */
    struct span error_type; /* the service's word for it; empty: none */
    int http_status;        /* 0: refused before it was sent */
    int64_t version;
};

/*
 * One settling transaction: the letters are added (a key that has one keeps its first_us, gets the
 * new reason and one attempt more), then the cleared keys lose theirs. A key is in one of both.
 */
struct settlement {
    const char *position; /* null: letters and clearings only */
    uint64_t unsettled;   /* operations at or before the position that are not settled: 0 */
    int64_t settled;      /* operations settled since the last one */
    const struct letter *letters;
    size_t letter_count;
    const struct span *cleared; /* keys of which a later operation is done */
    size_t cleared_count;
    int64_t wall_us;
};

int checkpoint_settle(struct state *s, const struct settlement *settlement,
                      struct err *err) MUST_CHECK;

/* Makes a higher clock ceiling durable. */
int checkpoint_raise_ceiling(struct state *s, int64_t ceiling, struct err *err) MUST_CHECK;

/* Gives back what lies above the last version that was ticked, where the ceiling is higher. */
int checkpoint_lower_ceiling(struct state *s, int64_t last, struct err *err) MUST_CHECK;

/* A new generation is about to be built: its name, fingerprints, source identity and number (higher
 * than the last, else ERR_INTERNAL); position null, phase BUILDING. Dead letters belong to a
 * generation: those of an earlier one that never went live go. */
int checkpoint_begin_generation(struct state *s, const struct checkpoint *generation,
                                struct err *err) MUST_CHECK;
/* A pipeline goes on where another state file of it stood: phase LIVE, all of the checkpoint but
 * settled_at_us and documents, and the dead letters (deadletter_export's text), whatever it had.
 * *cut: how many letters the text knows of and does not hold. */
int checkpoint_take_over(struct state *s, const struct checkpoint *checkpoint, const char *letters,
                         int64_t wall_us, int64_t *cut, struct err *err) MUST_CHECK;
/* Its index exists. */
int checkpoint_set_uuid(struct state *s, const char *uuid, struct err *err) MUST_CHECK;
/* The alias points at it now: the dead letters of former generations go. */
int checkpoint_go_live(struct state *s, int64_t wall_us, struct err *err) MUST_CHECK;

#endif
