/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a result has the shape that its statement declares. */
#include "pg/pg_shape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "-- returns "

enum pg_shape_kind { KIND_TEXT, KIND_INT, KIND_BOOL };

struct pg_shape_column {
    enum pg_shape_kind kind;
    bool nullable;
    bool repeated;
};

struct pg_shape {
    int least_rows;
    int most_rows; /* -1: any number */
    const char *columns;
};

const char *pg_shape_of(const char *sql)
{
    while (strncmp(sql, "--", 2) == 0) {
        if (strncmp(sql, MARK, strlen(MARK)) == 0) {
            return sql + strlen(MARK);
        }
        sql += strcspn(sql, "\n");
        sql += *sql == '\n';
    }
    return NULL;
}

static bool pg_shape_skip_word(const char **at, const char *word)
{
    size_t len = strlen(word);
    bool is = strncmp(*at, word, len) == 0;
    *at += is ? len : 0;
    return is;
}

static bool pg_shape_is_end(char c)
{
    return c == '\0' || c == '\n';
}

/* Returns false if the text is not a valid shape. */
static bool pg_shape_read_rows(struct pg_shape *out, const char *text)
{
    *out = (struct pg_shape){.columns = text};
    const char **at = &out->columns;
    if (pg_shape_skip_word(at, "none")) {
        return pg_shape_is_end(**at);
    }
    if (pg_shape_skip_word(at, "one")) {
        out->least_rows = out->most_rows = 1;
    } else if (pg_shape_skip_word(at, "maybe")) {
        out->most_rows = 1;
    } else if (pg_shape_skip_word(at, "any")) {
        out->most_rows = -1;
    } else {
        return false;
    }
    return pg_shape_skip_word(at, ": ") || pg_shape_is_end(**at);
}

/* Reads the next column. Returns false at the end or if the text is invalid. */
static bool pg_shape_read_column(struct pg_shape_column *out, const char **at)
{
    *out = (struct pg_shape_column){KIND_TEXT, false, false};
    if (pg_shape_skip_word(at, "int")) {
        out->kind = KIND_INT;
    } else if (pg_shape_skip_word(at, "bool")) {
        out->kind = KIND_BOOL;
    } else if (!pg_shape_skip_word(at, "text")) {
        return false;
    }
    out->nullable = pg_shape_skip_word(at, "?");
    out->repeated = pg_shape_skip_word(at, "*");
    return pg_shape_skip_word(at, ", ") || pg_shape_is_end(**at);
}

static bool pg_shape_is_int(const char *text)
{
    size_t sign = text[0] == '-';
    size_t digits = strspn(text + sign, "0123456789");
    if (digits == 0 || digits > 19 || text[sign + digits] != '\0') {
        return false;
    }
    errno = 0;
    (void)strtoll(text, NULL, 10);
    return errno == 0;
}

static bool pg_shape_value_fits(const struct pg_shape_column *c, const char *text)
{
    switch (c->kind) {
    case KIND_INT:
        return pg_shape_is_int(text);
    case KIND_BOOL:
        return strcmp(text, "t") == 0 || strcmp(text, "f") == 0;
    default:
        return true;
    }
}

static bool pg_shape_check_column(const struct pg_shape_column *c, const PGresult *r, int column,
                                  char *why, size_t size)
{
    static const char *const names[] = {"text", "int", "bool"};
    for (int row = 0; row < PQntuples(r); row++) {
        bool null = PQgetisnull(r, row, column) != 0;
        if (null ? !c->nullable : !pg_shape_value_fits(c, PQgetvalue(r, row, column))) {
            snprintf(why, size, "column %d of row %d is %s%s", column + 1, row + 1,
                     null ? "NULL" : "no ", null ? "" : names[c->kind]);
            return false;
        }
    }
    return true;
}

bool pg_shape_fits(const char *text, const PGresult *r, char *why, size_t why_size)
{
    struct pg_shape shape;
    struct pg_shape_column c = {KIND_TEXT, false, false};
    int rows = PQntuples(r);
    int columns = PQnfields(r);
    int column = 0;
    if (!pg_shape_read_rows(&shape, text)) {
        snprintf(why, why_size, "\"%.*s\" is not a valid shape", (int)strcspn(text, "\n"), text);
        return false;
    }
    if (rows < shape.least_rows || (shape.most_rows >= 0 && rows > shape.most_rows)) {
        snprintf(why, why_size, "%d rows", rows);
        return false;
    }
    const char *at = shape.columns;
    while (!pg_shape_is_end(*at)) {
        if (!pg_shape_read_column(&c, &at)) {
            snprintf(why, why_size, "\"%.*s\" is not a valid shape", (int)strcspn(text, "\n"),
                     text);
            return false;
        }
        int end = c.repeated && pg_shape_is_end(*at) && columns > column ? columns : column + 1;
        for (; column < end; column++) {
            if (column < columns && !pg_shape_check_column(&c, r, column, why, why_size)) {
                return false;
            }
        }
    }
    if (column != columns) {
        snprintf(why, why_size, "%d columns in place of %d", columns, column);
        return false;
    }
    return true;
}
