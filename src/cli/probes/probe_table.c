/* SPDX-License-Identifier: Apache-2.0 */
/* check: a pipeline's table. Its kind, its key, and the privileges of the role. */
#include <stdio.h>
#include <stdlib.h>

#include "probes/probe.h"
#include "rowferry/base/units.h"
#include "rowferry/document/propose/propose.h"
#include "rowferry/source/catalog/query.h"
#include "rowferry/source/catalog/review.h"

#define NAME_BYTES 1024
#define WHY_BYTES 4096
#define LIST_BYTES ((size_t)64 * 1024)

/* A table that was there had the right name. */
static void probe_table_fail(struct check *c, struct err *err)
{
    struct err ignored;
    struct checkpoint checkpoint = {0};
    bool live = false;
    if (probe_live_read(c, &checkpoint, &live, &ignored) == 0 && live) {
        err_drop_guess(err);
    }
    checkpoint_release(&checkpoint);
    check_fail_else(c, err, "correct the table, its key or the query under \"from\"");
}

int probe_table_dependency(struct check *c, size_t index, const struct table **out, struct err *err)
{
    const struct from_config *from = &c->pipeline->from;
    if (c->dependencies == NULL) {
        c->dependencies = mem_zero(from->dependency_count, sizeof(struct table *));
    }
    struct table **found = &c->dependencies[index];
    int rc = *found != NULL ? 0 : depend_of_query(c->pg, found, &from->dependencies[index], err);
    *out = *found;
    return rc;
}

/* Reports the first of the pipeline's tables of which row security hides rows; returns false if
 * there is none. What cannot be looked up is reported by later lines. */
static bool probe_table_report_hidden(struct check *c)
{
    struct err ignored;
    struct buf remedy;
    const struct table *t = c->table;
    for (size_t i = 0; !t->row_security; i++) {
        if (i == c->pipeline->from.dependency_count ||
            probe_table_dependency(c, i, &t, &ignored) < 0) {
            return false;
        }
    }
    buf_init(&remedy, LIST_BYTES);
    review_push_bypass(c->pg, t, c->identity.role, &remedy);
    check_report(c, VERDICT_FAIL, buf_text(&remedy), "row security hides rows of %s from this role",
                 t->quoted);
    buf_release(&remedy);
    return true;
}

static void probe_table(struct check *c)
{
    struct err err;
    char rows[UNITS_BYTES];
    char size[UNITS_BYTES];
    const struct from_config *from = &c->pipeline->from;
    if (catalog_table(c->pg, &c->table, from->table, (const char *const *)from->key,
                      from->key_count, &err) < 0) {
        probe_table_fail(c, &err);
        return;
    }
    if (probe_table_report_hidden(c)) {
        return;
    }
    if (from->query != NULL && query_describe_columns(c->pg, c->table, from->query, &err) < 0) {
        probe_table_fail(c, &err);
        return;
    }
    const struct table *t = c->table;
    if (t->estimated_rows < 0) {
        check_pass(c, "%s, %s, never analysed", t->quoted, units_size(size, t->bytes));
    } else {
        check_pass(c, "%s, about %s rows, %s", t->quoted, units_count(rows, t->estimated_rows),
                   units_size(size, t->bytes));
    }
}

static void probe_table_report_nullable(struct check *c, const char *key)
{
    struct buf sql;
    const struct table *t = c->table;
    buf_init(&sql, LIST_BYTES);
    for (size_t i = 0; i < t->key_count; i++) {
        const struct column *column = row_columns_find(&t->columns, t->key[i]);
        if (column != NULL && !column->not_null) {
            buf_printf(&sql, "%salter table %s alter column \"%s\" set not null",
                       sql.len > 0 ? "; " : "", t->quoted, t->key[i]);
        }
    }
    check_report(c, VERDICT_WARN, buf_text(&sql),
                 "(%s) may be NULL, and a row with a NULL key becomes a dead letter", key);
    buf_release(&sql);
}

static void probe_table_key(struct check *c)
{
    struct buf key;
    const struct table *t = c->table;
    buf_init(&key, WHY_BYTES);
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(&key, "%s\"%s\"", i > 0 ? ", " : "", t->key[i]);
    }
    if (!t->key_unique) {
        check_report(c, VERDICT_FAIL, NULL, "(%s) is not unique: no unique index covers it",
                     buf_text(&key));
        check_remedy(c, "name other columns in from.key, or: create unique index %son %s (%s)",
                     probe_concurrently(t), t->quoted, buf_text(&key));
    } else if (t->tree && t->kind != 'p') {
        check_report(c, VERDICT_WARN, "make sure that no two of the tables have the same key",
                     "(%s) is unique in each of the tables that inherit from %s alone",
                     buf_text(&key), t->quoted);
    } else if (!t->key_not_null) {
        probe_table_report_nullable(c, buf_text(&key));
    } else {
        check_pass(c, "(%s) is unique and not null", buf_text(&key));
    }
    buf_release(&key);
}

static void probe_table_report_rights(struct check *c, enum verdict verdict, const char *verb,
                                      const struct review_rights *r)
{
    struct buf words;
    struct buf statements;
    bool revoke = true;
    buf_init(&words, LIST_BYTES);
    buf_init(&statements, LIST_BYTES);
    for (size_t i = 0; i < r->count; i++) {
        const char *statement = r->items[i].statement;
        buf_printf(&words, "%s%s", i > 0 ? ", " : "", r->items[i].words);
        buf_printf(&statements, "%s%s", i > 0 ? "; " : "", statement != NULL ? statement : "");
        revoke = revoke && statement != NULL;
    }
    check_report(c, verdict, NULL, "role \"%s\" %s %s", c->identity.role, verb, buf_text(&words));
    if (revoke) {
        check_remedy(c, "have the owner run: %s", buf_text(&statements));
    } else {
        check_remedy(c,
                     "run what \"rowferry source print %s --reader rowferry\" shows, and name that "
                     "role in source.uri; if no role can be created here, keep this one",
                     c->pipeline->name);
    }
    buf_release(&words);
    buf_release(&statements);
}

/* Returns 1 if it reported something, 0 if not, or negative with err. */
static int probe_table_report_missing(struct check *c, const struct table *t, struct err *err)
{
    struct review_rights missing;
    bool installs = capture_traits(c->pipeline->from.capture_mode)->installs;
    int rc = review_missing(c->pg, t, installs, &missing, err);
    if (rc == 0 && missing.count > 0) {
        probe_table_report_rights(c, VERDICT_FAIL, "lacks", &missing);
        rc = 1;
    }
    review_rights_release(&missing);
    return rc;
}

static int probe_table_report_surplus(struct check *c, struct err *err)
{
    struct review_rights surplus;
    int rc = review_surplus(c->pg, c->table, &surplus, err);
    if (rc == 0 && surplus.count > 0) {
        probe_table_report_rights(c, VERDICT_WARN, "has more rights than it needs:", &surplus);
    } else if (rc == 0) {
        check_pass(c, "role \"%s\" has the rights that it needs%s", c->identity.role,
                   c->identity.superuser ? ", and all else" : ", and no others on the table");
    }
    review_rights_release(&surplus);
    return rc;
}

static void probe_table_rights(struct check *c)
{
    struct err err;
    const struct from_config *from = &c->pipeline->from;
    int rc = probe_table_report_missing(c, c->table, &err);
    for (size_t i = 0; rc == 0 && i < from->dependency_count; i++) {
        const struct table *table;
        rc = probe_table_dependency(c, i, &table, &err);
        rc = rc == 0 ? probe_table_report_missing(c, table, &err) : rc;
    }
    rc = rc == 0 ? probe_table_report_surplus(c, &err) : rc;
    if (rc < 0) {
        check_fail(c, &err);
    }
}

/* If a row stops matching because time passes, no change is recorded; a reconcile finds it. A row
 * that begins to match is not found. */
static void probe_table_report_unsteady(struct check *c, const char *function, bool query)
{
    const char *option = query ? "query" : "where";
    if (c->pipeline->from.reconcile_ms > 0) {
        check_report(
            c, VERDICT_WARN,
            "let a column say it, which the application sets, where rows also begin to match",
            "from.%s calls %s, whose result changes without a change of the table: rows that match "
            "no more are found by from.capture.deletes, and no others",
            option, function);
        return;
    }
    check_report(
        c, VERDICT_FAIL,
        "let a column say it, which the application sets, or set from.capture.deletes; a function "
        "of your own that depends on its arguments alone should be declared immutable",
        "from.%s calls %s, whose result changes without a change of the table", option, function);
}

/* Returns false if the rest need not be checked. */
static bool probe_table_is_steady(struct check *c, const struct query_input *in)
{
    struct err err;
    struct buf function;
    buf_init(&function, WHY_BYTES);
    int rc = reads_volatile(c->pg, in, &function, &err);
    bool steady = rc == 0 && function.len == 0;
    if (rc < 0) {
        check_fail(c, &err);
    } else if (!steady) {
        probe_table_report_unsteady(c, buf_text(&function), in->root->query != NULL);
    }
    buf_release(&function);
    return steady;
}

static void probe_table_reading(struct check *c)
{
    struct err err;
    const struct from_config *from = &c->pipeline->from;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < from->dependency_count; i++) {
        const struct table *known;
        rc = probe_table_dependency(c, i, &known, &err);
    }
    struct query_input in = {c->table, from->where, from->dependencies, from->dependency_count,
                             c->dependencies};
    if (rc < 0 || depend_require(c->pg, &in, NULL, NULL, &err) < 0) {
        check_fail_else(c, &err, "correct from.where or from.query: psql reports the same error");
        return;
    }
    if (!probe_table_is_steady(c, &in)) {
        return;
    }
    check_pass(c, "the role may read it%s%s",
               from->where != NULL ? ", and from.where is understood" : "",
               from->query != NULL ? ", and from.depends_on has all that from.query reads" : "");
}

static void probe_table_index_name(struct check *c)
{
    struct buf text;
    struct buf name;
    const char *index = c->pipeline->to.index;
    if (!propose_index_is_nameless(index)) {
        check_pass(c, "\"%s\" says what is in it", index);
        return;
    }
    buf_init(&text, NAME_BYTES);
    buf_init(&name, NAME_BYTES);
    buf_printf(&text, "%s-%s", c->identity.database, c->table->name);
    propose_index_name(&name, buf_text(&text));
    check_report(c, VERDICT_INFO, NULL,
                 "\"%s\" does not say which application's index it is, nor what is in it", index);
    check_remedy(c, "let to.index name both, like \"%s\"; the next sync builds it anew",
                 buf_text(&name));
    buf_release(&name);
    buf_release(&text);
}

/* The other direction is "rows only added" of probe_stream.c. */
static void probe_table_kind(struct check *c)
{
    struct err err;
    struct review_changes seen;
    char rows[UNITS_BYTES];
    char time[UNITS_BYTES];
    const struct pipeline_config *p = c->pipeline;
    if (p->to.kind == INDEX_KIND_DATA_STREAM || p->from.query != NULL) {
        return;
    }
    if (review_changes(c->pg, c->table, &seen, &err) < 0) {
        check_fail(c, &err);
        return;
    }
    const struct column *at = review_stream_time(&c->table->columns, &seen);
    if (at == NULL) {
        check_pass(c, "an index, as rows change or have no time");
        return;
    }
    check_report(c, VERDICT_INFO, NULL,
                 "rows of %s were only added: %s inserts in %s of the server's statistics, and "
                 "\"%s\" has their time",
                 c->table->quoted, units_count(rows, seen.inserts),
                 units_duration(time, seen.seconds * 1000), at->name);
    check_remedy(c,
                 "if that stays so, a data stream suits them (docs/data-streams.md): \"kind\": "
                 "\"data_stream\" with \"fields\": {\"@timestamp\": \"%s\"}",
                 at->name);
}

const struct probe probes_table[] = {
    {"table", FACT_SOURCE | FACT_ROLE, FACT_TABLE, probe_table},
    {"purpose", FACT_TABLE, 0, probe_table_index_name},
    {"kind", FACT_TABLE, 0, probe_table_kind},
    {"key", FACT_TABLE, 0, probe_table_key},
    {"rights", FACT_TABLE, FACT_GRANTS, probe_table_rights},
    {"reading", FACT_TABLE | FACT_GRANTS, 0, probe_table_reading},
    {0},
};
