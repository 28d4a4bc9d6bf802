/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden pairs: an SQL value, through a real PostgreSQL and the encoder, against the JSON that was
 * written by hand.
 *
 * pairs.txt: "SQL expression | mapping type or property | expected JSON", where the expectation may
 * be "absent" (NULL is left out), "refused: REASON" or "misfit" (the pair cannot be). A line that
 * starts with '!' is SQL to run first, '#' is a comment. All of it is rolled back at the end.
 */
#include <check.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/document/encode.h"

#define SKIPPED 77
#define LEAST_PAIRS 100

static const char session[] =
    "set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set intervalstyle = 'iso_8601';"
    "set extra_float_digits = 1; set bytea_output = 'hex'; set client_encoding = 'UTF8';"
    "set xmloption = 'content'; set search_path = pg_catalog; begin";

/* A type by its oid, as the catalogue look-up describes a column. */
static const char type_query[] =
    "select t.typname, e.typname, format_type(t.oid, null), t.typtype from pg_type t"
    " left join pg_type e on e.oid = t.typelem and t.typcategory = 'A' where t.oid = $1::oid";

static PGconn *db;
static const char *pairs_path;

static PGresult *run(const char *sql, int line)
{
    PGresult *result = PQexec(db, sql);
    ExecStatusType status = PQresultStatus(result);
    ck_assert_msg(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, "line %d: %s", line,
                  PQresultErrorMessage(result));
    return result;
}

static struct column describe(const PGresult *value)
{
    char oid[16];
    snprintf(oid, sizeof(oid), "%u", PQftype(value, 0));
    const char *const params[] = {oid};
    PGresult *type = PQexecParams(db, type_query, 1, NULL, params, NULL, NULL, 0);
    ck_assert_int_eq(PQntuples(type), 1);
    bool array = PQgetisnull(type, 0, 1) == 0;
    struct column column = {
        .name = text_copy("p"),
        .type = text_copy(PQgetvalue(type, 0, 0)),
        .element_type = array ? text_copy(PQgetvalue(type, 0, 1)) : NULL,
        .declared = text_copy(PQgetvalue(type, 0, 2)),
        .category = PQgetvalue(type, 0, 3)[0],
    };
    PQclear(type);
    return column;
}

/* Appends what became of the value: the JSON, "absent", "refused: ..." or "misfit". */
static void push_encoded(struct buf *out, const struct plan *plan, const PGresult *value)
{
    struct value values[2] = {
        {.text = "1", .len = 1},
        {.text = PQgetvalue(value, 0, 0),
         .len = (size_t)PQgetlength(value, 0, 0),
         .null = PQgetisnull(value, 0, 0) != 0},
    };
    struct row row = {values, 2};
    struct refusal refusal;
    struct batch batch;
    batch_init(&batch, 1 << 20, 1 << 20, 10);
    if (!encode_upsert(&batch, plan, &row, 1, 1, &refusal)) {
        buf_printf(out, "refused: %s", refusal.reason);
    } else {
        static const char start[] = ",\"p\":";
        const char *document = strchr(batch.bytes.data, '\n') + 1;
        const char *json = strstr(document, start);
        if (json == NULL) {
            buf_push_literal(out, "absent");
        } else {
            json += sizeof(start) - 1;
            buf_push(out, json, strlen(json) - 2);
        }
    }
    batch_release(&batch);
}

static void push_outcome(struct buf *out, const char *property, const PGresult *value)
{
    struct err err;
    struct buf json;
    struct mapping mapping;
    struct plan plan;
    struct column column = describe(value);
    struct columns columns = {&column, 1};
    struct plan_input in = {&mapping, &columns, NULL, 0, 1 << 20};
    buf_init(&json, 4096);
    const char *form = property[0] == '{' ? "%s" : "{\"type\":\"%s\"}";
    buf_push_literal(&json, "{\"dynamic\":true,\"properties\":{\"p\":");
    buf_printf(&json, form, property);
    buf_push_literal(&json, "}}");
    ck_assert_msg(mapping_parse(&mapping, buf_text(&json), &err) == 0, "%s", err.message);
    if (plan_compile(&plan, &in, NULL, &err) == 0) {
        push_encoded(out, &plan, value);
        plan_release(&plan);
    } else {
        buf_push_literal(out, "misfit");
    }
    mapping_release(&mapping);
    buf_release(&json);
    free(column.name);
    free(column.type);
    free(column.element_type);
    free(column.declared);
}

/* Cuts the line at " | " and returns what stands behind it, or null. */
static char *cut(char *line)
{
    char *bar = strstr(line, " | ");
    if (bar == NULL) {
        return NULL;
    }
    *bar = '\0';
    return bar + 3;
}

/* True where the pair is as expected. */
static bool check_pair(char *expression, int line)
{
    char *property = cut(expression);
    char *expected = property != NULL ? cut(property) : NULL;
    ck_assert_msg(expected != NULL, "line %d: expects \"SQL | property | JSON\"", line);
    struct buf sql;
    struct buf got;
    buf_init(&sql, 65536);
    buf_init(&got, 1 << 20);
    buf_printf(&sql, "select %s", expression);
    PGresult *value = run(buf_text(&sql), line);
    push_outcome(&got, property, value);
    PQclear(value);
    bool same = strcmp(buf_text(&got), expected) == 0;
    if (!same) {
        fprintf(stderr, "line %d: %s into %s\n  expected %s\n  got      %s\n", line, expression,
                property, expected, buf_text(&got));
    }
    buf_release(&sql);
    buf_release(&got);
    return same;
}

START_TEST(each_value_arrives_as_written_by_hand)
{
    FILE *file = fopen(pairs_path, "r");
    ck_assert_msg(file != NULL, "cannot open %s", pairs_path);
    char *line = NULL;
    size_t capacity = 0;
    int number = 0;
    int pairs = 0;
    int wrong = 0;
    PQclear(run(session, 0));
    for (ssize_t len = getline(&line, &capacity, file); len >= 0;
         len = getline(&line, &capacity, file)) {
        line[strcspn(line, "\n")] = '\0';
        number++;
        if (line[0] == '!') {
            PQclear(run(line + 1, number));
        } else if (line[0] != '\0' && line[0] != '#') {
            pairs++;
            wrong += !check_pair(line, number);
        }
    }
    PQclear(run("rollback", 0));
    free(line);
    fclose(file);
    ck_assert_msg(wrong == 0, "%d of %d pairs are wrong", wrong, pairs);
    ck_assert_int_ge(pairs, LEAST_PAIRS);
}
END_TEST

int main(int argc, char **argv)
{
    const char *uri = getenv("ROWFERRY_TEST_PG");
    if (uri == NULL || argc != 2) {
        puts("skip: needs a PostgreSQL in $ROWFERRY_TEST_PG and the file of pairs");
        return SKIPPED;
    }
    pairs_path = argv[1];
    db = PQconnectdb(uri);
    if (PQstatus(db) != CONNECTION_OK) {
        fprintf(stderr, "%s", PQerrorMessage(db));
        return EXIT_FAILURE;
    }
    Suite *suite = suite_create("golden/pairs");
    TCase *tcase = tcase_create("pairs");
    tcase_set_timeout(tcase, 50);
    tcase_add_test(tcase, each_value_arrives_as_written_by_hand);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK); /* one connection */
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    PQfinish(db);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
