/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random tables: a row's document must equal PostgreSQL's to_jsonb, except for the differences that
 * the type table documents. A row must be refused if, and only if, a property cannot hold it. Both
 * expectations are computed in SQL (differential.sql), which shares no code with the encoder.
 *
 *     golden_differential SQL      $ROWFERRY_SEEDS tables from the seed $ROWFERRY_SEED on
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differential.h"
#include "golden.h"
#include "rowferry/base/text.h"

#define SQL_BYTES (1 << 20)
#define MAX_COLUMNS 12
#define MAX_RULES 32
#define TABLES_A_SEED 5

struct counts {
    const char *rules[MAX_RULES];
    size_t used[MAX_RULES];
    size_t nulls;
    size_t accepted;
    size_t refused;
    size_t wrong;
};

struct random_column {
    const struct kind *kind;
    int dimensions; /* 0: not an array */
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static unsigned below(uint64_t *state, size_t limit)
{
    return (unsigned)(next_random(state) % limit);
}

/* Writes one value in parentheses, cast to the type. */
static void push_value(struct buf *sql, const struct kind *k, uint64_t *state)
{
    size_t count = 0;
    while (count < KIND_VALUES && k->values[count] != NULL) {
        count++;
    }
    buf_push_literal(sql, "(");
    buf_printf(sql, k->values[below(state, count)], below(state, UINT32_MAX));
    buf_printf(sql, ")::%s", k->type);
}

/* Writes "array[...]" with that many dimensions; sizes[0] is the size of the outermost. */
static void push_array(struct buf *sql, const struct kind *k, int dimensions, const unsigned *sizes,
                       uint64_t *state)
{
    buf_push_literal(sql, "array[");
    for (unsigned i = 0; i < sizes[0]; i++) {
        buf_push_text(sql, i > 0 ? ", " : "");
        if (dimensions > 1) {
            push_array(sql, k, dimensions - 1, sizes + 1, state);
        } else if (below(state, 5) == 0) {
            buf_push_literal(sql, "null");
        } else {
            push_value(sql, k, state);
        }
    }
    buf_push_literal(sql, "]");
}

static void push_column_value(struct buf *sql, const struct random_column *c, uint64_t *state)
{
    if (below(state, 8) == 0) {
        buf_push_literal(sql, "null");
    } else if (c->dimensions == 0) {
        push_value(sql, c->kind, state);
    } else if (below(state, 8) == 0) {
        buf_push_literal(sql, "'{}'");
    } else {
        const unsigned sizes[] = {below(state, 3) + 1, below(state, 3) + 1, below(state, 2) + 1};
        push_array(sql, c->kind, c->dimensions, sizes, state);
        buf_printf(sql, "::%s[]", c->kind->type);
    }
}

static void choose(struct random_column *columns, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        columns[i].kind = &kinds[below(state, kind_count)];
        columns[i].dimensions = below(state, 4) == 0 ? (int)below(state, 3) + 1 : 0;
        /* JSON values may be arrays, which cannot be distinguished from the array's dimensions */
        if (strncmp(columns[i].kind->type, "json", 4) == 0) {
            columns[i].dimensions = 0;
        }
    }
}

static void create(struct pg *pg, const struct random_column *columns, size_t count,
                   uint64_t *state)
{
    struct buf sql;
    buf_init(&sql, SQL_BYTES);
    buf_push_literal(&sql,
                     "drop table if exists pg_temp.golden; create temporary table golden (k int");
    for (size_t i = 0; i < count; i++) {
        buf_printf(&sql, ", c%zu %s%s", i, columns[i].kind->type,
                   columns[i].dimensions > 0 ? "[]" : "");
    }
    buf_push_literal(&sql, "); insert into golden values (1");
    for (size_t i = 0; i < count; i++) {
        buf_push_literal(&sql, ", ");
        push_column_value(&sql, &columns[i], state);
    }
    buf_push_literal(&sql, ")");
    golden_run(pg, buf_text(&sql), buf_text(&sql));
    buf_release(&sql);
}

static char *properties_of(const struct random_column *columns, size_t count)
{
    struct buf json;
    buf_init(&json, SQL_BYTES);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&json, "%s\"c%zu\":{\"type\":\"%s\"}", i == 0 ? "{" : ",", i,
                   columns[i].kind->property);
    }
    buf_push_literal(&json, "}");
    return buf_detach(&json);
}

/* Builds the query for PostgreSQL; $1 is our document or null. It returns the expected document,
 * whether the row must be refused, whether our document is equal, and the number of null
 * columns. */
static char *question(const struct random_column *columns, size_t count)
{
    struct buf sql;
    buf_init(&sql, SQL_BYTES);
    buf_push_literal(&sql, "with columns(n, v, r, l) as (");
    for (size_t i = 0; i < count; i++) {
        buf_printf(&sql, "%sselect 'c%zu', to_jsonb(c%zu), '%s', '%s' from golden",
                   i > 0 ? " union all " : "", i, i, columns[i].kind->rule, columns[i].kind->limit);
    }
    buf_push_literal(
        &sql, "), unfit as (select bool_or(v is not null and pg_temp.unfit(v, l)) as u "
              "from columns), expected as (select case when not (select u from unfit) then "
              "(select '{\"source_id\":\"1\"}' || coalesce(jsonb_object_agg(n, "
              "pg_temp.expect(v, r)) filter (where v is not null), '{}') from columns) end as e) "
              "select e::text, u, e::text is not distinct from ($1::text)::jsonb::text, "
              "(select count(*) from columns where v is null) from expected, unfit");
    return buf_detach(&sql);
}

static void count_rules(struct counts *c, const struct random_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = 0;
        while (c->rules[n] != NULL && strcmp(c->rules[n], columns[i].kind->rule) != 0) {
            n++;
        }
        c->rules[n] = columns[i].kind->rule;
        c->used[n]++;
    }
}

static bool parses(const char *document)
{
    enum json_tokener_error error;
    struct json_object *json = json_tokener_parse_verbose(document, &error);
    json_object_put(json);
    return error == json_tokener_success;
}

/* `document` is ours, or null if there was a refusal. */
static void judge(struct counts *c, struct pg *pg, const char *sql, const char *document,
                  const struct refusal *refusal, uint64_t seed)
{
    const char *const params[] = {document};
    struct pg_result *r = NULL;
    struct err err;
    if (pg_query(pg, &r, "one: text?*", sql, params, 1, &err) < 0) {
        fprintf(stderr, "seed %" PRIu64 ": %s\n%s\n", seed, err.message, sql);
        exit(EXIT_FAILURE);
    }
    bool refused = document == NULL;
    bool good = pg_true(r, 0, 1) == refused && pg_true(r, 0, 2) && (refused || parses(document));
    c->nulls += (size_t)pg_int(r, 0, 3);
    c->accepted += !refused;
    c->refused += refused;
    if (!good) {
        c->wrong++;
        fprintf(stderr, "seed %" PRIu64 ": %s\n  expected %s\n  got      %s%s%s\n  from %s\n", seed,
                pg_true(r, 0, 1) ? "has to be refused" : "fits",
                pg_text(r, 0, 0) != NULL ? pg_text(r, 0, 0) : "nothing",
                refused ? refusal->column : document, refused ? ": " : "",
                refused ? refusal->reason : "", sql);
    }
    pg_result_release(r);
}

/* Encodes the row. If a column is rightly refused, it is set to NULL, until the row is accepted. */
static void try_row(struct counts *c, struct pg *pg, const struct golden_plan *plan,
                    const char *sql, uint64_t seed)
{
    char update[128];
    struct batch batch;
    struct refusal refusal;
    bool accepted = false;
    batch_init(&batch, 1 << 20, 1 << 20, 10);
    while (!accepted && c->wrong == 0) {
        accepted = golden_encode(&batch, plan, pg, &refusal);
        judge(c, pg, sql, accepted ? strchr(buf_text(&batch.bytes), '\n') + 1 : NULL, &refusal,
              seed);
        if (!accepted) {
            snprintf(update, sizeof(update), "update pg_temp.golden set %s = null", refusal.column);
            golden_run(pg, update, update);
        }
    }
    batch_release(&batch);
}

static void try_table(struct counts *c, struct pg *pg, uint64_t *state, uint64_t seed)
{
    struct random_column columns[MAX_COLUMNS];
    size_t count = below(state, MAX_COLUMNS) + 1;
    struct golden_plan plan;
    choose(columns, count, state);
    create(pg, columns, count, state);
    char *properties = properties_of(columns, count);
    char *sql = question(columns, count);
    golden_plan(&plan, pg, "golden", properties);
    if (plan.fits) {
        try_row(c, pg, &plan, sql, seed);
        count_rules(c, columns, count);
    } else {
        c->wrong++;
        fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, plan.err.message);
    }
    golden_plan_release(&plan);
    free(properties);
    free(sql);
}

static char *read_file(const char *path)
{
    struct buf text;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    buf_init(&text, SQL_BYTES);
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        buf_push_char(&text, (char)c);
    }
    fclose(file);
    return buf_detach(&text);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void report(const struct counts *c)
{
    printf("%zu documents equal to_jsonb, %zu values refused, %zu wrong\n", c->accepted, c->refused,
           c->wrong);
    printf("  %zu columns: NULL is left out\n", c->nulls);
    for (size_t i = 0; c->rules[i] != NULL; i++) {
        printf("  %zu columns: %s\n", c->used[i], c->rules[i]);
    }
}

int main(int argc, char **argv)
{
    uint64_t first = number_of("ROWFERRY_SEED", 1);
    uint64_t seeds = getenv("ROWFERRY_SEED") != NULL ? 1 : number_of("ROWFERRY_SEEDS", 60);
    struct counts counts = {.wrong = 0};
    if (argc != 2) {
        fputs("golden_differential SQL\n", stderr);
        return EXIT_FAILURE;
    }
    struct pg *pg = golden_open();
    char *functions = read_file(argv[1]);
    golden_run(pg, "begin", "begin");
    golden_run(pg, functions, argv[1]);
    for (uint64_t seed = first; seed < first + seeds && counts.wrong == 0; seed++) {
        uint64_t state = seed * 0x9e3779b97f4a7c15u;
        golden_run(pg, "savepoint seed", "savepoint"); /* releases the locks of dropped tables */
        for (int i = 0; i < TABLES_A_SEED; i++) {
            try_table(&counts, pg, &state, seed);
        }
        golden_run(pg, "rollback to savepoint seed", "savepoint");
    }
    golden_run(pg, "rollback", "rollback");
    pg_close(pg);
    free(functions);
    report(&counts);
    return counts.wrong == 0 && counts.accepted == seeds * TABLES_A_SEED ? EXIT_SUCCESS
                                                                         : EXIT_FAILURE;
}
