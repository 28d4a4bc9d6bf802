/* SPDX-License-Identifier: Apache-2.0 */
/* check: the column of mode cursor, the preconditions of its guarantee, and its limits. */
#include "probes/probe.h"
#include "rowferry/base/units.h"
#include "rowferry/source/cursor/cursor.h"

#define KEY_LIST_BYTES ((size_t)16 * 1024)

static void probe_cursor_report_unindexed(struct check *c, const char *column)
{
    struct buf key;
    const struct table *t = c->table;
    buf_init(&key, KEY_LIST_BYTES);
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(&key, ", \"%s\"", t->key[i]);
    }
    check_report(c, VERDICT_WARN, NULL,
                 "no index begins with \"%s\": each poll reads the whole table", column);
    check_remedy(c, "create index %son %s (\"%s\"%s)", probe_concurrently(t), t->quoted, column,
                 buf_text(&key));
    buf_release(&key);
}

static void probe_cursor_column(struct check *c)
{
    struct err err;
    struct cursor_look look;
    const char *column = c->pipeline->from.cursor_column;
    if (cursor_require(c->table, column, &err) < 0 ||
        cursor_look(c->pg, c->table, column, &look, &err) < 0) {
        check_fail(c, &err);
        return;
    }
    check_pass(c, "\"%s\" can be followed", column);
    if (!look.indexed) {
        probe_cursor_report_unindexed(c, column);
    }
    if (!look.not_null) {
        check_report(c, VERDICT_WARN, NULL,
                     "rows whose \"%s\" is NULL are read by the first load and never again",
                     column);
        check_remedy(c, "alter table %s alter column \"%s\" set not null", c->table->quoted,
                     column);
    }
}

/* Returns the first reason why the horizon is not exact; null if it is. */
static const char *probe_cursor_blind_why(const struct cursor_look *look, const char **remedy)
{
    if (look->subscribed) {
        *remedy = "follow the table where it is written";
        return "logical replication fills the table, with values taken elsewhere";
    }
    if (!look->timed) {
        *remedy = "follow a timestamptz that the database sets";
        return "the column is not a timestamptz, so it cannot be compared with the start of a "
               "transaction";
    }
    if (look->in_recovery) {
        *remedy = "connect to the primary";
        return "a standby does not show the transactions of the primary";
    }
    if (!look->privileged) {
        *remedy = NULL; /* the caller's remedy names the role */
        return "this role cannot see how long the transactions of others have run";
    }
    if (!look->tracked) {
        *remedy = "set track_activities to on, also for each role and database (psql: \\drds) and "
                  "for sessions that are open";
        return "the server does not show since when each session's transaction runs";
    }
    return NULL;
}

static void probe_cursor_horizon(struct check *c)
{
    struct err err;
    struct cursor_look look;
    const char *remedy = NULL;
    if (cursor_look(c->pg, c->table, c->pipeline->from.cursor_column, &look, &err) < 0) {
        check_fail(c, &err);
        return;
    }
    const char *why = probe_cursor_blind_why(&look, &remedy);
    if (why != NULL) {
        check_report(c, VERDICT_WARN, remedy,
                     "a change is missed that commits later than from.capture.overlap after its "
                     "value was taken: %s",
                     why);
        if (remedy == NULL) {
            check_remedy(
                c, "have an administrator of the database run: grant pg_read_all_stats to \"%s\"",
                c->identity.role);
        }
    } else {
        check_pass(c, "no change is missed if the database sets the value within the transaction");
    }
    if (look.prepared[0] != '\0') {
        check_report(c, VERDICT_WARN, "end it with COMMIT PREPARED or ROLLBACK PREPARED",
                     "a prepared transaction holds the position since %s", look.prepared);
    }
}

static void probe_cursor_deletes(struct check *c)
{
    char every[UNITS_BYTES];
    const struct from_config *from = &c->pipeline->from;
    if (c->pipeline->to.kind == INDEX_KIND_DATA_STREAM) {
        check_pass(c, "rows that are deleted in the table stay in the stream");
        return;
    }
    if (from->reconcile_ms > 0) {
        check_pass(c,
                   "rows that are deleted in the table leave the index with the first sync that "
                   "runs %s after the last reconcile",
                   units_duration(every, from->reconcile_ms));
        return;
    }
    check_report(c, VERDICT_WARN,
                 "set from.capture.deletes, {\"reconcile\": \"1h\"} for example, or use the change "
                 "log; or mark rows as deleted and exclude them in from.where",
                 "rows that are deleted in the table%s stay in the index",
                 from->where != NULL ? ", and not by a change that from.where excludes," : "");
}

const struct probe probes_cursor[] = {
    {"cursor", FACT_TABLE, FACT_LOG, probe_cursor_column},
    {"horizon", FACT_LOG, 0, probe_cursor_horizon},
    {"deletes", FACT_TABLE, 0, probe_cursor_deletes},
    {0},
};
