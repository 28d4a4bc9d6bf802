/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the tables and their triggers are what the consumers' rows rely on. */
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog_private.h"
#include "catalog/members.h"
#include "changelog/catalogue.h"
#include "pg/pg_private.h"
#include "sql/sqlquote.h"

#define MEMBERS_MAX_BYTES ((size_t)64 << 20)
#define TYPES_MAX_BYTES ((size_t)1 << 20)

/* Appends a column of the table or query to those that are watched. */
static void catalogue_check_watch(struct catalogue *c, const char *name)
{
    const struct column *column = row_columns_find(&c->table->columns, name);
    buf_push_text(&c->watched, c->watched.len > 1 ? "," : "");
    sqlquote_item(&c->watched, name);
    if (column != NULL) {
        column_push_types(&c->types, column);
    }
}

/* Appends the types of all columns of a table that are read. */
static void catalogue_check_push_types(const struct catalogue *c, const struct columns *columns,
                                       bool whole_rows, struct buf *out)
{
    for (size_t i = 0; i < columns->count; i++) {
        const char *name = columns->items[i].name;
        if (whole_rows || mentions_name(&c->mentions, span_make(name, strlen(name)))) {
            column_push_types(out, &columns->items[i]);
        }
    }
    buf_push(out, "}", out->len > 0);
}

void catalogue_name_watched(struct catalogue *c)
{
    const struct table *t = c->table;
    buf_reset(&c->watched);
    buf_reset(&c->types);
    buf_push_literal(&c->watched, "{");
    for (size_t i = 0; i < t->key_count; i++) {
        catalogue_check_watch(c, t->key[i]);
    }
    for (size_t i = 0; i < c->options->column_count; i++) {
        catalogue_check_watch(c, c->options->columns[i]);
    }
    buf_push_literal(&c->watched, "}");
    catalogue_check_push_types(c, c->options->query != NULL ? &t->own : &t->columns, c->whole_rows,
                               &c->types);
    for (size_t i = 0; i < c->depends.count; i++) {
        struct depend *d = &c->depends.items[i];
        buf_init(&d->types, TYPES_MAX_BYTES);
        catalogue_check_push_types(c, &d->table->columns, d->whole_rows, &d->types);
        d->other.types = d->types.len > 0 ? buf_text(&d->types) : NULL;
    }
}

/* A condition or a query may use any column, so all are watched then. */
struct page_request catalogue_request(struct catalogue *c, const struct position *at)
{
    uint64_t of = at != NULL ? at->of : 0;
    struct page_request r = {.table = c->table, .capture = c->installed.capture, .at = at};
    r.types = c->types.len > 0 ? buf_text(&c->types) : NULL;
    if (c->options->query == NULL) {
        r.columns = c->options->where == NULL ? buf_text(&c->watched) : NULL;
        return r;
    }
    buf_reset(&c->due);
    depend_push_captures(&c->due, &c->depends, of);
    r.lock = buf_text(&c->lock);
    r.due = c->depends.count > 0 ? buf_text(&c->due) : NULL;
    r.entries = of > 0 ? depend_find(&c->depends, of)->installed.capture : NULL;
    r.others = c->depends.others;
    r.other_count = c->depends.count;
    return r;
}

int catalogue_miss(struct catalogue *c, struct err *err)
{
    c->gap = GAP_MISSED;
    err->class = ERR_TRANSIENT;
    return ERR_TRANSIENT;
}

static int catalogue_check_joined(struct catalogue *c, const struct table *t, struct span name,
                                  struct err *err)
{
    c->gap = GAP_MEMBER_JOINED;
    return err_set(err, ERR_TRANSIENT, "%.*s has just become part of %s", (int)name.len, name.data,
                   t->quoted);
}

int catalogue_check_covered(struct catalogue *c, const struct table *t, const struct page_look *l,
                            struct err *err)
{
    struct span name;
    return members_uncovered(l->triggers, &name) ? catalogue_check_joined(c, t, name, err) : 0;
}

/* Members that joined are added when everything is looked up again. For members of the table itself
 * that left, a reconcile finds the documents to delete. */
static int catalogue_check_members(struct catalogue *c, const struct table *t, const char *was,
                                   const char *is, struct err *err)
{
    struct span name;
    switch (members_compare(was, is, &name)) {
    case MEMBERS_SAME:
        return 0;
    case MEMBERS_JOINED:
        return catalogue_check_joined(c, t, name, err);
    case MEMBERS_LEFT:
        if (t == c->table) {
            c->gap = GAP_MEMBER_LEFT;
            return 0;
        }
        err_set(err, ERR_TRANSIENT,
                "%.*s is no longer part of %s: its rows have gone without an entry in the change "
                "log",
                (int)name.len, name.data, t->quoted);
        return catalogue_miss(c, err);
    default:
        err_set(err, ERR_TRANSIENT, "the triggers of %s were changed: changes may have been missed",
                t->quoted);
        return catalogue_miss(c, err);
    }
}

/* Checks the definition and the triggers; if they have changed, reading on would be wrong. */
static int catalogue_check_table(struct catalogue *c, const struct table *t,
                                 const struct consumer *consumer, const struct page_look *l,
                                 struct drift drift, struct err *err)
{
    if (!l->same_table) {
        err_set(err, ERR_STATE, "table %s was re-created or renamed", t->quoted);
        return err_drift(err);
    }
    drift.was = consumer->definition != NULL ? consumer->definition : t->definition;
    drift.is = l->definition;
    int rc = catalog_drift(t, &drift, err);
    if (rc < 0) {
        return rc;
    }
    return consumer->triggers != NULL
               ? catalogue_check_members(c, t, consumer->triggers, l->triggers, err)
               : 0;
}

/* A standby that is behind would show older rows than those in the index. */
static int catalogue_check_server(const struct catalogue *c, const struct page_look *l,
                                  const char *last, struct err *err)
{
    struct snapshot now;
    struct snapshot before;
    if (l->in_recovery != c->pg->in_recovery) {
        return err_set(err, ERR_TRANSIENT, "the source was a standby and has been promoted");
    }
    if (!l->in_recovery || last == NULL) {
        return 0;
    }
    position_snapshot_parse(&now, l->snapshot);
    position_snapshot_parse(&before, last);
    if (now.xmin >= before.xmax) {
        return 0;
    }
    return err_set(err, ERR_TRANSIENT, "the standby has not replayed what was read before");
}

int catalogue_check_first(const struct catalogue *c, const struct page_look *l, struct err *err)
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
int catalogue_check(struct catalogue *c, const struct page_look *l, const char *last,
                    struct err *err)
{
    c->gap = GAP_NONE;
    struct drift drift = {.columns = c->options->columns,
                          .column_count = c->options->query == NULL ? c->options->column_count : 0,
                          .read = &c->mentions,
                          .whole_rows = c->whole_rows};
    int rc = catalogue_check_server(c, l, last, err);
    if (rc == 0) {
        rc = catalogue_check_table(c, c->table, &c->consumer, l, drift, err);
    }
    for (size_t i = 0; i < c->depends.count && rc == 0; i++) {
        const struct depend *d = &c->depends.items[i];
        drift = (struct drift){.read = &c->mentions, .whole_rows = d->whole_rows};
        rc = catalogue_check_table(c, d->table, &d->consumer, &d->other.found, drift, err);
    }
    return rc;
}

int catalogue_look_now(struct catalogue *c, struct page_look *look, const char *last,
                       struct err *err)
{
    struct page_request request = catalogue_request(c, NULL);
    int rc = page_look_now(look, c->pg, &request, err);
    return rc == 0 ? catalogue_check(c, look, last, err) : rc;
}

/* Rows that were not read by block may be outdated. */
static int catalogue_check_storage(struct catalogue *c, const struct table *t,
                                   enum consumer_news news, bool by_blocks, struct err *err)
{
    if (news != CONSUMER_REWRITTEN || by_blocks) {
        return 0;
    }
    err_set(err, ERR_TRANSIENT,
            "table %s was rewritten by ALTER TABLE: its rows may have changed without an entry in "
            "the change log",
            t->quoted);
    return catalogue_miss(c, err);
}

int catalogue_check_rewritten(struct catalogue *c, const struct page_look *look, bool by_blocks,
                              bool *altered, struct err *err)
{
    enum consumer_news news = consumer_news(&c->consumer, look);
    int rc = catalogue_check_storage(c, c->table, news, by_blocks, err);
    *altered = news != CONSUMER_SAME;
    for (size_t i = 0; i < c->depends.count && rc == 0; i++) {
        const struct depend *d = &c->depends.items[i];
        news = consumer_news(&d->consumer, &d->other.found);
        rc = catalogue_check_storage(c, d->table, news, by_blocks, err);
        *altered = *altered || news != CONSUMER_SAME;
    }
    return rc;
}

int catalogue_note_altered(struct catalogue *c, const struct page_look *look, struct err *err)
{
    int rc = consumer_note(&c->consumer, look, err);
    for (size_t i = 0; i < c->depends.count && rc == 0; i++) {
        struct depend *d = &c->depends.items[i];
        if (consumer_news(&d->consumer, &d->other.found) != CONSUMER_SAME) {
            rc = consumer_note(&d->consumer, &d->other.found, err);
        }
    }
    return rc;
}

int catalogue_note_members(struct catalogue *c, const struct page_look *look, struct err *err)
{
    struct buf kept;
    buf_init(&kept, MEMBERS_MAX_BYTES);
    members_keep(&kept, c->consumer.triggers, look->triggers);
    int rc = consumer_leave(&c->consumer, buf_text(&kept), err);
    buf_release(&kept);
    return rc;
}
