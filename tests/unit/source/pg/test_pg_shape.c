/* SPDX-License-Identifier: Apache-2.0 */
/* A result that does not match its declared form is refused. */
#include "pg/pg_shape.h"

#include <stdio.h>
#include <string.h>

#include "rowferry/base/embed.h"
#include "suite.h"

#define COLUMNS_MOST 4

extern const struct embedded source_sql[];

/* Makes a result whose rows all have the same values; null is NULL. */
static PGresult *make(int rows, int columns, const char *const *values)
{
    char name[] = "c";
    PGresAttDesc attributes[COLUMNS_MOST] = {{0}};
    PGresult *r = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    for (int i = 0; i < columns; i++) {
        attributes[i].name = name;
    }
    ck_assert_int_eq(PQsetResultAttrs(r, columns, attributes), 1);
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < columns; i++) {
            char *value = strdup(values[i] != NULL ? values[i] : "");
            int len = values[i] != NULL ? (int)strlen(value) : -1;
            ck_assert_int_eq(PQsetvalue(r, row, i, value, len), 1);
            free(value);
        }
    }
    return r;
}

static bool fits(const char *shape, int rows, int columns, const char *const *values)
{
    char why[160] = "";
    PGresult *r = make(rows, columns, values);
    bool is = pg_shape_fits(shape, r, why, sizeof(why));
    ck_assert_msg(is == (why[0] == '\0'), "%s", why);
    PQclear(r);
    return is;
}

START_TEST(rows_are_counted)
{
    static const char *const value[] = {"x"};
    static const struct {
        const char *shape;
        bool fits[3]; /* for a result with that many rows */
    } cases[] = {
        {"none", {false, false, false}},
        {"one: text", {false, true, false}},
        {"maybe: text", {true, true, false}},
        {"any: text", {true, true, true}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int rows = 0; rows < 3; rows++) {
            ck_assert_msg(fits(cases[i].shape, rows, 1, value) == cases[i].fits[rows],
                          "%s with %d rows", cases[i].shape, rows);
        }
    }
    ck_assert(fits("none", 0, 0, NULL));
    ck_assert(fits("none\nselect 1", 0, 0, NULL));
}
END_TEST

START_TEST(columns_are_counted)
{
    static const char *const values[] = {"x", "1", "2", "3"};
    ck_assert(fits("one: text, int", 1, 2, values));
    ck_assert(!fits("one: text, int", 1, 1, values));
    ck_assert(!fits("one: text, int", 1, 3, values));
    ck_assert(!fits("one: text, int", 1, 0, values));
    ck_assert(fits("any: text, int*", 3, 4, values));
    ck_assert(fits("any: text, int*", 3, 2, values));
    ck_assert(!fits("any: text, int*", 3, 1, values));
}
END_TEST

START_TEST(null_is_refused_unless_it_is_declared)
{
    static const char *const values[] = {"x", NULL};
    ck_assert(fits("one: text, text?", 1, 2, values));
    ck_assert(!fits("one: text, text", 1, 2, values));
    ck_assert(fits("one: text, int?", 1, 2, values));
    ck_assert(fits("one: text?*", 1, 2, values));
    ck_assert(!fits("one: text*", 1, 2, values));
}
END_TEST

START_TEST(numbers_and_booleans_are_checked)
{
    static const struct {
        const char *shape;
        const char *value;
        bool fits;
    } cases[] = {
        {"one: int", "0", true},
        {"one: int", "-9223372036854775808", true},
        {"one: int", "9223372036854775807", true},
        {"one: int", "9223372036854775808", false},
        {"one: int", "99999999999999999999999", false},
        {"one: int", "", false},
        {"one: int", "-", false},
        {"one: int", " 1", false},
        {"one: int", "1x", false},
        {"one: int", "1.5", false},
        {"one: bool", "t", true},
        {"one: bool", "f", true},
        {"one: bool", "true", false},
        {"one: bool", "", false},
        {"one: text", "", true},
        {"one: word", "", false},
        {"some: text", "", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_msg(fits(cases[i].shape, 1, 1, &cases[i].value) == cases[i].fits, "%s: \"%s\"",
                      cases[i].shape, cases[i].value);
    }
}
END_TEST

/* Returns false for scripts and templates, which are not run by their names. */
static bool is_asked(const struct embedded *text)
{
    static const char *const others[] = {"install_",   "remove_",      "session", "copy_left",
                                         "copy_split", "survey_shape", "print_"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strncmp(text->name, others[i], strlen(others[i])) == 0) {
            return false;
        }
    }
    return text->name[0] < '0' || text->name[0] > '9';
}

START_TEST(every_query_in_migrations_declares_its_result)
{
    size_t count = 0;
    for (const struct embedded *text = source_sql; text->name != NULL; text++) {
        char why[160] = "";
        if (!is_asked(text)) {
            continue;
        }
        const char *shape = pg_shape_of(text->text);
        ck_assert_msg(shape != NULL, "%s.sql lacks \"-- returns\"", text->name);
        PGresult *r = make(0, 0, NULL);
        (void)!pg_shape_fits(shape, r, why, sizeof(why));
        ck_assert_msg(strstr(why, "no shape") == NULL, "%s.sql: %s", text->name, why);
        PQclear(r);
        count++;
    }
    ck_assert_uint_gt(count, 50);
}
END_TEST

SUITE_MAIN("source/pg_shape", rows_are_counted, columns_are_counted,
           null_is_refused_unless_it_is_declared, numbers_and_booleans_are_checked,
           every_query_in_migrations_declares_its_result)
