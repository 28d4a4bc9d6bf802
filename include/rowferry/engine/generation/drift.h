/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drift: in what a pipeline is another than its index was built from, line by line, and whether
 * the index can take that as it is.
 *
 * A fingerprint says that something differs; its words (state/definition.h) say what. Additive is
 * only what adds properties, or sub-fields of them, and the columns that fill these, and leaves
 * every other line as it was: then all that was written is still right, but for what it lacks. So
 * the change log's position, dead letters and versions stay. Everything else, and everything of
 * which the words are not known, asks for a rebuild.
 *
 * Pure.
 */
#ifndef ROWFERRY_ENGINE_DRIFT_H
#define ROWFERRY_ENGINE_DRIFT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

enum drift_kind {
    DRIFT_NONE,
    DRIFT_ADDITIVE, /* a holder adds it to the live index; older documents lack it */
    DRIFT_REBUILD,
};

/* One side: of the index, and of the pipeline as it is now. All borrowed; words may be null. */
struct drift_side {
    const char *identity; /* of the source */
    const char *mapping;  /* fingerprints */
    const char *table;
    const char *mapping_words;
    const char *table_words;
};

struct drift_found {
    enum drift_kind kind;
    const char *what; /* what differs as a whole, for a sentence "... that the index was built
                         from"; null for DRIFT_NONE */
    char **lines;     /* "title: type text -> keyword"; none where words are not known */
    size_t line_count;
    char **added; /* DRIFT_ADDITIVE: the properties, "body", "title.raw"; may be none, where only
                     the order of things differs */
    size_t added_count;
    char *additions; /* DRIFT_ADDITIVE: the "properties" object that adds them */
};

void drift_find(struct drift_found *out, const struct drift_side *was, const struct drift_side *is);
void drift_release(struct drift_found *d);

/* --- words -------------------------------------------------------------------------------------
 */

enum word_kind {
    WORD_PART = 'p',   /* key, where, query ... */
    WORD_COLUMN = 'c', /* a column that is read, and its type */
    WORD_FIELD = 'f',  /* a property, and the column that fills it */
};

/* Appends one line of a table's words. */
void words_push(struct buf *words, enum word_kind kind, const char *name, const char *value);

/* Appends a mapping's words: the mapping as it is sent, and the ingest pipeline (null: none). */
void words_push_mapping(struct buf *words, const char *mappings, const char *ingest_pipeline);

#endif
