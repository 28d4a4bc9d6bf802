/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the values of the chosen rows, from the server, in the service's order. */
#include <stdlib.h>
#include <string.h>

#include "sample/sample_private.h"

#define TEXT_BYTES 16

#define VALUES_MOST 200000 /* of one property: an array may have many */
#define TEXT_MOST "256"

/* --- kinds of comparison --------------------------------------------------------------------- */

static bool sample_values_among(const char *word, const char *list)
{
    size_t len = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += len) {
        bool begins = at == list || at[-1] == ' ';
        if (begins && (at[len] == ' ' || at[len] == '\0')) {
            return true;
        }
    }
    return false;
}

static const struct column *sample_values_column_of(const struct sample *s,
                                                    const struct plan_step *step)
{
    return row_columns_find(&s->rows->columns, s->plan.columns[step->value - 1]);
}

/* Returns the element of an array column, or the column itself. */
static const struct column *sample_values_element_of(const struct column *c)
{
    return column_is_array(c) ? &c->parts[0] : c;
}

#define WHOLE "byte short integer long unsigned_long"
#define NUMBER_COLUMNS "int2 int4 int8 oid float4 float8 numeric"
#define KEYWORD_COLUMNS                                                                            \
    "text varchar bpchar name citext char uuid bool date timestamp timestamptz time timetz inet "  \
    "cidr " NUMBER_COLUMNS

static const struct {
    enum sample_how how;
    const char *properties;
    const char *columns;
} pairs[] = {
    {SAMPLE_KEYWORD, "keyword", KEYWORD_COLUMNS},
    {SAMPLE_NUMBER, WHOLE " float double scaled_float", NUMBER_COLUMNS},
    {SAMPLE_DATE, "date date_nanos", "date timestamp timestamptz"},
    {SAMPLE_BOOLEAN, "boolean", "bool"},
    {SAMPLE_ADDRESS, "ip", "inet cidr"},
};

static bool sample_values_said(const struct mapping *m, const char *property, const char *parameter,
                               const char *value)
{
    char *text = mapping_parameter(m, property, parameter);
    bool is = text != NULL && (value == NULL || strcmp(text, value) == 0);
    free(text);
    return is;
}

static const char *sample_values_obstacle(const struct mapping *m, const struct property *p)
{
    if (p->format != NULL && strstr(p->format, "strict_date_optional_time") == NULL) {
        return "its date format is its own";
    }
    return sample_values_said(m, p->name, "index", "false")     ? "it is not indexed"
           : sample_values_said(m, p->name, "normalizer", NULL) ? "a normalizer changes its values"
           : sample_values_said(m, p->name, "null_value", NULL)
               ? "a null_value replaces missing values"
               : NULL;
}

enum sample_how sample_how(const struct sample *s, const struct plan_step *step, const char **why)
{
    const struct column *c = sample_values_element_of(sample_values_column_of(s, step));
    const struct property *p = mapping_find(s->options.mapping, step->property);
    *why = "its type is not compared";
    if (p == NULL) { /* source_id, if the mapping does not name it */
        return SAMPLE_NOT;
    }
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        bool enums = pairs[i].how == SAMPLE_KEYWORD && c->category == 'e';
        if (sample_values_among(p->type, pairs[i].properties) &&
            (enums || sample_values_among(c->type, pairs[i].columns))) {
            *why = sample_values_obstacle(s->options.mapping, p);
            return *why == NULL ? pairs[i].how : SAMPLE_NOT;
        }
    }
    return SAMPLE_NOT;
}

/* --- values ---------------------------------------------------------------------------------- */

/* Writes the SQL expression of the text of alias.c. For a user-defined type it uses the output
 * function, because the type's owner may have defined a cast, which would run with our rights. */
static const char *sample_values_text_of(char out[TEXT_BYTES], const struct column *c, char alias)
{
    snprintf(out, TEXT_BYTES, catalog_is_users(c) ? "concat(%c.c)" : "%c.c::text", alias);
    return out;
}

/* Pushes the value to sort by (e) and its text (v), for the value u.c. */
static void sample_values_push_number(struct buf *sql, const struct property *p,
                                      const struct column *c)
{
    const char *n =
        strcmp(c->type, "oid") == 0 ? "u.c::int8" : "u.c"; /* oid can be cast to integers only */
    if (p->scaling_factor > 0) {
        buf_printf(sql, "floor(%s::numeric * %.17g + 0.5) as e, u.c::text as v", n,
                   p->scaling_factor);
    } else if (strcmp(p->type, "float") == 0) {
        buf_printf(sql, "%s::float4 as e, %s::float4::text as v", n, n);
    } else if (strcmp(p->type, "double") == 0) {
        buf_printf(sql, "%s::float8 as e, %s::float8::text as v", n, n);
    } else {
        buf_printf(sql, "trunc(%s::numeric) as e, trunc(%s::numeric)::text as v", n, n);
    }
}

static void sample_values_push_date(struct buf *sql, const struct property *p,
                                    const struct column *c)
{
    bool nanos = strcmp(p->type, "date_nanos") == 0;
    if (strcmp(c->type, "date") == 0) {
        buf_push_literal(sql, "u.c as e, to_char(u.c, 'YYYY-MM-DD') as v");
        return;
    }
    buf_push_text(sql, nanos ? "u.c as e" : "date_trunc('milliseconds', u.c) as e");
    buf_printf(sql, ", to_char(u.c%s, 'YYYY-MM-DD\"T\"HH24:MI:SS.%s\"Z\"') as v",
               strcmp(c->type, "timestamptz") == 0 ? " at time zone 'UTC'" : "",
               nanos ? "US" : "MS");
}

static void sample_values_push_value(struct buf *sql, enum sample_how how, const struct property *p,
                                     const struct column *c)
{
    char text[TEXT_BYTES];
    switch (how) {
    case SAMPLE_NUMBER:
        sample_values_push_number(sql, p, c);
        break;
    case SAMPLE_DATE:
        sample_values_push_date(sql, p, c);
        break;
    case SAMPLE_BOOLEAN:
        buf_push_literal(sql, "u.c as e, u.c::text as v");
        break;
    case SAMPLE_ADDRESS:
        buf_push_literal(sql, "host(u.c) collate \"C\" as e, host(u.c) as v");
        break;
    case SAMPLE_KEYWORD:
    case SAMPLE_NOT:
        sample_values_text_of(text, c, 'u');
        buf_printf(sql, "%s collate \"C\" as e, %s as v", text, text);
        break;
    }
}

static int sample_values_push_chosen(struct sample *s, struct buf *sql,
                                     const struct plan_step *step, struct err *err)
{
    buf_push_literal(sql, "(\n");
    int rc = sample_push_rows(s, sql, step->value - 1, 1, err);
    buf_push_literal(sql, "\n) as r(k, c)");
    return rc;
}

static void sample_values_report(const struct sample *s, const struct pg_result *r,
                                 sample_each each, void *context)
{
    for (size_t i = 0; i < pg_rows(r); i++) {
        size_t row;
        const char *key = pg_text(r, i, 0);
        const char *text = pg_text(r, i, 2);
        if (key != NULL && text != NULL && sample_find(s, span_make(key, strlen(key)), &row)) {
            each(context, row, pg_int(r, i, 1), text);
        }
    }
}

static int sample_values_ask_and_report(struct sample *s, const struct buf *sql,
                                        const struct plan_step *step, sample_each each,
                                        void *context, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = sample_ask(s, &r, "any: text?, int?, text?", sql, err);
    if (rc == 0) {
        sample_values_report(s, r, each, context);
    }
    pg_result_release(r);
    return rc < 0 ? err_context(err, "could not ask for the values of \"%s\"", step->property) : 0;
}

int sample_values(struct sample *s, const struct plan_step *step, sample_each each, void *context,
                  struct err *err)
{
    struct buf sql;
    const char *why;
    enum sample_how how = sample_how(s, step, &why);
    static char instant_type[] = "timestamptz";
    const struct column *c = sample_values_column_of(s, step);
    const struct property *p = mapping_find(s->options.mapping, step->property);
    struct column element = *sample_values_element_of(c);
    if (s->plan.zones[step->value - 1] != NULL) {
        element.type = instant_type;
    }
    buf_init(&sql, SAMPLE_SQL_BYTES);
    buf_push_literal(&sql, "select r.k, dense_rank() over (order by x.e), left(x.v, " TEXT_MOST
                           ")\n  from ");
    int rc = sample_values_push_chosen(s, &sql, step, err);
    buf_push_literal(&sql, ",\n lateral (select ");
    sample_values_push_value(&sql, how, p, &element);
    buf_push_text(&sql, column_is_array(c) ? " from unnest(r.c) as u(c)) x"
                                           : " from (select r.c) as u(c)) x");
    buf_push_literal(&sql, "\n where x.e is not null");
    if (how == SAMPLE_KEYWORD && p->ignore_above > 0) {
        buf_printf(&sql, " and char_length(x.v) <= %lld", (long long)p->ignore_above);
    }
    buf_printf(&sql, "\n order by 2, 1 limit %d", VALUES_MOST);
    if (rc == 0) {
        rc = sample_values_ask_and_report(s, &sql, step, each, context, err);
    }
    buf_release(&sql);
    return rc;
}

int sample_texts(struct sample *s, const struct plan_step *step, size_t characters, size_t limit,
                 sample_each each, void *context, struct err *err)
{
    char text[TEXT_BYTES];
    struct buf sql;
    buf_init(&sql, SAMPLE_SQL_BYTES);
    sample_values_text_of(text, sample_values_column_of(s, step), 'r');
    if (characters > 0) {
        buf_printf(&sql,
                   "select k, 0, c from (select r.k, left(%s, %zu) as c, count(*) over "
                   "(partition by left(%s, %zu)) as same\n  from ",
                   text, characters, text, characters);
    } else {
        buf_printf(&sql, "select k, 0, c from (select r.k, %s as c, 1 as same from ", text);
    }
    int rc = sample_values_push_chosen(s, &sql, step, err);
    buf_printf(&sql,
               " where r.c is not null) x\n where same = 1 and c <> '' order by md5(k) limit %zu",
               limit);
    if (rc == 0) {
        rc = sample_values_ask_and_report(s, &sql, step, each, context, err);
    }
    buf_release(&sql);
    return rc;
}

/* Leaves out JSON null and values without a word character, such as "" or {}: only the service can
 * determine if they leave anything. */
int sample_filled(struct sample *s, const struct plan_step *step, bool *filled, struct err *err)
{
    struct buf sql;
    char text[TEXT_BYTES];
    struct pg_result *r = NULL;
    const struct column *c = sample_values_column_of(s, step);
    buf_init(&sql, SAMPLE_SQL_BYTES);
    buf_push_literal(&sql, "select r.k from ");
    int rc = sample_values_push_chosen(s, &sql, step, err);
    if (column_is_array(c)) {
        buf_printf(&sql, "\n where exists (select from unnest(r.c) as u(c) where %s ~ '\\w')",
                   sample_values_text_of(text, &c->parts[0], 'u'));
    } else {
        sample_values_text_of(text, c, 'r');
        buf_printf(&sql, "\n where %s ~ '\\w' and %s <> 'null'", text, text);
    }
    if (rc == 0) {
        rc = sample_ask(s, &r, "any: text?", &sql, err);
    }
    memset(filled, 0, sample_count(s) * sizeof(*filled));
    for (size_t i = 0; rc == 0 && i < pg_rows(r); i++) {
        size_t row;
        const char *key = pg_text(r, i, 0);
        if (key != NULL && sample_find(s, span_make(key, strlen(key)), &row)) {
            filled[row] = true;
        }
    }
    pg_result_release(r);
    buf_release(&sql);
    return rc < 0 ? err_context(err, "could not ask for the values of \"%s\"", step->property) : 0;
}
