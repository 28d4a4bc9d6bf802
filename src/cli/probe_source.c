/* SPDX-License-Identifier: Apache-2.0 */
/* What check asks of the source: whether it answers, the table, its key, the change log, the plan.
 */
#include <stdio.h>
#include <stdlib.h>

#include "probe.h"
#include "rowferry/base/units.h"
#include "rowferry/document/plan.h"
#include "rowferry/source/install.h"
#include "rowferry/source/query.h"

#define POSTGRES_OLDEST 130000
#define WHY_BYTES 4096

/* --- once --------------------------------------------------------------------------------------
 */

static void probe_source(struct check *c)
{
    struct err err;
    struct source_options options;
    session_source_options(&c->session, &options);
    int rc = pg_open(&c->pg, &options, &err);
    if (rc == 0) {
        rc = pg_identify(c->pg, &c->identity, &err);
    }
    if (rc < 0) {
        check_fail(c, &err);
        return;
    }
    const struct pg_identity *id = &c->identity;
    check_say(c, VERDICT_PASS, NULL, "PostgreSQL %d.%d answers, database \"%s\", role \"%s\"",
              id->server_version / 10000, id->server_version % 10000, id->database, id->role);
}

static bool needs_log(const struct check *c)
{
    bool needs = false;
    for (size_t i = 0; i < c->setup->count; i++) {
        needs = needs || c->setup->pipelines[i]->from.capture_mode == CAPTURE_MODE_CHANGELOG;
    }
    return needs;
}

static void probe_server(struct check *c)
{
    struct err err;
    const struct pg_identity *id = &c->identity;
    if (id->server_version < POSTGRES_OLDEST) {
        check_say(c, VERDICT_FAIL, "use PostgreSQL 13 or newer",
                  "PostgreSQL %d has no pg_snapshot, which the change log needs",
                  id->server_version / 10000);
    } else if (id->in_recovery && needs_log(c) && pg_check_primary(c->pg, &err) < 0) {
        check_fail(c, &err);
    } else if (id->in_recovery) {
        check_say(c, VERDICT_PASS, NULL, "a standby%s, timeline %d",
                  needs_log(c) ? " whose primary answers" : "", id->timeline);
    } else {
        check_say(c, VERDICT_PASS, NULL, "a primary, timeline %d", id->timeline);
    }
}

static void probe_role(struct check *c)
{
    if (c->identity.superuser) {
        check_say(c, c->accept_admin ? VERDICT_WARN : VERDICT_FAIL,
                  "create role rowferry login; then rowferry source install --reader rowferry, as "
                  "now, and name that role in source.uri; or --accept-admin, where it is meant",
                  "role \"%s\" is a superuser: it may change all that there is", c->identity.role);
    } else {
        check_say(c, VERDICT_PASS, NULL, "\"%s\" is no superuser", c->identity.role);
    }
}

const struct probe probes_source[] = {
    {"source", FACT_SECRETS, FACT_SOURCE, probe_source},
    {"server", FACT_SOURCE, 0, probe_server},
    {"role", FACT_SOURCE, 0, probe_role},
    {0},
};

/* --- of each pipeline --------------------------------------------------------------------------
 */

static void probe_table(struct check *c)
{
    struct err err;
    char rows[UNITS_BYTES];
    char size[UNITS_BYTES];
    const struct from_config *from = &c->pipeline->from;
    if (catalog_table(c->pg, &c->table, from->table, (const char *const *)from->key,
                      from->key_count, &err) < 0 ||
        (from->query != NULL && catalog_query(c->pg, c->table, from->query, &err) < 0)) {
        check_fail(c, &err);
        return;
    }
    const struct table *t = c->table;
    if (t->row_security) {
        char remedy[256];
        snprintf(remedy, sizeof(remedy), PG_ROW_SECURITY_REMEDY, c->identity.role);
        check_say(c, VERDICT_FAIL, remedy, "row security hides rows of %s from this role",
                  t->quoted);
    } else if (t->estimated_rows < 0) {
        check_say(c, VERDICT_PASS, NULL, "%s, %s, never analysed", t->quoted,
                  units_size(size, t->bytes));
    } else {
        check_say(c, VERDICT_PASS, NULL, "%s, about %s rows, %s", t->quoted,
                  units_count(rows, t->estimated_rows), units_size(size, t->bytes));
    }
}

static void push_key(struct buf *out, const struct table *t)
{
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(out, "%s\"%s\"", i > 0 ? ", " : "", t->key[i]);
    }
}

static void probe_key(struct check *c)
{
    struct buf key;
    buf_init(&key, WHY_BYTES);
    push_key(&key, c->table);
    if (!c->table->key_unique) {
        check_say(c, VERDICT_FAIL, "name key columns in from.key that a unique index covers",
                  "(%s) is not unique: no unique index covers it", buf_text(&key));
    } else if (c->table->tree && c->table->kind != 'p') {
        check_say(c, VERDICT_WARN, "see to it that no two of the tables have the same key",
                  "(%s) is unique in each of the tables that inherit from %s alone", buf_text(&key),
                  c->table->quoted);
    } else if (!c->table->key_not_null) {
        check_say(c, VERDICT_WARN, "add NOT NULL to the key's columns",
                  "(%s) may be NULL, and a row with a NULL key can only be a dead letter",
                  buf_text(&key));
    } else {
        check_say(c, VERDICT_PASS, NULL, "(%s) is unique and not null", buf_text(&key));
    }
    buf_release(&key);
}

/* A row that stops matching because time goes by has no change that tells: a reconcile finds it,
 * and not one that begins to match. */
static void say_unsteady(struct check *c, const char *function, bool query)
{
    const char *option = query ? "query" : "where";
    if (c->pipeline->from.reconcile_ms > 0) {
        check_say(c, VERDICT_WARN,
                  "let a column say it, which the application sets, where rows also begin to match",
                  "from.%s calls %s, whose result changes without a change of the table: rows that "
                  "match no more are found by from.capture.deletes, and no others",
                  option, function);
        return;
    }
    check_say(
        c, VERDICT_FAIL,
        "let a column say it, which the application sets, or set from.capture.deletes; a "
        "function of your own that depends on its arguments alone should be declared immutable",
        "from.%s calls %s, whose result changes without a change of the table", option, function);
}

/* False where nothing more is to be said. */
static bool is_steady(struct check *c, const struct query_input *in)
{
    struct err err;
    struct buf function;
    buf_init(&function, WHY_BYTES);
    int rc = query_unsteady(c->pg, in, &function, &err);
    bool steady = rc == 0 && function.len == 0;
    if (rc < 0) {
        check_fail(c, &err);
    } else if (!steady) {
        say_unsteady(c, buf_text(&function), in->root->query != NULL);
    }
    buf_release(&function);
    return steady;
}

static void probe_reading(struct check *c)
{
    struct err err;
    const struct from_config *from = &c->pipeline->from;
    struct query_input in = {c->table, from->where, from->dependencies, from->dependency_count};
    if (query_require(c->pg, &in, NULL, &err) < 0) {
        check_fail(c, &err);
        return;
    }
    if (!is_steady(c, &in)) {
        return;
    }
    check_say(c, VERDICT_PASS, NULL, "the role may read it%s%s",
              from->where != NULL ? ", and from.where is understood" : "",
              from->query != NULL ? ", and from.depends_on has all that from.query reads" : "");
}

/* Empty where it is installed as it should be. */
static int push_log_state(struct check *c, const struct table *table, struct buf *why, bool *broken,
                          struct err *err)
{
    enum install_state state;
    static const char *const texts[] = {
        [INSTALL_ABSENT] = "is not installed",
        [INSTALL_OLDER] = "is of an older version",
        [INSTALL_BROKEN] = "is broken",
        [INSTALL_CURRENT] = "",
    };
    int rc = install_look(c->pg, table, &state, why, err);
    if (rc == 0 && why->len == 0) {
        buf_push_text(why, texts[state]);
    }
    *broken = rc == 0 && state == INSTALL_BROKEN;
    return rc;
}

static int push_dependency_state(struct check *c, const struct dependency *d, struct buf *why,
                                 bool *broken, struct err *err)
{
    struct table *table = NULL;
    int rc = query_dependency(c->pg, &table, d, err);
    if (rc == 0) {
        rc = push_log_state(c, table, why, broken, err);
    }
    if (rc == 0 && why->len > 0) {
        buf_printf(why, " (%s)", table->quoted);
    }
    table_free(table);
    return rc;
}

static void probe_change_log(struct check *c)
{
    struct err err;
    struct buf why;
    const struct from_config *from = &c->pipeline->from;
    buf_init(&why, WHY_BYTES);
    bool notifies = false;
    bool broken = false;
    int rc = catalog_capturable(c->table, &err);
    if (rc == 0) {
        rc = push_log_state(c, c->table, &why, &broken, &err);
    }
    if (rc == 0 && why.len == 0) {
        rc = install_notifies(c->pg, c->table, &notifies, &err);
    }
    for (size_t i = 0; rc == 0 && why.len == 0 && i < from->dependency_count; i++) {
        rc = push_dependency_state(c, &from->dependencies[i], &why, &broken, &err);
    }
    if (rc < 0) {
        check_fail(c, &err);
    } else if (why.len > 0) {
        check_say(c, VERDICT_FAIL,
                  broken ? "run: rowferry source install; then everything is copied again, because "
                           "changes may have been missed"
                         : "run: rowferry source install",
                  "%s", buf_text(&why));
    } else {
        check_say(c, VERDICT_PASS, NULL, "is installed%s", notifies ? ", sends NOTIFY" : "");
    }
    buf_release(&why);
}

/* Of the table and of those that its query depends on. */
static int find_stale(struct check *c, struct buf *names, struct err *err)
{
    const struct from_config *from = &c->pipeline->from;
    int rc = install_stale(c->pg, c->table, names, err);
    for (size_t i = 0; rc == 0 && i < from->dependency_count; i++) {
        struct table *table = NULL;
        rc = query_dependency(c->pg, &table, &from->dependencies[i], err);
        rc = rc == 0 ? install_stale(c->pg, table, names, err) : rc;
        table_free(table);
    }
    return rc;
}

/* What a consumer that does not come back keeps, fills the application's disk. */
static void probe_consumers(struct check *c)
{
    struct err err;
    struct buf names;
    buf_init(&names, WHY_BYTES);
    int rc = install_left(c->pg, c->table, &names, &err);
    if (rc == 0 && names.len > 0) {
        check_say(c, VERDICT_WARN,
                  "attach it again; else the next sync looks for its documents and deletes them",
                  "tables left %s with their rows: %s", c->table->quoted, buf_text(&names));
        buf_release(&names);
        return;
    }
    rc = rc == 0 ? find_stale(c, &names, &err) : rc;
    if (rc < 0) {
        check_fail(c, &err);
    } else if (names.len > 0) {
        check_say(c, VERDICT_WARN,
                  "sync it; where it was given up: select rowferry.drop_consumer('...')",
                  "the change log keeps entries for %s", buf_text(&names));
    } else {
        check_say(c, VERDICT_PASS, NULL, "nobody keeps entries of the change log for long");
    }
    buf_release(&names);
}

/* remedy: of the first error; null where there is none. */
static void say_notes(struct check *c, const struct plan_notes *notes, const char *remedy)
{
    for (size_t i = 0; i < notes->count; i++) {
        const struct plan_note *note = &notes->items[i];
        check_say(c, note->error ? VERDICT_FAIL : VERDICT_WARN, note->error ? remedy : NULL, "%s",
                  note->text);
        remedy = note->error ? NULL : remedy;
    }
}

static bool notes_have_error(const struct plan_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        if (notes->items[i].error) {
            return true;
        }
    }
    return false;
}

static void probe_mapping(struct check *c)
{
    struct err err;
    struct mapping mapping = {0};
    struct plan plan = {0};
    struct plan_notes notes = {0};
    const struct pipeline_config *p = c->pipeline;
    struct plan_input in = {.mapping = &mapping,
                            .columns = &c->table->columns,
                            .fields = p->fields,
                            .field_count = p->field_count,
                            .document_bytes = (size_t)p->limits.document_bytes};
    int rc = mapping_parse(&mapping, p->to.mappings, &err);
    if (rc == 0) {
        rc = plan_compile(&plan, &in, &notes, &err);
    }
    if (rc < 0 && !notes_have_error(&notes)) {
        check_fail(c, &err);
    } else if (rc == 0) {
        check_say(c, VERDICT_PASS, NULL, "%zu propert%s filled from %zu column%s", plan.count,
                  plan.count == 1 ? "y" : "ies", plan.column_count,
                  plan.column_count == 1 ? "" : "s");
    }
    say_notes(c, &notes, rc < 0 && err.hint[0] != '\0' ? err.hint : NULL);
    plan_release(&plan);
    plan_notes_release(&notes);
    mapping_release(&mapping);
}

const struct probe probes_table[] = {
    {"table", FACT_SOURCE, FACT_TABLE, probe_table},
    {"key", FACT_TABLE, 0, probe_key},
    {"reading", FACT_TABLE, 0, probe_reading},
    {0},
};

const struct probe probes_log[] = {
    {"change log", FACT_TABLE, FACT_LOG, probe_change_log},
    {"consumers", FACT_LOG, 0, probe_consumers},
    {0},
};

const struct probe probes_mapping[] = {
    {"mapping", FACT_TABLE, 0, probe_mapping},
    {0},
};
