/* SPDX-License-Identifier: Apache-2.0 */
/* The database, its catalogue entries and the tables of shelves. */
#include "index/store.h"
#include "base/tokens.h"
#include "index/store_private.h"

#include <stdlib.h>

int store_refuse(struct store *s, struct refusal *refusal)
{
    return refuse(refusal, 500, "devsearch_storage_exception", "sqlite: %s", sqlite3_errmsg(s->db));
}

int store_run(struct store *s, const char *sql, struct refusal *refusal)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_refuse(s, refusal);
}

int store_prepare(struct store *s, sqlite3_stmt **out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    int rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    sqlite3_free(sql);
    return rc == SQLITE_OK ? 0 : -1;
}

static const char schema[] =
    "pragma page_size = 8192; pragma journal_mode = memory; pragma synchronous = off;"
    "pragma temp_store = memory; pragma locking_mode = exclusive;"
    "create table if not exists entry(number integer primary key, json text not null);";

struct store *store_open(const char *path, struct refusal *refusal)
{
    struct store *s = mem_zero(1, sizeof(*s));
    if (sqlite3_open(path != NULL ? path : ":memory:", &s->db) != SQLITE_OK ||
        tokens_register(s->db) != SQLITE_OK || store_run(s, schema, refusal) != 0) {
        store_refuse(s, refusal);
        store_close(s);
        return NULL;
    }
    return s;
}

void store_close(struct store *s)
{
    if (s != NULL) {
        sqlite3_close(s->db);
        free(s);
    }
}

int store_begin(struct store *s, struct refusal *refusal)
{
    return store_run(s, "begin", refusal);
}

int store_end(struct store *s, bool commit, struct refusal *refusal)
{
    if (commit) {
        return store_run(s, "commit", refusal);
    }
    sqlite3_exec(s->db, "rollback", NULL, NULL, NULL);
    return 0;
}

int store_entry_put(struct store *s, int64_t number, const char *json, struct refusal *refusal)
{
    sqlite3_stmt *q = NULL;
    if (store_prepare(s, &q, "insert or replace into entry values (?1, ?2)") != 0) {
        return store_refuse(s, refusal);
    }
    sqlite3_bind_int64(q, 1, number);
    sqlite3_bind_text(q, 2, json, -1, SQLITE_STATIC);
    sqlite3_step(q);
    return sqlite3_finalize(q) == SQLITE_OK ? 0 : store_refuse(s, refusal);
}

int store_entry_delete(struct store *s, int64_t number, struct refusal *refusal)
{
    char *sql = sqlite3_mprintf("delete from entry where number = %lld", (long long)number);
    int rc = store_run(s, sql, refusal);
    sqlite3_free(sql);
    return rc;
}

int store_entries(struct store *s, int (*entry)(void *context, int64_t number, const char *json),
                  void *context)
{
    sqlite3_stmt *q = NULL;
    int rc = store_prepare(s, &q, "select number, json from entry order by number");
    while (rc == 0 && sqlite3_step(q) == SQLITE_ROW) {
        rc = entry(context, sqlite3_column_int64(q, 0), (const char *)sqlite3_column_text(q, 1));
    }
    sqlite3_finalize(q);
    return rc;
}

/* Statements of a shelf; %lld is the index number. A live row has died = INT64_MAX. */
static const char *const statements[QUERY_COUNT] = {
    [QUERY_FIND] = "select row, id, version, seq, source from doc_%lld where id = ?1 and died = "
                   "9223372036854775807",
    [QUERY_BY_ROW] = "select row, id, version, seq, source from doc_%lld where row = ?1",
    [QUERY_ALIVE] = "select row, id, version, seq, source from doc_%lld where row = ?1 and "
                    "born <= ?2 and died > ?2",
    [QUERY_PUT] = "insert into doc_%lld(id, version, seq, born, died, source) values "
                  "(?1, ?2, ?3, ?4, 9223372036854775807, ?5)",
    [QUERY_KILL] = "update doc_%lld set died = ?2 where row = ?1",
    [QUERY_TOMBSTONE] = "select version from tomb_%lld where id = ?1 and at >= ?2",
    [QUERY_BURY] = "insert or replace into tomb_%lld values (?1, ?2, ?3)",
    [QUERY_UNBURY] = "delete from tomb_%lld where id = ?1",
    [QUERY_PURGE] = "delete from doc_%lld where died <= ?1 and died < 9223372036854775807",
    [QUERY_PURGE_TOMBS] = "delete from tomb_%lld where at < ?1",
    [QUERY_SCAN] = "select row, id, version, seq, source from doc_%lld where born <= ?1 and "
                   "died > ?1 order by row",
    [QUERY_SCAN_KEYS] = "select row, id, version, seq, source from doc_%lld where born <= ?1 and "
                        "died > ?1 and " SOURCE_ID " >= ?2 order by " SOURCE_ID,
    [QUERY_SIZE] = "select count(*), sum(length(source)) from doc_%lld where born <= ?1 and "
                   "died > ?1",
    [QUERY_LAST] = "select max(seq), max(max(born), max(case died when 9223372036854775807 then 0 "
                   "else died end)) from doc_%lld",
};

/* # is replaced by the index number. */
static const char tables[] =
    "create table if not exists doc_#(row integer primary key autoincrement, id blob not null,"
    " version integer not null, seq integer not null, born integer not null,"
    " died integer not null, source blob not null);"
    "create unique index if not exists live_# on doc_#(id) where died = "
    "9223372036854775807;"
    "create index if not exists dead_# on doc_#(died) where died < 9223372036854775807;"
    "create table if not exists tomb_#(id blob primary key, version integer not null,"
    " at integer not null) without rowid;";

struct shelf *shelf_open(struct store *s, int64_t number, struct refusal *refusal)
{
    struct shelf *shelf = mem_zero(1, sizeof(*shelf));
    shelf->store = s;
    shelf->number = number;
    struct buf sql;
    buf_init(&sql, 65536);
    for (const char *p = tables; *p != '\0'; p++) {
        if (*p == '#') {
            buf_printf(&sql, "%lld", (long long)number);
        } else {
            buf_push_char(&sql, *p);
        }
    }
    int rc = store_run(s, buf_text(&sql), refusal);
    buf_release(&sql);
    for (int i = 0; rc == 0 && i < QUERY_COUNT; i++) {
        rc = store_prepare(s, &shelf->queries[i], statements[i], (long long)number);
        if (rc != 0) {
            store_refuse(s, refusal);
        }
    }
    if (rc != 0) {
        shelf_close(shelf);
        return NULL;
    }
    return shelf;
}

static void close_statements(struct shelf *shelf)
{
    for (int i = 0; i < QUERY_COUNT; i++) {
        sqlite3_finalize(shelf->queries[i]);
        shelf->queries[i] = NULL;
    }
    for (size_t i = 0; i < shelf->text_count; i++) {
        sqlite3_finalize(shelf->texts[i].add);
        free(shelf->texts[i].path);
    }
    free(shelf->texts);
    shelf->texts = NULL;
    shelf->text_count = 0;
}

void shelf_close(struct shelf *shelf)
{
    if (shelf != NULL) {
        close_statements(shelf);
        free(shelf);
    }
}

/* Drops the text indexes that the database lists. */
static int drop_texts(struct shelf *shelf, struct refusal *refusal)
{
    sqlite3_stmt *q = NULL;
    struct buf sql;
    buf_init(&sql, (size_t)4 << 20);
    int rc = store_prepare(shelf->store, &q,
                           "select name from sqlite_schema where sql like 'create virtual%%' "
                           "and name glob 'fts_%lld_*'",
                           (long long)shelf->number);
    while (rc == 0 && sqlite3_step(q) == SQLITE_ROW) {
        buf_printf(&sql, "drop table %s;", (const char *)sqlite3_column_text(q, 0));
    }
    sqlite3_finalize(q);
    rc = rc == 0 ? store_run(shelf->store, buf_text(&sql), refusal)
                 : store_refuse(shelf->store, refusal);
    buf_release(&sql);
    return rc;
}

/* Resets all open statements, because SQLite cannot drop a table while a row of any index is being
 * read. */
static void end_reads(sqlite3 *db)
{
    for (sqlite3_stmt *q = NULL; (q = sqlite3_next_stmt(db, q)) != NULL;) {
        sqlite3_reset(q);
    }
}

int shelf_drop(struct shelf *shelf, struct refusal *refusal)
{
    close_statements(shelf);
    end_reads(shelf->store->db);
    int rc = drop_texts(shelf, refusal);
    char *sql = sqlite3_mprintf("drop table if exists doc_%lld; drop table if exists tomb_%lld;",
                                (long long)shelf->number, (long long)shelf->number);
    rc = store_run(shelf->store, sql, refusal) != 0 ? -1 : rc;
    sqlite3_free(sql);
    free(shelf);
    return rc;
}
