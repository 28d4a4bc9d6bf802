/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Document storage in SQLite. Each index has a shelf: documents, tombstones and one text index per
 * text field.
 *
 * A row is born at one refresh and dies at a later one. A search sees the rows alive at its
 * refresh; a read by id sees the row that has not died.
 */
#pragma once

#include "base/answer.h"

struct store;
struct shelf;

struct stored {
    int64_t row;
    struct span id;
    int64_t version;
    int64_t seq;
    struct span source;
};

/* Opens the file at path, or memory if path is null. Returns null with the reason on failure. */
struct store *store_open(const char *path, struct refusal *refusal);
void store_close(struct store *s);
int store_begin(struct store *s, struct refusal *refusal);
int store_end(struct store *s, bool commit, struct refusal *refusal);

/* Catalogue entries: one text per index number. */
int store_entry_put(struct store *s, int64_t number, const char *json, struct refusal *refusal);
int store_entry_delete(struct store *s, int64_t number, struct refusal *refusal);
int store_entries(struct store *s, int (*entry)(void *context, int64_t number, const char *json),
                  void *context);

struct shelf *shelf_open(struct store *s, int64_t number, struct refusal *refusal);
void shelf_close(struct shelf *shelf);
int shelf_drop(struct shelf *shelf, struct refusal *refusal);

/* Returns the largest sequence number and refresh of the shelf. */
int shelf_last(struct shelf *shelf, int64_t *seq, int64_t *refresh, struct refusal *refusal);

/* Returns 1 with the live document (borrowed until the next call), or 0. */
int shelf_find(struct shelf *shelf, struct span id, struct stored *out, struct refusal *refusal);
int shelf_by_row(struct shelf *shelf, int64_t row, struct stored *out, struct refusal *refusal);

/* Adds a document that is searchable from the refresh `born` on; fills *row. */
int shelf_put(struct shelf *shelf, const struct stored *doc, int64_t born, int64_t *row,
              struct refusal *refusal);
/* Hides the row from reads, and from searches at the refresh `died` and later. */
int shelf_kill(struct shelf *shelf, int64_t row, int64_t died, struct refusal *refusal);

/* Returns 1 with the version of a tombstone not older than `since_ms`, or 0. */
int shelf_tombstone(struct shelf *shelf, struct span id, int64_t since_ms, int64_t *version,
                    struct refusal *refusal);
int shelf_bury(struct shelf *shelf, struct span id, int64_t version, int64_t at_ms,
               struct refusal *refusal);

/* Removes rows that died at or before the refresh, and tombstones older than `since_ms`. */
int shelf_purge(struct shelf *shelf, int64_t refresh, int64_t since_ms, struct refusal *refusal);

/* Calls `each` for the rows alive at the refresh, in insertion order, until it returns nonzero. */
int shelf_scan(struct shelf *shelf, int64_t refresh,
               int (*each)(void *context, const struct stored *doc), void *context,
               struct refusal *refusal);
/* Like shelf_scan in the order of "source_id", starting at `from`; skips rows without it. */
int shelf_scan_keys(struct shelf *shelf, int64_t refresh, struct span from,
                    int (*each)(void *context, const struct stored *doc), void *context,
                    struct refusal *refusal);
/* Returns true and fills `out` if the row is alive at the refresh. */
int shelf_alive(struct shelf *shelf, int64_t row, int64_t refresh, struct stored *out,
                struct refusal *refusal);

int shelf_text_add(struct shelf *shelf, const char *path, int64_t row, struct span text,
                   struct refusal *refusal);
/* Calls `each` with rows and scores of an FTS5 expression on one text field. */
int shelf_text_match(struct shelf *shelf, const char *path, const char *expression,
                     void (*each)(void *context, int64_t row, double score), void *context,
                     struct refusal *refusal);

/* Counts the live documents and the bytes of their sources. */
int shelf_size(struct shelf *shelf, int64_t refresh, int64_t *count, int64_t *bytes,
               struct refusal *refusal);
