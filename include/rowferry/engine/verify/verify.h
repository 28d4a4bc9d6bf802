/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verify: compares the index with the source, document by document, while both may change.
 *
 * It lists the table's keys in pages, reads and encodes their rows as a sync would, and fetches the
 * same ids from the index. Then it lists the index's keys and looks them up in the table. A
 * mismatch is only a suspect at first. It counts as a difference if a second look still finds it:
 * with the current row, no change of the row behind the checkpoint, and a document that was not
 * written while the row was read. Verify writes nothing, and its memory does not grow with the
 * table.
 */
#pragma once

#include "rowferry/document/compare/compare.h"
#include "rowferry/engine/pipeline/pipeline.h"
#include "rowferry/source/listing/listing.h"
#include "rowferry/source/pg/pg.h"

enum verify_kind {
    VERIFY_MISSING, /* a row without a document */
    VERIFY_EXTRA,   /* a document without a row */
    VERIFY_ALTERED,
    VERIFY_LETTER, /* the service rejects the row; a dead letter records the reason */
    VERIFY_KINDS,
};

struct verify_found {
    enum verify_kind kind;
    struct span key;
    bool impossible;     /* VERIFY_EXTRA: no row can have this key */
    const char *reason;  /* of the dead letter, or why it differs; null: unknown */
    struct span row;     /* the document as a sync would send it; data null: none */
    struct span indexed; /* as returned by the service; data null: none */
    const struct compare_rules *rules;
};

struct verify_progress {
    const char *pipeline;
    const char *stage;  /* "rows", "documents", "looking again" */
    int64_t done;       /* of this stage */
    int64_t expected;   /* negative: unknown */
    int64_t elapsed_ms; /* of this stage */
    int64_t differences;
};

/* All pointers are borrowed. */
struct verify_options {
    const struct pipeline_options *pipeline;
    const struct field *fields;
    size_t field_count;
    size_t sample;     /* number of random keys to check; 0: all */
    bool rows_only;    /* do not look for documents without a row */
    bool building;     /* check the generation of a rebuild, which is not live yet */
    int64_t settle_ms; /* time limit for the lock holder to settle what is rechecked */
    const volatile sig_atomic_t *stop;
    void (*found)(void *context, const struct verify_found *found); /* borrowed; may be null */
    void (*again)(void *context); /* the index was replaced: discard earlier differences */
    void (*progress)(void *context, const struct verify_progress *progress);
    void *context;
};

/* Ports of a verify or a rebuild. */
struct verify_ports {
    const struct pipeline_ports *pipeline; /* verify: the state file may be read-only */
    struct service *service;               /* the same service */
    const struct source_options *source;   /* for a connection that lists keys */
    const struct listing_options *listing;
};

struct verify_result {
    int64_t rows;      /* compared */
    int64_t documents; /* listed by the index */
    int64_t found[VERIFY_KINDS];
    int64_t waiting; /* differences whose changes are not synced yet */
    bool held;       /* a sync or run was active during the check */
    bool halted;     /* the guard stopped the pipeline: pending changes will not be synced */
    bool stopped;
    bool unlisted; /* the service did not allow a refresh of the index: recent writes may be missing
                    */
    int64_t newest_us;  /* the newest version in the index, as a time; 0: unknown */
    int64_t settled_us; /* when the checkpoint last moved */
    enum source_form form;
    char generation[256];
};

static inline int64_t verify_differences(const struct verify_result *r)
{
    return r->found[VERIFY_MISSING] + r->found[VERIFY_EXTRA] + r->found[VERIFY_ALTERED];
}

/* Returns true if the result is inconclusive because changes are still pending. */
static inline bool verify_unsure(const struct verify_result *r)
{
    return r->waiting > 0 || r->stopped;
}

static inline bool verify_equal(const struct verify_result *r)
{
    return verify_differences(r) == 0 && r->found[VERIFY_LETTER] == 0 && !verify_unsure(r);
}

int verify_run(const struct verify_options *options, const struct verify_ports *ports,
               struct verify_result *result, struct err *err) MUST_CHECK;
