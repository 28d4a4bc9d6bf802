/* SPDX-License-Identifier: Apache-2.0 */
/* check: a pipeline into a data stream. Whether rows are only added, and their timestamp. */
#include <stdio.h>
#include <string.h>

#include "probes/probe.h"
#include "rowferry/base/units.h"
#include "rowferry/service/cluster/cluster.h"
#include "rowferry/service/index/stream.h"
#include "rowferry/source/catalog/review.h"

#define LIST_BYTES ((size_t)64 * 1024)

/* --- rows that change ------------------------------------------------------------------------- */

static void probe_stream_report_changed(struct check *c, const struct review_changes *seen)
{
    char updates[UNITS_BYTES];
    char deletes[UNITS_BYTES];
    check_report(c, VERDICT_FAIL, NULL,
                 "rows of %s change or go: %s updates and %s deletes in the server's statistics, "
                 "and a data stream takes neither",
                 c->table->quoted, units_count(updates, seen->updates),
                 units_count(deletes, seen->deletes));
    check_remedy(c,
                 "set to.kind to \"index\"; if it happened once and is over: select "
                 "pg_stat_reset_single_table_counters('%s'::regclass)",
                 c->table->quoted);
}

static void probe_stream_report_writers(struct check *c, const struct review_rights *writers)
{
    struct buf words;
    struct buf statements;
    buf_init(&words, LIST_BYTES);
    buf_init(&statements, LIST_BYTES);
    for (size_t i = 0; i < writers->count; i++) {
        buf_printf(&words, "%s%s", i > 0 ? "; " : "", writers->items[i].words);
        buf_printf(&statements, "%s%s", i > 0 ? "; " : "", writers->items[i].statement);
    }
    check_report(c, VERDICT_WARN, NULL,
                 "a row that is updated keeps its old document, one that is deleted becomes a dead "
                 "letter: %s",
                 buf_text(&words));
    check_remedy(c, "have the owner run: %s", buf_text(&statements));
    buf_release(&words);
    buf_release(&statements);
}

static void probe_stream_append_only(struct check *c)
{
    struct err err;
    struct review_changes seen;
    struct review_rights writers = {0};
    if (review_changes(c->pg, c->table, &seen, &err) < 0 ||
        review_writers(c->pg, c->table, &writers, &err) < 0) {
        check_fail(c, &err);
    } else if (seen.updates + seen.deletes > 0) {
        probe_stream_report_changed(c, &seen);
    } else if (writers.count > 0) {
        probe_stream_report_writers(c, &writers);
    } else {
        check_pass(c, "no row was updated or deleted so far, and only the owner of %s may do so",
                   c->table->quoted);
    }
    review_rights_release(&writers);
}

/* --- @timestamp ------------------------------------------------------------------------------- */

/* Returns null if the service sets @timestamp. */
static const struct column *probe_stream_column_of(const struct check *c, const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_step *step = &plan->steps[i];
        if (strcmp(step->property, "@timestamp") == 0 && step->value > 0) {
            return row_columns_find(&c->table->columns, plan->columns[step->value - 1]);
        }
    }
    return NULL;
}

static bool probe_stream_is_time(const struct column *column)
{
    static const char *const types[] = {"timestamptz", "timestamp", "date"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(column->type, types[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void probe_stream_timestamp(struct check *c)
{
    struct err err;
    struct check_plan p;
    const struct column *column = NULL;
    if (check_plan(c, &p, &err) < 0) {
        check_fail(c, &err);
        probe_mapping_plan_release(&p);
        return;
    }
    column = probe_stream_column_of(c, &p.plan);
    if (column == NULL) {
        check_pass(c, "the service fills \"@timestamp\"");
    } else if (!probe_stream_is_time(column)) {
        check_report(c, VERDICT_FAIL, "name a column of type timestamptz in fields",
                     "\"@timestamp\" is filled from column \"%s\" of type %s, which is not a time",
                     column->name, column->declared);
    } else if (!column->not_null && c->pipeline->from.query == NULL) {
        check_report(c, VERDICT_WARN, NULL,
                     "rows whose \"%s\" is NULL have no \"@timestamp\" and become dead letters",
                     column->name);
        check_remedy(c, "alter table %s alter column \"%s\" set not null", c->table->quoted,
                     column->name);
    } else {
        check_pass(c, "\"@timestamp\" is filled from column \"%s\"", column->name);
    }
    probe_mapping_plan_release(&p);
}

/* --- the template ----------------------------------------------------------------------------- */

static int probe_stream_look_lacking(const struct check *c, char out[STREAM_TEMPLATE_BYTES],
                                     struct err *err)
{
    struct buf text;
    struct mapping mapping;
    int rc = config_mapping(c->pipeline, &mapping, err);
    if (rc < 0) {
        return rc;
    }
    buf_init(&text, LIST_BYTES * 256);
    mapping_write(&text, &mapping, NULL);
    rc =
        stream_template_lacks(c->session.service, c->pipeline->to.index, buf_text(&text), out, err);
    buf_release(&text);
    mapping_release(&mapping);
    return rc;
}

static void probe_stream_report_template(struct check *c, const char *template, bool own)
{
    struct err err;
    char lacking[STREAM_TEMPLATE_BYTES] = "";
    const char *name = c->pipeline->to.index;
    if (!own && probe_stream_look_lacking(c, lacking, &err) < 0) {
        check_fail(c, &err);
    } else if (lacking[0] != '\0') {
        check_report(c, VERDICT_FAIL,
                     "add the properties of to.mappings and \"source_id\": {\"type\": \"keyword\"} "
                     "to its mappings: only the template defines the mapping after a rollover",
                     "\"%s\", which makes data streams of \"%s\", does not map property \"%s\" as "
                     "to.mappings does",
                     template, name, lacking);
    } else {
        check_pass(c, "\"%s\" makes a data stream of \"%s\"", template, name);
    }
}

static void probe_stream_template(struct check *c)
{
    struct err err;
    struct cluster_template found;
    char own[STREAM_TEMPLATE_BYTES];
    const char *name = c->pipeline->to.index;
    stream_template_name(own, name);
    if (cluster_template(c->session.service, name, &found, &err) < 0) {
        check_fail(c, &err);
    } else if (!found.known) {
        check_report(c, VERDICT_WARN, NULL,
                     "could not see if an index template makes a data stream of \"%s\"", name);
        check_remedy(c,
                     "have an administrator create one with the properties of to.mappings and "
                     "\"source_id\" (docs/rights.md): PUT /_index_template/%s",
                     own);
    } else if (found.stream) {
        probe_stream_report_template(c, found.name, strcmp(found.name, own) == 0);
    } else {
        check_pass(c, "the first sync creates \"%s\"", own);
    }
}

const struct probe probes_stream[] = {
    {"index template", FACT_SERVICE, 0, probe_stream_template},
    {"rows only added", FACT_TABLE, 0, probe_stream_append_only},
    {"@timestamp", FACT_TABLE | FACT_PLAN, 0, probe_stream_timestamp},
    {0},
};
