/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checkpoint: the durable position, and the transaction that commits settled operations.
 *
 * The invariant: the checkpoint never passes an unsettled operation. The engine reports how many
 * operations at or before the position are unsettled. If that is not 0, checkpoint_settle aborts,
 * because a bug of ours must not lose a document. The transaction also contains the new and the
 * cleared dead letters of the same pages. The clock's ceiling only grows, except by
 * checkpoint_lower_ceiling.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/operation.h"
#include "rowferry/state/store.h"

enum generation_phase {
    GENERATION_NONE,     /* nothing built yet */
    GENERATION_BUILDING, /* created and being filled; the alias does not point at it */
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
    int64_t generation_number; /* the last number used */
    int64_t clock_ceiling;
    int64_t settled_at_us; /* wall clock of the last commit */
    int64_t documents;     /* settled operations of the generation so far */
};

int checkpoint_load(struct state *s, struct checkpoint *out, struct err *err) MUST_CHECK;
void checkpoint_release(struct checkpoint *c);

/* Appends the name of the consumer in the source that feeds this index of the pipeline. An index
 * may have been deleted and another one created with its name. */
void checkpoint_push_consumer(struct buf *out, const char *pipeline, const char *index,
                              const char *uuid);

/* A new dead letter. Texts are copied. */
struct new_letter {
    struct span key;
    enum operation_kind kind;
    struct span reason;     /* one line */
    struct span error_type; /* the service's error type; empty: none */
    int http_status;        /* 0: refused before it was sent */
    int64_t version;
};

/*
 * One commit. The dead letters in `letters` are added: if the key already has one, that one keeps
 * its first_us and gets the new reason and one more attempt. Then the dead letters of the cleared
 * keys are deleted. A key is in only one of the two lists.
 */
struct settlement {
    const char *position; /* null: dead letters only */
    uint64_t unsettled;   /* unsettled operations at or before the position: must be 0 */
    int64_t settled;      /* operations settled since the last commit */
    const struct new_letter *letters;
    size_t letter_count;
    const struct span *cleared; /* keys for which a later operation succeeded */
    size_t cleared_count;
    int64_t wall_us;
};

int checkpoint_settle(struct state *s, const struct settlement *settlement,
                      struct err *err) MUST_CHECK;

/* Makes a higher clock ceiling durable. */
int checkpoint_raise_ceiling(struct state *s, int64_t ceiling, struct err *err) MUST_CHECK;

/* Lowers the ceiling to `last`, the last version used, if it is higher. */
int checkpoint_lower_ceiling(struct state *s, int64_t last, struct err *err) MUST_CHECK;

/* Begins to build a new generation: sets name, fingerprints, source identity and number (higher
 * than the last one, else ERR_INTERNAL), position null, phase BUILDING. Dead letters belong to a
 * generation: those of an earlier one that never went live are deleted. */
int checkpoint_begin_generation(struct state *s, const struct checkpoint *generation,
                                struct err *err) MUST_CHECK;
/* Continues a pipeline from the checkpoint of another state file: sets phase LIVE, all of the
 * checkpoint but settled_at_us and documents, and the dead letters (text of deadletter_export),
 * whatever the row contained. *cut is the number of letters that the text counts but does not
 * contain. */
int checkpoint_take_over(struct state *s, const struct checkpoint *checkpoint, const char *letters,
                         int64_t wall_us, int64_t *cut, struct err *err) MUST_CHECK;
/* Records the UUID of the index, which exists now. */
int checkpoint_set_uuid(struct state *s, const char *uuid, struct err *err) MUST_CHECK;
/* Records that the alias points at the generation, and deletes the dead letters of former ones. */
int checkpoint_go_live(struct state *s, int64_t wall_us, struct err *err) MUST_CHECK;
