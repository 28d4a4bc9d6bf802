/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the table and its triggers are unchanged, before a page of the change log is used. */
#include <stdlib.h>
#include <string.h>

#include "catalog/column_tree.h"
#include "catalog/members.h"
#include "changelog/changelog_private.h"
#include "pg/pg_private.h"
#include "pg/sqlstate.h"
#include "sql/sqlquote.h"

#define LEFT_MAX_BYTES ((size_t)64 << 20)
#define TYPES_MAX_BYTES ((size_t)1 << 20)

/* Adds the types of a column of the table or query. */
static void changelog_look_push_types(struct changelog *c, const char *name)
{
    const struct column *column = row_columns_find(&c->table->columns, name);
    if (column != NULL) {
        column_push_types(&c->types, column);
    }
}

/* Of all columns of a table that are read. */
static void changelog_look_push_read_types(struct buf *out, const struct columns *columns,
                                           const struct mentions *read, bool whole_rows)
{
    for (size_t i = 0; i < columns->count; i++) {
        const char *name = columns->items[i].name;
        if (whole_rows || mentions_name(read, span_make(name, strlen(name)))) {
            column_push_types(out, &columns->items[i]);
        }
    }
    buf_push(out, "}", out->len > 0);
}

/* Of the tables that the query depends on. */
static void changelog_look_name_read_types(struct changelog *c)
{
    for (size_t i = 0; i < c->depends.count; i++) {
        struct depend *d = &c->depends.items[i];
        buf_init(&d->types, TYPES_MAX_BYTES);
        changelog_look_push_read_types(&d->types, &d->table->columns, &c->read, d->whole_rows);
        d->other.types = d->types.len > 0 ? buf_text(&d->types) : NULL;
    }
}

/* The columns that decide what a document is. */
void changelog_name_watched(struct changelog *c)
{
    buf_reset(&c->watched);
    buf_reset(&c->types);
    buf_push_literal(&c->watched, "{");
    for (size_t i = 0; i < c->table->key_count; i++) {
        buf_push_text(&c->watched, i > 0 ? "," : "");
        sqlquote_item(&c->watched, c->table->key[i]);
        changelog_look_push_types(c, c->table->key[i]);
    }
    for (size_t i = 0; i < c->column_count; i++) {
        buf_push_literal(&c->watched, ",");
        sqlquote_item(&c->watched, c->columns[i]);
        changelog_look_push_types(c, c->columns[i]);
    }
    buf_push_literal(&c->watched, "}");
    changelog_look_push_read_types(
        &c->types, c->query != NULL ? &c->table->own : &c->table->columns, &c->read, c->whole_rows);
    changelog_look_name_read_types(c);
}

/* A condition or a query may use any column, so all are watched then. */
static struct page_request changelog_look_request_of(struct changelog *c, const struct position *at)
{
    struct page_request r = {.table = c->table,
                             .capture = c->installed.capture,
                             .at = at,
                             .nowait = c->helps,
                             .unreadable = c->unreadable};
    r.types = c->types.len > 0 ? buf_text(&c->types) : NULL;
    if (c->query == NULL) {
        r.columns = c->where == NULL ? buf_text(&c->watched) : NULL;
        return r;
    }
    buf_reset(&c->due);
    depend_push_captures(&c->due, &c->depends, at != NULL ? at->of : 0);
    r.lock = buf_text(&c->lock);
    r.due = c->depends.count > 0 ? buf_text(&c->due) : NULL;
    r.entries =
        at != NULL && at->of > 0 ? depend_find(&c->depends, at->of)->installed.capture : NULL;
    r.others = c->depends.others;
    r.other_count = c->depends.count;
    return r;
}

/* Changes may have been missed, so the next resume makes a re-snapshot. */
static int changelog_look_lose(struct changelog *c, struct err *err)
{
    c->lost = true;
    err->class = ERR_TRANSIENT;
    return ERR_TRANSIENT;
}

/* Members that joined are added when everything is looked up again. For members of the table itself
 * that left, a reconcile finds the documents to delete. */
static int changelog_look_check_members(struct changelog *c, const struct table *t, const char *was,
                                        const char *is, struct err *err)
{
    struct span name;
    switch (members_compare(was, is, &name)) {
    case MEMBERS_SAME:
        return 0;
    case MEMBERS_JOINED:
        return err_set(err, ERR_TRANSIENT, "%.*s has just become part of %s", (int)name.len,
                       name.data, t->quoted);
    case MEMBERS_LEFT:
        if (t == c->table) {
            c->left = true;
            return 0;
        }
        err_set(err, ERR_TRANSIENT,
                "%.*s is no longer part of %s: its rows have gone without an entry in the change "
                "log",
                (int)name.len, name.data, t->quoted);
        return changelog_look_lose(c, err);
    default:
        err_set(err, ERR_TRANSIENT, "the triggers of %s were changed: changes may have been missed",
                t->quoted);
        return changelog_look_lose(c, err);
    }
}

/* Checks the definition and the triggers; if they have changed, reading on would be wrong. */
static int changelog_look_check_table(struct changelog *c, const struct table *t,
                                      const struct consumer *consumer, const struct page_look *l,
                                      struct drift drift, struct err *err)
{
    if (!l->same_table) {
        err_set(err, ERR_STATE, "table %s was created anew or renamed", t->quoted);
        return err_drift(err);
    }
    drift.was = consumer->definition != NULL ? consumer->definition : t->definition;
    drift.is = l->definition;
    int rc = catalog_drift(t, &drift, err);
    if (rc < 0) {
        return rc;
    }
    return consumer->triggers != NULL
               ? changelog_look_check_members(c, t, consumer->triggers, l->triggers, err)
               : 0;
}

/* A standby that is behind would show older rows than those in the index. */
static int changelog_look_check_server(const struct changelog *c, const struct page_look *l,
                                       struct err *err)
{
    struct snapshot now;
    struct snapshot last;
    if (l->in_recovery != c->pg->in_recovery) {
        return err_set(err, ERR_TRANSIENT, "the source was a standby and has been promoted");
    }
    if (!l->in_recovery || c->at.last == NULL) {
        return 0;
    }
    position_snapshot_parse(&now, l->snapshot);
    position_snapshot_parse(&last, c->at.last);
    if (now.xmin >= last.xmax) {
        return 0;
    }
    return err_set(err, ERR_TRANSIENT, "the standby has not replayed what was read before");
}

int changelog_check_first(const struct changelog *c, const struct page_look *l, struct err *err)
{
    struct snapshot now;
    struct snapshot kept;
    position_snapshot_parse(&now, l->snapshot);
    position_snapshot_parse(&kept, c->consumer.mirror.last);
    if (now.xmin >= kept.xmin && now.xmin >= c->consumer.horizon) {
        return 0;
    }
    return err_set(err, ERR_TRANSIENT, "the standby has not replayed what its primary keeps");
}

/* The columns of a query are not those of the table. */
static int changelog_look_check(struct changelog *c, const struct page_look *l, struct err *err)
{
    c->left = false;
    c->lost = false;
    struct drift drift = {.columns = (const char *const *)c->columns,
                          .column_count = c->query == NULL ? c->column_count : 0,
                          .read = &c->read,
                          .whole_rows = c->whole_rows};
    int rc = changelog_look_check_server(c, l, err);
    if (rc == 0) {
        rc = changelog_look_check_table(c, c->table, &c->consumer, l, drift, err);
    }
    for (size_t i = 0; i < c->depends.count && rc == 0; i++) {
        const struct depend *d = &c->depends.items[i];
        drift = (struct drift){.read = &c->read, .whole_rows = d->whole_rows};
        rc = changelog_look_check_table(c, d->table, &d->consumer, &d->other.found, drift, err);
    }
    return rc;
}

int changelog_look_now(struct changelog *c, struct page_look *look, struct err *err)
{
    struct page_request request = changelog_look_request_of(c, NULL);
    int rc = page_look_now(look, c->pg, &request, err);
    return rc == 0 ? changelog_look_check(c, look, err) : rc;
}

void changelog_clear_page(struct changelog *c)
{
    page_look_release(&c->page.look);
    c->page.window = (struct page_window){.keys = c->kind == PAGE_FAN ? &c->changed : &c->keys,
                                          .befores = &c->befores,
                                          .recorded = c->kind == PAGE_FAN,
                                          .limit = c->page_rows};
    keyset_reset(&c->keys);
    keyset_reset(&c->changed);
    c->befores.count = 0;
    c->chunk = (struct chunk){0};
    c->page_rows_read = 0;
    c->gone = c->gone_end = 0;
    c->marks = false;
    c->drained = false;
    c->keys_only = false;
    c->presence.way = KEY_EXISTENCE_LIST;
    c->unsure = false;
    c->reread = false;
    c->tells_left = false;
}

int changelog_read_page(struct changelog *c, struct err *err)
{
    bool log = c->kind == PAGE_LOG || c->kind == PAGE_FAN;
    struct page_request request = changelog_look_request_of(c, log ? &c->at : NULL);
    struct err ignored;
    int rc = page_open(&c->page, c->pg, &request, err);
    if (rc < 0 && log && sqlstate_is_untranslatable(err) && pg_recover(c->pg, &ignored) == 0 &&
        unreadable_learn(c->unreadable, c->pg, err)) {
        c->capture.wiser = true;
        rc = err_set(err, ERR_TRANSIENT, "a key holds %s", c->unreadable->words);
    }
    return rc == 0 ? changelog_look_check(c, &c->page.look, err) : rc;
}

/* A load by blocks restarts automatically if the table was rewritten to another file. Rows read in
 * other ways may be outdated. */
static int changelog_look_check_news(struct changelog *c, const struct table *t,
                                     enum consumer_news news, struct err *err)
{
    if (news != CONSUMER_REWRITTEN || c->kind == PAGE_BLOCKS) {
        return 0;
    }
    err_set(err, ERR_TRANSIENT,
            "table %s was rewritten by ALTER TABLE: its rows may have changed without an entry in "
            "the change log",
            t->quoted);
    return changelog_look_lose(c, err);
}

static int changelog_look_check_all_news(struct changelog *c, const struct page_look *look,
                                         bool *any, struct err *err)
{
    enum consumer_news news = consumer_news(&c->consumer, look);
    int rc = changelog_look_check_news(c, c->table, news, err);
    *any = news != CONSUMER_SAME;
    for (size_t i = 0; i < c->depends.count && rc == 0; i++) {
        const struct depend *d = &c->depends.items[i];
        news = consumer_news(&d->consumer, &d->other.found);
        rc = changelog_look_check_news(c, d->table, news, err);
        *any = *any || news != CONSUMER_SAME;
    }
    return rc;
}

int changelog_check_news(struct changelog *c, bool *any, struct err *err)
{
    return changelog_look_check_all_news(c, &c->page.look, any, err);
}

int changelog_look_over(struct changelog *c, struct err *err)
{
    bool any;
    struct page_look look = {0};
    changelog_clear(c);
    int rc = changelog_look_now(c, &look, err);
    if (rc == 0) {
        rc = changelog_look_check_all_news(c, &look, &any, err);
    }
    page_look_release(&look);
    return rc;
}

static int changelog_look_note_all(struct changelog *c, struct err *err)
{
    int rc = consumer_note(&c->consumer, &c->page.look, err);
    for (size_t i = 0; i < c->depends.count && rc == 0; i++) {
        struct depend *d = &c->depends.items[i];
        if (consumer_news(&d->consumer, &d->other.found) != CONSUMER_SAME) {
            rc = consumer_note(&d->consumer, &d->other.found, err);
        }
    }
    return rc;
}

/* Harmless changes are recorded at once. Otherwise the next such change would look like a
 * rewrite. */
int changelog_open_page(struct changelog *c, struct err *err)
{
    bool any = false;
    int rc = changelog_read_page(c, err);
    if (rc == 0) {
        rc = changelog_check_news(c, &any, err);
    }
    if (rc == 0 && c->page.window.anything) {
        err_set(err, ERR_TRANSIENT,
                "rows of %s were changed while a column of its key was renamed or dropped: any of "
                "them may have changed",
                c->table->quoted);
        return changelog_look_lose(c, err);
    }
    if (rc < 0 || !any) {
        return rc;
    }
    rc = pg_script(c->pg, "commit", err);
    if (rc == 0) {
        rc = changelog_look_note_all(c, err);
    }
    if (rc == 0) {
        changelog_clear_page(c);
        rc = changelog_read_page(c, err);
    }
    return rc == 0 ? changelog_check_news(c, &any, err) : rc;
}

/* The requested reconcile is complete: the position now relies on the remaining members. */
static int changelog_look_note_left(struct changelog *c, struct err *err)
{
    struct buf kept;
    buf_init(&kept, LEFT_MAX_BYTES);
    members_keep(&kept, c->consumer.triggers, c->page.look.triggers);
    int rc = pg_script(c->pg, "commit", err);
    if (rc == 0) {
        rc = consumer_leave(&c->consumer, buf_text(&kept), err);
    }
    buf_release(&kept);
    if (rc == 0) {
        changelog_clear_page(c);
        rc = changelog_open_page(c, err);
    }
    return rc;
}

int changelog_meet_left(struct changelog *c, struct err *err)
{
    bool known = c->left_told != NULL && strcmp(c->left_told, c->page.look.triggers) == 0;
    free(c->left_told);
    c->left_told = NULL;
    int rc = known ? changelog_look_note_left(c, err) : 0;
    if (rc == 0 && c->left) { /* a prescan of the window must be repeated */
        c->left_told = text_copy(c->page.look.triggers);
        if (c->ahead.looking) {
            changelog_look_again(c);
        }
        changelog_forget_look(c);
        c->tells_left = true;
    }
    return rc;
}
