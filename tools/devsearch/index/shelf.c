/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the documents, tombstones and text indexes of one index. */
#include "index/store_private.h"

static void bind_bytes(sqlite3_stmt *q, int place, struct span bytes)
{
    sqlite3_bind_blob64(q, place, bytes.len > 0 ? bytes.data : "", bytes.len, SQLITE_STATIC);
}

static struct span column(sqlite3_stmt *q, int place)
{
    const char *data = sqlite3_column_blob(q, place);
    return span_make(data != NULL ? data : "", (size_t)sqlite3_column_bytes(q, place));
}

static void fill(sqlite3_stmt *q, struct stored *out)
{
    out->row = sqlite3_column_int64(q, 0);
    out->id = column(q, 1);
    out->version = sqlite3_column_int64(q, 2);
    out->seq = sqlite3_column_int64(q, 3);
    out->source = column(q, 4);
}

static sqlite3_stmt *fresh(struct shelf *shelf, enum query query)
{
    sqlite3_reset(shelf->queries[query]);
    return shelf->queries[query];
}

/* Returns 1 if there is a row. The statement stays open, because `out` borrows from it. */
static int step_row(struct shelf *shelf, sqlite3_stmt *q, struct stored *out,
                    struct refusal *refusal)
{
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) {
        fill(q, out);
        return 1;
    }
    sqlite3_reset(q);
    return rc == SQLITE_DONE ? 0 : store_refuse(shelf->store, refusal);
}

static int step_done(struct shelf *shelf, sqlite3_stmt *q, struct refusal *refusal)
{
    int rc = sqlite3_step(q);
    sqlite3_reset(q);
    return rc == SQLITE_DONE ? 0 : store_refuse(shelf->store, refusal);
}

int shelf_find(struct shelf *shelf, struct span id, struct stored *out, struct refusal *refusal)
{
    sqlite3_stmt *q = fresh(shelf, QUERY_FIND);
    bind_bytes(q, 1, id);
    return step_row(shelf, q, out, refusal);
}

int shelf_by_row(struct shelf *shelf, int64_t row, struct stored *out, struct refusal *refusal)
{
    sqlite3_stmt *q = fresh(shelf, QUERY_BY_ROW);
    sqlite3_bind_int64(q, 1, row);
    return step_row(shelf, q, out, refusal);
}

int shelf_alive(struct shelf *shelf, int64_t row, int64_t refresh, struct stored *out,
                struct refusal *refusal)
{
    sqlite3_stmt *q = fresh(shelf, QUERY_ALIVE);
    sqlite3_bind_int64(q, 1, row);
    sqlite3_bind_int64(q, 2, refresh);
    return step_row(shelf, q, out, refusal);
}

int shelf_put(struct shelf *shelf, const struct stored *doc, int64_t born, int64_t *row,
              struct refusal *refusal)
{
    sqlite3_stmt *q = fresh(shelf, QUERY_UNBURY);
    bind_bytes(q, 1, doc->id);
    if (step_done(shelf, q, refusal) != 0) {
        return -1;
    }
    q = fresh(shelf, QUERY_PUT);
    bind_bytes(q, 1, doc->id);
    sqlite3_bind_int64(q, 2, doc->version);
    sqlite3_bind_int64(q, 3, doc->seq);
    sqlite3_bind_int64(q, 4, born);
    bind_bytes(q, 5, doc->source);
    int rc = step_done(shelf, q, refusal);
    *row = sqlite3_last_insert_rowid(shelf->store->db);
    return rc;
}

int shelf_kill(struct shelf *shelf, int64_t row, int64_t died, struct refusal *refusal)
{
    sqlite3_reset(shelf->queries[QUERY_FIND]);
    sqlite3_stmt *q = fresh(shelf, QUERY_KILL);
    sqlite3_bind_int64(q, 1, row);
    sqlite3_bind_int64(q, 2, died);
    return step_done(shelf, q, refusal);
}

int shelf_tombstone(struct shelf *shelf, struct span id, int64_t since_ms, int64_t *version,
                    struct refusal *refusal)
{
    sqlite3_stmt *q = fresh(shelf, QUERY_TOMBSTONE);
    bind_bytes(q, 1, id);
    sqlite3_bind_int64(q, 2, since_ms);
    int rc = sqlite3_step(q);
    *version = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_reset(q);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        return store_refuse(shelf->store, refusal);
    }
    return rc == SQLITE_ROW ? 1 : 0;
}

int shelf_bury(struct shelf *shelf, struct span id, int64_t version, int64_t at_ms,
               struct refusal *refusal)
{
    sqlite3_stmt *q = fresh(shelf, QUERY_BURY);
    bind_bytes(q, 1, id);
    sqlite3_bind_int64(q, 2, version);
    sqlite3_bind_int64(q, 3, at_ms);
    return step_done(shelf, q, refusal);
}

int shelf_purge(struct shelf *shelf, int64_t refresh, int64_t since_ms, struct refusal *refusal)
{
    sqlite3_stmt *q = fresh(shelf, QUERY_PURGE);
    sqlite3_bind_int64(q, 1, refresh);
    if (step_done(shelf, q, refusal) != 0) {
        return -1;
    }
    q = fresh(shelf, QUERY_PURGE_TOMBS);
    sqlite3_bind_int64(q, 1, since_ms);
    return step_done(shelf, q, refusal);
}

static int scan(struct shelf *shelf, sqlite3_stmt *q,
                int (*each)(void *context, const struct stored *doc), void *context,
                struct refusal *refusal)
{
    struct stored doc;
    int more;
    while ((more = step_row(shelf, q, &doc, refusal)) > 0) {
        if (each(context, &doc) != 0) {
            more = 0;
            break;
        }
    }
    sqlite3_reset(q);
    return more;
}

int shelf_scan(struct shelf *shelf, int64_t refresh,
               int (*each)(void *context, const struct stored *doc), void *context,
               struct refusal *refusal)
{
    sqlite3_stmt *q = fresh(shelf, QUERY_SCAN);
    sqlite3_bind_int64(q, 1, refresh);
    return scan(shelf, q, each, context, refusal);
}

/* Creates the key index on first use, because writes are faster without it. */
static int index_keys(struct shelf *shelf, struct refusal *refusal)
{
    char *sql = sqlite3_mprintf("create index if not exists keys_%lld on doc_%lld(" SOURCE_ID ")",
                                (long long)shelf->number, (long long)shelf->number);
    int rc = shelf->keys_indexed ? 0 : store_run(shelf->store, sql, refusal);
    sqlite3_free(sql);
    shelf->keys_indexed = rc == 0;
    return rc;
}

int shelf_scan_keys(struct shelf *shelf, int64_t refresh, struct span from,
                    int (*each)(void *context, const struct stored *doc), void *context,
                    struct refusal *refusal)
{
    if (index_keys(shelf, refusal) != 0) {
        return -1;
    }
    sqlite3_stmt *q = fresh(shelf, QUERY_SCAN_KEYS);
    sqlite3_bind_int64(q, 1, refresh);
    sqlite3_bind_text64(q, 2, from.len > 0 ? from.data : "", from.len, SQLITE_STATIC, SQLITE_UTF8);
    return scan(shelf, q, each, context, refusal);
}

int shelf_size(struct shelf *shelf, int64_t refresh, int64_t *count, int64_t *bytes,
               struct refusal *refusal)
{
    sqlite3_stmt *q = fresh(shelf, QUERY_SIZE);
    sqlite3_bind_int64(q, 1, refresh);
    int rc = sqlite3_step(q);
    *count = sqlite3_column_int64(q, 0);
    *bytes = sqlite3_column_int64(q, 1);
    sqlite3_reset(q);
    return rc == SQLITE_ROW ? 0 : store_refuse(shelf->store, refusal);
}

int shelf_last(struct shelf *shelf, int64_t *seq, int64_t *refresh, struct refusal *refusal)
{
    sqlite3_stmt *q = fresh(shelf, QUERY_LAST);
    int rc = sqlite3_step(q);
    *seq = sqlite3_column_int64(q, 0);
    *refresh = sqlite3_column_int64(q, 1);
    sqlite3_reset(q);
    return rc == SQLITE_ROW ? 0 : store_refuse(shelf->store, refusal);
}

/* Returns the text index of a field, created on first use; its name contains a hash of the path. */
static struct text_index *text_index(struct shelf *shelf, const char *path, struct refusal *refusal)
{
    for (size_t i = 0; i < shelf->text_count; i++) {
        if (strcmp(shelf->texts[i].path, path) == 0) {
            return &shelf->texts[i];
        }
    }
    unsigned long long name = text_hash(path, strlen(path));
    char *sql = sqlite3_mprintf("create virtual table if not exists fts_%lld_%016llx using "
                                "fts5(v, content='', tokenize='standard')",
                                (long long)shelf->number, name);
    int rc = store_run(shelf->store, sql, refusal);
    sqlite3_free(sql);
    sqlite3_stmt *add = NULL;
    if (rc != 0 ||
        store_prepare(shelf->store, &add, "insert into fts_%lld_%016llx(rowid, v) values (?1, ?2)",
                      (long long)shelf->number, name) != 0) {
        store_refuse(shelf->store, refusal);
        return NULL;
    }
    shelf->texts = mem_grow(shelf->texts, shelf->text_count + 1, sizeof(*shelf->texts));
    shelf->texts[shelf->text_count] = (struct text_index){text_copy(path), add};
    return &shelf->texts[shelf->text_count++];
}

int shelf_text_add(struct shelf *shelf, const char *path, int64_t row, struct span text,
                   struct refusal *refusal)
{
    struct text_index *index = text_index(shelf, path, refusal);
    if (index == NULL) {
        return -1;
    }
    sqlite3_bind_int64(index->add, 1, row);
    sqlite3_bind_text64(index->add, 2, text.data, text.len, SQLITE_STATIC, SQLITE_UTF8);
    return step_done(shelf, index->add, refusal);
}

int shelf_text_match(struct shelf *shelf, const char *path, const char *expression,
                     void (*each)(void *context, int64_t row, double score), void *context,
                     struct refusal *refusal)
{
    if (text_index(shelf, path, refusal) == NULL) {
        return -1;
    }
    unsigned long long name = text_hash(path, strlen(path));
    sqlite3_stmt *q = NULL;
    if (store_prepare(shelf->store, &q,
                      "select rowid, -bm25(fts_%lld_%016llx) from fts_%lld_%016llx where "
                      "fts_%lld_%016llx match ?1",
                      (long long)shelf->number, name, (long long)shelf->number, name,
                      (long long)shelf->number, name) != 0) {
        return store_refuse(shelf->store, refusal);
    }
    sqlite3_bind_text(q, 1, expression, -1, SQLITE_STATIC);
    int rc;
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        each(context, sqlite3_column_int64(q, 0), sqlite3_column_double(q, 1));
    }
    sqlite3_finalize(q);
    return rc == SQLITE_DONE ? 0 : store_refuse(shelf->store, refusal);
}
