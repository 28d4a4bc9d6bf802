/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drift: how a pipeline differs from the definition that its index was built from, line by line,
 * and whether the live index can be extended to match.
 *
 * Fingerprints only show that two definitions differ. Their canonical texts (state/definition.h)
 * show how. A difference is additive if it only adds properties or sub-fields and the columns that
 * fill them. Then all existing documents remain correct except for the new properties, so the
 * change log's position, dead letters and versions stay valid. Any other difference requires a
 * rebuild, and so does one whose canonical text is unknown.
 *
 * Pure functions: no I/O.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct buf;

enum drift_kind {
    DRIFT_NONE,
    DRIFT_ADDITIVE, /* the lock holder adds it to the live index; older documents lack it */
    DRIFT_REBUILD,
};

/* One side of the comparison: the index's definition, or the pipeline's current one. All pointers
 * are borrowed; the canonical texts (mapping_words, table_words) may be null. */
struct drift_side {
    const char *identity; /* identity of the source */
    const char *mapping;  /* fingerprint, and the same for table */
    const char *table;
    const char *mapping_words;
    const char *table_words;
};

struct drift_found {
    enum drift_kind kind;
    const char *what; /* summary of the difference, completes the sentence "... that the index was
                         built from"; null for DRIFT_NONE */
    char **lines;     /* "title: type text -> keyword"; empty if a canonical text is unknown */
    size_t line_count;
    char **added; /* DRIFT_ADDITIVE: added properties ("body", "title.raw"); may be empty if only
                     the order differs */
    size_t added_count;
    char *additions; /* DRIFT_ADDITIVE: the JSON object "properties" that adds them */
};

void drift_find(struct drift_found *out, const struct drift_side *was, const struct drift_side *is);
void drift_release(struct drift_found *d);

/* --- canonical text -------------------------------------------------------------------------- */

enum word_kind {
    WORD_PART = 'p',   /* key, where, query ... */
    WORD_COLUMN = 'c', /* a column that is read, and its type */
    WORD_FIELD = 'f',  /* a property, and the column that fills it */
};

/* Appends one line to the canonical text of a table definition. */
void drift_words_push(struct buf *words, enum word_kind kind, const char *name, const char *value);

/* Appends the canonical text of a mapping: the mapping as sent, and the ingest pipeline (null if
 * unused). */
void drift_words_push_mapping(struct buf *words, const char *mappings, const char *ingest_pipeline);
