/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents in SQLite. An index has a shelf: its documents, its tombstones and one text index for
 * each text field.
 *
 * A document's row is born at one refresh and dies at a later one; a search sees the rows that are
 * alive at the refresh that it looks at, a read by id the one that has not died.
 */
#ifndef DEVSEARCH_STORE_H
#define DEVSEARCH_STORE_H

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

/* path: the file, or null for memory. Null where it cannot be opened, with the reason. */
struct store *store_open(const char *path, struct refusal *refusal);
void store_close(struct store *s);
int store_begin(struct store *s, struct refusal *refusal);
int store_end(struct store *s, bool commit, struct refusal *refusal);

/* The catalogue's entries: one text for each index number. */
int store_entry_put(struct store *s, int64_t number, const char *json, struct refusal *refusal);
int store_entry_delete(struct store *s, int64_t number, struct refusal *refusal);
int store_entries(struct store *s, int (*entry)(void *context, int64_t number, const char *json),
                  void *context);

struct shelf *shelf_open(struct store *s, int64_t number, struct refusal *refusal);
void shelf_close(struct shelf *shelf);
int shelf_drop(struct shelf *shelf, struct refusal *refusal);

/* The largest sequence number and refresh that the shelf knows. */
int shelf_last(struct shelf *shelf, int64_t *seq, int64_t *refresh, struct refusal *refusal);

/* 1 and the live document (borrowed until the next call), or 0. */
int shelf_find(struct shelf *shelf, struct span id, struct stored *out, struct refusal *refusal);
int shelf_by_row(struct shelf *shelf, int64_t row, struct stored *out, struct refusal *refusal);

/* Adds a document that is searchable from the refresh `born` on; row is filled. */
int shelf_put(struct shelf *shelf, const struct stored *doc, int64_t born, int64_t *row,
              struct refusal *refusal);
/* The row is seen by no search from the refresh `died` on, and by no read. */
int shelf_kill(struct shelf *shelf, int64_t row, int64_t died, struct refusal *refusal);

/* 1 and version of a tombstone that is not older than `since_ms`, or 0. */
int shelf_tombstone(struct shelf *shelf, struct span id, int64_t since_ms, int64_t *version,
                    struct refusal *refusal);
int shelf_bury(struct shelf *shelf, struct span id, int64_t version, int64_t at_ms,
               struct refusal *refusal);

/* Removes rows that died at or before the refresh and tombstones older than `since_ms`. */
int shelf_purge(struct shelf *shelf, int64_t refresh, int64_t since_ms, struct refusal *refusal);

/* Every row that is alive at the refresh, in the order of arrival; ends where `each` says so. */
int shelf_scan(struct shelf *shelf, int64_t refresh,
               int (*each)(void *context, const struct stored *doc), void *context,
               struct refusal *refusal);
/* The same in the order of the texts in "source_id", from one on; rows without it do not come. */
int shelf_scan_keys(struct shelf *shelf, int64_t refresh, struct span from,
                    int (*each)(void *context, const struct stored *doc), void *context,
                    struct refusal *refusal);
/* Whether the row is alive at the refresh; fills `out` then. */
int shelf_alive(struct shelf *shelf, int64_t row, int64_t refresh, struct stored *out,
                struct refusal *refusal);

int shelf_text_add(struct shelf *shelf, const char *path, int64_t row, struct span text,
                   struct refusal *refusal);
/* Rows and scores of an FTS5 expression over one text field. */
int shelf_text_match(struct shelf *shelf, const char *path, const char *expression,
                     void (*each)(void *context, int64_t row, double score), void *context,
                     struct refusal *refusal);

/* Live documents, and the bytes of their sources. */
int shelf_size(struct shelf *shelf, int64_t refresh, int64_t *count, int64_t *bytes,
               struct refusal *refusal);

#endif
