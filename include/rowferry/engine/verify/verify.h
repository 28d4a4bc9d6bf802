/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verify: the index against the source, document by document, while both may change.
 *
 * The table's keys are listed in pages, their rows read and encoded as a sync would, and the index
 * asked for the same ids; then the index's keys are listed, and the table asked for those. What
 * differs there is only suspected. A difference is what is still there at a second look: the row as
 * it is now, none of its changes behind the checkpoint, and a document that nobody wrote while the
 * row was read. Nothing is written anywhere, and memory does not grow with the table.
 */
#ifndef ROWFERRY_ENGINE_VERIFY_H
#define ROWFERRY_ENGINE_VERIFY_H

#include "rowferry/document/compare/compare.h"
#include "rowferry/engine/pipeline/pipeline.h"
#include "rowferry/source/listing/listing.h"
#include "rowferry/source/pg/pg.h"

enum verify_kind {
    VERIFY_MISSING, /* a row without a document */
    VERIFY_EXTRA,   /* a document without a row */
    VERIFY_ALTERED,
    VERIFY_LETTER, /* the service does not take the row: a dead letter says why */
    VERIFY_KINDS,
};

struct verify_found {
    enum verify_kind kind;
    struct span key;
    bool impossible;     /* an extra one whose key no row can have */
    const char *reason;  /* of a letter, or why it differs; null: nothing more is known */
    struct span row;     /* the document as a sync would send it; data null: none */
    struct span indexed; /* as the service gives it back; data null: none */
    const struct compare_rules *rules;
};

struct verify_progress {
    const char *pipeline;
    const char *stage;  /* "rows", "documents", "looking again" */
    int64_t done;       /* of this stage */
    int64_t expected;   /* negative: not known */
    int64_t elapsed_ms; /* of this stage */
    int64_t differences;
};

/* All borrowed. */
struct verify_options {
    const struct pipeline_options *pipeline;
    const struct field *fields;
    size_t field_count;
    size_t sample;     /* so many keys by chance; 0: all */
    bool rows_only;    /* documents without a row are not looked for */
    bool building;     /* the generation of a rebuild, that nobody searches yet */
    int64_t settle_ms; /* how long a holder may take to settle what is looked at again */
    const volatile sig_atomic_t *stop;
    void (*found)(void *context, const struct verify_found *found); /* borrowed during the call;
                                                                       null: nobody is told */
    void (*again)(void *context); /* the index was replaced: what was found is void */
    void (*progress)(void *context, const struct verify_progress *progress);
    void *context;
};

struct verify_ports {
    const struct pipeline_ports *pipeline; /* the state may be read only */
    struct service *service;               /* the same service */
    const struct source_options *source;   /* for a connection that lists keys */
    const struct listing_options *listing;
};

struct verify_result {
    int64_t rows;      /* compared */
    int64_t documents; /* listed by the index */
    int64_t found[VERIFY_KINDS];
    int64_t waiting; /* differ, but changes of theirs are not synced yet */
    bool held;       /* by a sync or run that was at it meanwhile */
    bool halted;     /* the guard stopped the pipeline: what waits is waited for in vain */
    bool stopped;
    bool unlisted;      /* the service did not let the index be refreshed: late writes unseen */
    int64_t newest_us;  /* the newest version in the index, as a time; 0: none */
    int64_t settled_us; /* when the checkpoint was last moved */
    enum source_form form;
    char generation[256];
};

static inline int64_t verify_differences(const struct verify_result *r)
{
    return r->found[VERIFY_MISSING] + r->found[VERIFY_EXTRA] + r->found[VERIFY_ALTERED];
}

/* What differs may still be on its way: neither equal nor different. */
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

#endif
