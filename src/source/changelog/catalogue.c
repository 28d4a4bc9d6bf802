/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that a change log reads, and its consumer's rows. */
#include "changelog/catalogue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "catalog/catalog_private.h"
#include "changelog/reads.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "sql/plancalls.h"

#define TEXT_MAX_BYTES ((size_t)1 << 20)

void catalogue_init(struct catalogue *c, struct pg *pg, const struct changelog_options *options)
{
    c->pg = pg;
    c->options = options;
    buf_init(&c->watched, TEXT_MAX_BYTES);
    buf_init(&c->types, TEXT_MAX_BYTES);
    buf_init(&c->lock, TEXT_MAX_BYTES);
    buf_init(&c->due, TEXT_MAX_BYTES);
}

void catalogue_release(struct catalogue *c)
{
    rowsql_release(&c->sql);
    consumer_release(&c->consumer);
    depend_release(&c->depends);
    mentions_release(&c->mentions);
    buf_release(&c->watched);
    buf_release(&c->types);
    buf_release(&c->lock);
    buf_release(&c->due);
    catalog_table_free(c->table);
}

/* --- look-up --------------------------------------------------------------------------------- */

static bool catalogue_reads_whole_rows(const struct reads *reads, const struct table *t)
{
    struct buf name;
    buf_init(&name, TEXT_MAX_BYTES);
    buf_printf(&name, "%s.%s", t->schema, t->name);
    bool whole = plancalls_whole_rows(buf_text(&reads->plan), buf_text(&name), t->tree);
    buf_release(&name);
    return whole;
}

/* What where, query and keys read, and the views that they name. Rows that "*" makes within, and
 * that become a value, have all columns too, whichever table's. */
static void catalogue_note_mentions(struct catalogue *c, const struct reads *reads)
{
    const struct changelog_options *o = c->options;
    const char *plan = buf_text(&reads->plan);
    mentions_release(&c->mentions);
    mentions_add(&c->mentions, o->where);
    mentions_add(&c->mentions, o->query);
    for (size_t i = 0; i < o->dependency_count; i++) {
        mentions_add(&c->mentions, o->dependencies[i].keys);
    }
    for (size_t i = 0; i < reads->count; i++) {
        mentions_add(&c->mentions, reads->items[i].definition);
    }
    for (size_t i = 0; c->mentions.top && i < o->column_count; i++) {
        mentions_add_name(&c->mentions, o->columns[i]);
    }
    bool made = c->mentions.star && (strstr(plan, ".*") != NULL || strstr(plan, "ROW(") != NULL);
    c->whole_rows = made || catalogue_reads_whole_rows(reads, c->table);
    for (size_t i = 0; i < c->depends.count; i++) {
        struct depend *d = &c->depends.items[i];
        d->whole_rows = made || catalogue_reads_whole_rows(reads, d->table);
    }
}

static int catalogue_look_up_query(struct catalogue *c, struct err *err)
{
    struct reads reads = {0};
    const struct changelog_options *o = c->options;
    struct query_input in = {.root = c->table,
                             .where = o->where,
                             .dependencies = o->dependencies,
                             .dependency_count = o->dependency_count};
    int rc = 0;
    if (o->query != NULL) {
        rc = depend_open(&c->depends, c->pg, &in, err);
        if (rc == 0) {
            rc = depend_install(&c->depends, c->pg, o->consumer, err);
        }
        if (rc == 0) {
            rc = reads_find(&reads, c->pg, &in, &c->depends, err);
        }
        if (rc == 0) {
            rc = reads_check_covered(&reads, &in, &c->depends, err);
        }
        buf_reset(&c->lock);
        reads_push_lock(&c->lock, &reads, c->table);
    }
    if (rc == 0) {
        catalogue_note_mentions(c, &reads);
    }
    reads_release(&reads);
    return rc;
}

static int catalogue_look_up_table(struct catalogue *c, struct err *err)
{
    const struct changelog_options *o = c->options;
    catalog_table_free(c->table);
    c->table = NULL;
    int rc = catalog_table(c->pg, &c->table, o->table, o->key, o->key_count, err);
    if (rc == 0) {
        rc = catalog_capturable(c->table, err);
    }
    if (rc == 0 && o->query != NULL) {
        rc = query_describe_columns(c->pg, c->table, o->query, err);
    }
    if (rc == 0 && o->fingerprint != NULL && strcmp(o->fingerprint, c->table->fingerprint) != 0) {
        rc = err_set(err, ERR_TRANSIENT, "the definition of %s was changed just now",
                     c->table->quoted);
    }
    return rc;
}

int catalogue_look_up(struct catalogue *c, struct err *err)
{
    const struct changelog_options *o = c->options;
    int rc = catalogue_look_up_table(c, err);
    if (rc == 0) {
        rc = installed_require(c->pg, c->table, &c->installed, err);
    }
    if (rc == 0) {
        struct rowsql_input in = {c->table, o->columns, o->column_count, o->where, o->zones};
        rc = rowsql_build(&c->sql, &in, err);
    }
    if (rc == 0) {
        rc = catalogue_look_up_query(c, err);
    }
    if (rc == 0) {
        catalogue_name_watched(c);
    }
    c->consumer.name = o->consumer;
    c->consumer.capture = c->installed.capture;
    return rc == 0 ? consumer_connect(&c->consumer, c->pg, err) : rc;
}

/* --- consumers ------------------------------------------------------------------------------- */

struct consumer *catalogue_consumer(struct catalogue *c, size_t i)
{
    return i == 0 ? &c->consumer : i <= c->depends.count ? &c->depends.items[i - 1].consumer : NULL;
}

int catalogue_register(struct catalogue *c, struct page_look *look, const char *last,
                       struct err *err)
{
    consumer_forget(&c->consumer);
    for (size_t i = 0; i < c->depends.count; i++) {
        consumer_forget(&c->depends.items[i].consumer);
    }
    int rc = catalogue_look_now(c, look, last, err);
    if (rc == 0) {
        rc = catalogue_check_covered(c, c->table, look, err);
    }
    if (rc == 0) {
        rc = consumer_register(&c->consumer, look, err);
    }
    for (size_t i = 0; i < c->depends.count && rc == 0; i++) {
        struct depend *d = &c->depends.items[i];
        rc = catalogue_check_covered(c, d->table, &d->other.found, err);
        if (rc == 0) {
            rc = consumer_register(&d->consumer, &d->other.found, err);
        }
    }
    return rc;
}

int catalogue_read_consumers(struct catalogue *c, struct err *err)
{
    struct consumer *k = NULL;
    int rc = 0;
    for (size_t i = 0; rc == 0 && (k = catalogue_consumer(c, i)) != NULL; i++) {
        rc = consumer_look(k, err);
    }
    return rc;
}

int catalogue_mirror(struct catalogue *c, const struct position *p, int64_t clock,
                     const char *letters, struct err *err)
{
    int rc = consumer_mirror(&c->consumer, p, clock, letters, err);
    for (size_t i = 0; i < c->depends.count && rc == 0; i++) {
        rc = consumer_mirror(&c->depends.items[i].consumer, p, 0, NULL, err);
    }
    return rc;
}

int catalogue_expire(struct catalogue *c, struct err *err)
{
    int rc = 0;
    for (size_t i = c->depends.count + 1; i-- > 0 && rc == 0;) {
        rc = consumer_expire(catalogue_consumer(c, i), c->options->retain_age_ms,
                             c->options->retain_size, err);
    }
    return rc;
}

int catalogue_prune(struct catalogue *c, int64_t most_ms, struct err *err)
{
    struct consumer *k = NULL;
    int rc = 0;
    for (size_t i = 0; rc == 0 && (k = catalogue_consumer(c, i)) != NULL; i++) {
        rc = k->more ? consumer_prune(k, most_ms, err) : 0;
    }
    return rc;
}

struct catalogue_facts catalogue_facts(struct catalogue *c)
{
    struct catalogue_facts all = {.keeps = false};
    struct consumer *k = NULL;
    for (size_t i = 0; (k = catalogue_consumer(c, i)) != NULL; i++) {
        all.keeps = all.keeps || k->keeps;
        all.more = all.more || k->more;
        all.horizon = k->horizon > all.horizon ? k->horizon : all.horizon;
        all.unpruned = all.unpruned != NULL ? all.unpruned : k->unpruned;
    }
    return all;
}

void catalogue_push_captures(struct buf *out, const struct catalogue *c)
{
    buf_printf(out, "{%s", c->installed.capture);
    for (size_t i = 0; i < c->depends.count; i++) {
        buf_printf(out, ",%s", c->depends.items[i].installed.capture);
    }
    buf_push_char(out, '}');
}
