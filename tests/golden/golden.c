/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows as the program does: with its catalogue lookup, its statement and its plan. */
#include "golden.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rows/rowsql.h"

#define DOCUMENT_BYTES (1 << 20)
#define MAX_COLUMNS 64

static void die(const char *place, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", place, err->message);
    exit(EXIT_FAILURE);
}

struct pg *golden_open(void)
{
    struct pg *pg = NULL;
    struct err err;
    struct source_options options = {
        .uri = getenv("ROWFERRY_TEST_PG"),
        .connect_timeout_ms = 10000,
        .lock_timeout_ms = 120000, /* for two that create the same extension at a time */
        .application_name = "golden",
    };
    if (options.uri == NULL) {
        puts("skip: needs a PostgreSQL in $ROWFERRY_TEST_PG");
        exit(GOLDEN_SKIPPED);
    }
    if (pg_open(&pg, &options, &err) < 0) {
        die(options.uri, &err);
    }
    return pg;
}

void golden_run(struct pg *pg, const char *sql, const char *place)
{
    struct err err;
    if (pg_script(pg, sql, &err) < 0) {
        die(place, &err);
    }
}

bool golden_try(struct pg *pg, const char *sql, struct err *err)
{
    golden_run(pg, "savepoint golden_try", sql);
    bool good = pg_script(pg, sql, err) == 0;
    golden_run(pg, good ? "release savepoint golden_try" : "rollback to savepoint golden_try", sql);
    return good;
}

/* Uses "pg_temp_3.NAME", as it would be configured in the program. */
static void find_table(struct golden_plan *p, struct pg *pg, const char *name)
{
    static const char schema_query[] =
        "select nspname from pg_namespace where oid = pg_my_temp_schema()";
    static const char *const key[] = {"k"};
    struct pg_result *schema = NULL;
    struct err err;
    char full[128];
    if (pg_query(pg, &schema, "one: text", schema_query, NULL, 0, &err) < 0) {
        die(name, &err);
    }
    snprintf(full, sizeof(full), "%s.%s", pg_text(schema, 0, 0), name);
    pg_result_release(schema);
    if (catalog_table(pg, &p->table, full, key, 1, &err) < 0) {
        die(full, &err);
    }
}

void golden_plan(struct golden_plan *p, struct pg *pg, const char *table, const char *properties)
{
    struct buf json;
    struct err err;
    *p = (struct golden_plan){.fits = false};
    buf_init(&json, 65536);
    buf_printf(&json, "{\"dynamic\":true,\"properties\":%s}", properties);
    if (mapping_parse(&p->mapping, buf_text(&json), &err) < 0) {
        die(buf_text(&json), &err);
    }
    buf_release(&json);
    find_table(p, pg, table);
    struct plan_input in = {
        .mapping = &p->mapping, .columns = &p->table->columns, .document_bytes = DOCUMENT_BYTES};
    p->fits = plan_compile(&p->plan, &in, NULL, &p->err) == 0;
}

void golden_plan_release(struct golden_plan *p)
{
    if (p->fits) {
        plan_release(&p->plan);
    }
    catalog_table_free(p->table);
    mapping_release(&p->mapping);
}

static struct pg_result *read_row(const struct golden_plan *p, struct pg *pg)
{
    static const char *const first[] = {"1"};
    struct rowsql_input in = {.table = p->table,
                              .columns = (const char *const *)p->plan.columns,
                              .column_count = p->plan.column_count};
    struct rowsql sql = {0};
    struct pg_result *row = NULL;
    struct err err;
    if (rowsql_build(&sql, &in, &err) < 0 ||
        pg_query(pg, &row, "maybe: text?*", sql.range[ROWSQL_FIRST][0], first, 1, &err) < 0) {
        die(p->table->quoted, &err);
    }
    rowsql_release(&sql);
    return row;
}

bool golden_encode(struct batch *batch, const struct golden_plan *p, struct pg *pg,
                   struct refusal *refusal)
{
    struct pg_result *result = read_row(p, pg);
    struct value values[MAX_COLUMNS + 1];
    size_t count = p->plan.column_count + 1;
    for (size_t i = 0; i < count && i <= MAX_COLUMNS; i++) {
        const char *text = pg_text(result, 0, i);
        values[i] = (struct value){
            .text = text, .len = text != NULL ? strlen(text) : 0, .null = text == NULL};
    }
    struct row row = {.values = values, .count = count};
    bool good = encode_upsert(batch, &p->plan, &row, 1, 1, refusal);
    pg_result_release(result);
    return good;
}
