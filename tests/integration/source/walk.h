/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives a capture by hand. Every page is applied to a table of the same database, so SQL can check
 * equality. Header only, because each test program is one file.
 */
#pragma once

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/source/catalog/install.h"
#include "rowferry/source/changelog/changelog.h"
#include "rowferry/source/cursor/cursor.h"
#include "server.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

struct walk {
    char *uri;
    char *reads; /* URI of a standby to read from; null: uri */
    PGconn *db;  /* the application's connection */
    struct capture *capture;
    char *position; /* of the last settled page */
    const char *table;
    const char *const *key;
    size_t key_count;
    const char *const *columns;
    size_t column_count;
    const char *where;
    const char *cursor; /* cursor column; null: the change log */
    int64_t overlap_ms;
    size_t seen_slots;
    const char *query;
    const struct dependency *dependencies;
    size_t dependency_count;
    size_t page_rows;
    size_t page_blocks;
    size_t chunk_bytes;
    const char *consumer;    /* null: "test/one" */
    const char *fingerprint; /* fingerprint of the table in the plan; null: not compared */
    int64_t retain_age_ms;
    int64_t retain_size;
    size_t readers;          /* connections of the initial load */
    int64_t lock_timeout_ms; /* for locks that are not available; 0: two seconds */
    bool (*breaks)(
        void *context); /* called at each safepoint; true breaks off the page, like a crash */
    void *context;
    size_t rows; /* counts of the last page */
    size_t gone;
    size_t null_keys;
    size_t marks;
    size_t foreseen;
    bool judged;    /* the last page ended a prescan */
    bool left;      /* because a member left */
    bool truncated; /* and it found a truncate */
    bool again;     /* or because of a re-snapshot */
    bool broken;    /* the last page was broken off at a safepoint */
    bool drained;
    bool copying;
};

static inline void must(int rc, const struct err *err)
{
    ck_assert_msg(rc >= 0, "%s (%s)", err->message, err->hint);
}

static inline struct pg *walk_connect_for(const char *uri, const char *primary,
                                          int64_t lock_timeout_ms)
{
    struct err err = {0};
    struct pg *pg = NULL;
    struct source_options options = {.uri = uri,
                                     .primary = primary,
                                     .lock_timeout_ms = lock_timeout_ms,
                                     .application_name = "rowferry test"};
    must(pg_open(&pg, &options, &err), &err);
    return pg;
}

static inline struct pg *walk_connect_to(const char *uri, const char *primary)
{
    return walk_connect_for(uri, primary, 2000);
}

static inline struct pg *walk_connect(const char *uri)
{
    return walk_connect_to(uri, NULL);
}

static inline struct table *walk_table(const struct walk *w, struct pg *pg)
{
    struct err err = {0};
    struct table *table = NULL;
    must(catalog_table(pg, &table, w->table, w->key, w->key_count, &err), &err);
    return table;
}

/* Installs the change log for the table. */
static inline void walk_install(struct walk *w)
{
    struct err err = {0};
    struct pg *pg = walk_connect(w->uri);
    struct table *table = walk_table(w, pg);
    must(install_apply(pg, table, NULL, &err), &err);
    catalog_table_free(table);
    for (size_t i = 0; i < w->dependency_count; i++) {
        must(depend_of_query(pg, &table, &w->dependencies[i], &err), &err);
        must(install_apply(pg, table, NULL, &err), &err);
        catalog_table_free(table);
    }
    pg_close(pg);
}

static inline void walk_new(struct walk *w, const char *ddl)
{
    w->uri = database_new();
    w->db = sql_open(w->uri);
    sql_exec(w->db, "%s", ddl);
    sql_exec(w->db, "create table mirror (key text collate \"C\" primary key, content text)");
    if (w->cursor == NULL) {
        walk_install(w);
    }
}

static inline void walk_open_cursor(struct walk *w)
{
    struct err err = {0};
    struct cursor_options options = {.table = w->table,
                                     .key = w->key,
                                     .key_count = w->key_count,
                                     .column = w->cursor,
                                     .where = w->where,
                                     .columns = w->columns,
                                     .column_count = w->column_count,
                                     .overlap_ms = w->overlap_ms,
                                     .fingerprint = w->fingerprint,
                                     .page_rows = w->page_rows,
                                     .chunk_bytes = w->chunk_bytes,
                                     .seen_slots = w->seen_slots};
    must(cursor_open(&w->capture, walk_connect(w->uri), &options, &err), &err);
}

/* Opens a capture of the table without starting it. */
static inline void walk_open(struct walk *w)
{
    struct err err = {0};
    if (w->cursor != NULL) {
        walk_open_cursor(w);
        return;
    }
    struct changelog_options options = {.consumer = w->consumer != NULL ? w->consumer : "test/one",
                                        .fingerprint = w->fingerprint,
                                        .retain_age_ms = w->retain_age_ms,
                                        .retain_size = w->retain_size,
                                        .table = w->table,
                                        .key = w->key,
                                        .key_count = w->key_count,
                                        .where = w->where,
                                        .query = w->query,
                                        .dependencies = w->dependencies,
                                        .dependency_count = w->dependency_count,
                                        .columns = w->columns,
                                        .column_count = w->column_count,
                                        .page_rows = w->page_rows,
                                        .page_blocks = w->page_blocks,
                                        .chunk_bytes = w->chunk_bytes,
                                        .readers = w->readers};
    struct pg *pg =
        walk_connect_for(w->reads != NULL ? w->reads : w->uri, w->reads != NULL ? w->uri : NULL,
                         w->lock_timeout_ms > 0 ? w->lock_timeout_ms : 2000);
    must(changelog_open(&w->capture, pg, &options, &err), &err);
}

/* Expects that a table which no longer matches the plan is left to the caller, who compiles the
 * plan. */
static inline void walk_expect_changed(struct walk *w)
{
    struct err err = {0};
    struct buf position;
    buf_init(&position, 4096);
    w->fingerprint = "0123456789abcdef";
    walk_open(w);
    ck_assert_int_eq(w->capture->ops->start(w->capture, &position, &err), ERR_TRANSIENT);
    ck_assert_msg(strstr(err.message, "was changed just now") != NULL, "%s", err.message);
    buf_release(&position);
}

/* Starts an open capture. Retries like the engine if a standby is behind. */
static inline void walk_begin(struct walk *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    struct err err = {0};
    struct buf position;
    buf_init(&position, 4096);
    int rc = w->capture->ops->start(w->capture, &position, &err);
    while (rc == ERR_TRANSIENT && w->reads != NULL && deadline_wait(&deadline)) {
        buf_reset(&position);
        rc = w->capture->ops->start(w->capture, &position, &err);
    }
    must(rc, &err);
    free(w->position);
    w->position = buf_detach(&position);
}

static inline void walk_start(struct walk *w)
{
    walk_open(w);
    walk_begin(w);
}

static inline void walk_close(struct walk *w)
{
    w->capture->ops->free(w->capture);
    w->capture = NULL;
}

/* Continues like another process: with a new connection and only the position. */
static inline void walk_again(struct walk *w)
{
    struct err err = {0};
    walk_close(w);
    walk_open(w);
    must(w->capture->ops->resume(w->capture, w->position, &err), &err);
}

static inline void walk_apply_row(struct walk *w, const struct change *change)
{
    struct buf content;
    buf_init(&content, 65536);
    for (size_t i = 1; i < change->row.count; i++) {
        const struct value *v = &change->row.values[i];
        buf_push_text(&content, i > 1 ? "|" : "");
        buf_push(&content, v->null ? "~" : v->text, v->null ? 1 : v->len);
    }
    char *key = text_copy_span(change->key);
    const char *const params[] = {key, buf_text(&content)};
    PGresult *r = PQexecParams(w->db,
                               "insert into mirror values ($1, $2) on conflict (key) do update "
                               "set content = excluded.content",
                               2, NULL, params, NULL, NULL, 0);
    ck_assert_int_eq(PQresultStatus(r), PGRES_COMMAND_OK);
    PQclear(r);
    free(key);
    buf_release(&content);
}

static inline void walk_apply_gone(struct walk *w, const struct change *change)
{
    char *key = text_copy_span(change->key);
    const char *const params[] = {key};
    PGresult *r =
        PQexecParams(w->db, "delete from mirror where key = $1", 1, NULL, params, NULL, NULL, 0);
    ck_assert_int_eq(PQresultStatus(r), PGRES_COMMAND_OK);
    PQclear(r);
    free(key);
}

/* Handles a safepoint: everything before it may be settled. */
static inline void walk_pass_mark(struct walk *w, const struct change *change)
{
    free(w->position);
    w->position = text_copy(change->position);
    w->broken = w->breaks != NULL && w->breaks(w->context);
    if (w->broken) {
        walk_again(w);
    }
}

/* Reads the rest of a started page; keeps the position. */
static inline int walk_rest(struct walk *w, struct err *err)
{
    struct change change = {0};
    w->rows = w->gone = w->null_keys = w->marks = w->foreseen = 0;
    w->drained = w->broken = w->judged = w->truncated = w->left = false;
    for (;;) {
        int rc = w->capture->ops->next(w->capture, &change, err);
        if (rc < 0 || change.kind == CHANGE_PAGE || change.kind == CHANGE_PRESCAN_END) {
            w->judged = rc == 0 && change.kind == CHANGE_PRESCAN_END;
            w->left = rc == 0 && change.left;
            w->truncated = change.truncated;
            w->again = change.again;
            w->drained = change.drained;
            w->copying = change.copying;
            if (rc == 0 && change.position != NULL) {
                free(w->position);
                w->position = text_copy(change.position);
            }
            return rc;
        }
        if (change.kind == CHANGE_WAIT) {
            struct pollfd fd = {.fd = w->capture->ops->fd(w->capture), .events = POLLIN};
            ck_assert_int_ge(poll(&fd, 1, WAIT_MS), 1);
        } else if (change.kind == CHANGE_SAFEPOINT) {
            w->marks++;
            walk_pass_mark(w, &change);
            if (w->broken) {
                return 0;
            }
        } else if (change.kind == CHANGE_PRESCAN_DELETE) {
            w->foreseen++;
        } else if (change.kind == CHANGE_DELETE) {
            w->gone++;
            walk_apply_gone(w, &change);
        } else if (change.key_null) {
            w->null_keys++;
        } else {
            w->rows++;
            walk_apply_row(w, &change);
        }
    }
}

static inline int walk_try(struct walk *w, struct err *err)
{
    int rc = w->capture->ops->begin(w->capture, err);
    return rc == 0 ? walk_rest(w, err) : rc;
}

static inline void walk_page(struct walk *w)
{
    struct err err = {0};
    must(walk_try(w, &err), &err);
}

/* Reads pages until one is drained; returns the number of rows and deletes. */
static inline size_t walk_drain(struct walk *w)
{
    size_t changes = 0;
    do {
        walk_page(w);
        changes += w->rows + w->gone;
    } while (!w->drained);
    return changes;
}

static inline void walk_guard(struct walk *w, uint64_t harmless)
{
    w->capture->guarded = true;
    w->capture->harmless = harmless;
}

/* Reads the pages of a prescan; returns the number of reported deletes. */
static inline size_t walk_look(struct walk *w)
{
    size_t foreseen = 0;
    char *before = text_copy(w->position);
    do {
        walk_page(w);
        ck_assert_uint_eq(w->rows + w->gone + w->marks, 0);
        ck_assert(!w->drained);
        foreseen += w->foreseen;
    } while (!w->judged);
    ck_assert_str_eq(w->position, before);
    free(before);
    return foreseen;
}

static inline void walk_copy(struct walk *w);

/* Expects a re-snapshot for this reason, also if the process ends before its first checkpoint. Then
 * a reconcile is requested, and changes are followed. */
static inline void walk_expect_again(struct walk *w, const char *reason)
{
    walk_again(w);
    ck_assert_msg(w->capture->again != NULL && strstr(w->capture->again, reason) != NULL,
                  "\"%s\", not \"%s\"", w->capture->again, reason);
    walk_again(w);
    ck_assert_msg(w->capture->again != NULL, "a crash before the first page");
    walk_page(w);
    walk_again(w);
    ck_assert_ptr_null(w->capture->again);
    walk_copy(w);
    walk_page(w);
    ck_assert(w->judged && w->again);
    walk_drain(w);
}

/* Expects that a page detects the loss and leaves it to the next resume. */
static inline void walk_expect_lost(struct walk *w, const char *reason)
{
    struct err err = {0};
    int rc = 0;
    for (int i = 0; i < 20 && rc == 0; i++) {
        rc = walk_try(w, &err);
    }
    ck_assert_int_eq(rc, ERR_TRANSIENT);
    ck_assert_msg(strstr(err.message, reason) != NULL, "%s", err.message);
}

static inline void walk_copy(struct walk *w)
{
    while (strncmp(w->position, "copy", 4) == 0 || strncmp(w->position, "cursor copy", 11) == 0) {
        walk_page(w);
    }
}

static inline void walk_release(struct walk *w)
{
    struct err err = {0};
    struct mirror mirror = {w->position, 1, "{}"};
    must(w->capture->ops->release(w->capture, &mirror, true, &err), &err);
}

/* Releases until the log is empty: other transactions of the cluster may hold entries for a
 * while. */
static inline void walk_settle(struct walk *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    for (;;) {
        walk_drain(w);
        walk_release(w);
        if (sql_int(w->db, "select count(*) from rowferry.change") == 0) {
            return;
        }
        ck_assert(deadline_wait(&deadline));
    }
}

/* Adds a consumer of the same capture, with the position of the named one. */
static inline void walk_second(struct walk *w, const char *of, const char *name)
{
    sql_exec(w->db,
             "insert into rowferry.consumer (name, capture, position, keep, triggers, definition, "
             "filenode, versions, timeline) select '%s', capture, position, keep, "
             "triggers, definition, filenode, versions, timeline "
             "from rowferry.consumer where name = '%s'",
             name, of);
}

static inline void walk_long_ago(struct walk *w, const char *name, const char *ago)
{
    sql_exec(w->db,
             "update rowferry.consumer set updated_at = now() - interval '%s' where name = '%s'",
             ago, name);
}

/* Returns the number of rows that differ between the mirror and the query (key text, content). */
static inline int64_t walk_differences(struct walk *w, const char *query)
{
    return sql_int(
        w->db,
        "select (select count(*) from (%1$s except all select key, content from mirror) "
        "a) + (select count(*) from (select key, content from mirror except all %1$s) b)",
        query);
}

static inline void walk_free(struct walk *w)
{
    if (w->capture != NULL) {
        walk_close(w);
    }
    free(w->position);
    PQfinish(w->db);
    database_drop(w->uri);
}
