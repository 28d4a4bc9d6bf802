/* SPDX-License-Identifier: Apache-2.0 */
/* Scans SQL from the configuration: one expression or query that cannot affect the text around
 * it. */
#include "rowferry/source/sql/sqltext.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/text.h"

#define TOKENS_AT_ONCE 64

struct sql_scan {
    const char *at;
    size_t round;  /* open parentheses */
    size_t square; /* open brackets */
    bool any;      /* found a token that is neither blank nor comment */
    bool parameter;
    const char *problem;
    struct sqltext_tokens *tokens; /* null: tokens are not collected */
};

/* PostgreSQL treats every byte beyond ASCII as a letter. */
static bool sqltext_is_letter(char c)
{
    return ascii_is_letter(c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool sqltext_is_blank(char c)
{
    return ascii_is_blank(c) || c == '\f' || c == '\v';
}

static void sqltext_skip_line(struct sql_scan *s)
{
    s->at += strcspn(s->at, "\r\n");
}

/* Block comments nest. */
static void sqltext_skip_block(struct sql_scan *s)
{
    size_t depth = 0;
    do {
        bool opens = s->at[0] == '/' && s->at[1] == '*';
        bool closes = s->at[0] == '*' && s->at[1] == '/';
        if (s->at[0] == '\0') {
            s->problem = "unterminated comment";
            return;
        }
        depth += opens ? 1 : 0;
        depth -= closes ? 1 : 0;
        s->at += opens || closes ? 2 : 1;
    } while (depth > 0);
}

/* Skips a quoted string; a doubled quotation mark is part of it. */
static void sqltext_skip_quoted(struct sql_scan *s, bool backslashes)
{
    char mark = *s->at++;
    while (*s->at != '\0' && (s->at[0] != mark || s->at[1] == mark)) {
        bool pair = s->at[0] == mark || (backslashes && s->at[0] == '\\' && s->at[1] != '\0');
        s->at += pair ? 2 : 1;
    }
    if (*s->at == '\0') {
        s->problem = "unterminated quotation";
    } else {
        s->at++;
    }
}

/* A literal that continues on the next line belongs to the same string, so its backslashes count
 * too. */
static void sqltext_skip_escaped(struct sql_scan *s)
{
    while (*s->at == '\'' && s->problem == NULL) {
        sqltext_skip_quoted(s, true);
        while (sqltext_is_blank(*s->at) || (s->at[0] == '-' && s->at[1] == '-')) {
            if (*s->at == '-') {
                sqltext_skip_line(s);
            } else {
                s->at++;
            }
        }
    }
}

static void sqltext_skip_word(struct sql_scan *s)
{
    const char *from = s->at;
    while (sqltext_is_letter(*s->at) || ascii_is_digit(*s->at) || *s->at == '$') {
        s->at++;
    }
    if (s->at - from == 1 && (*from == 'e' || *from == 'E') && *s->at == '\'') {
        sqltext_skip_escaped(s);
    }
}

/* Skips $1, or $tag$...$tag$; a tag neither begins with a digit nor contains a $. */
static void sqltext_skip_dollar(struct sql_scan *s)
{
    const char *tag = s->at++;
    if (ascii_is_digit(*s->at)) {
        s->parameter = true;
        return;
    }
    while (sqltext_is_letter(*s->at) || ascii_is_digit(*s->at)) {
        s->at++;
    }
    if (*s->at != '$') {
        s->problem = "a \"$\" that begins no parameter and no quotation";
        return;
    }
    size_t len = (size_t)(++s->at - tag);
    while (*s->at != '\0' && strncmp(s->at, tag, len) != 0) {
        s->at++;
    }
    if (*s->at == '\0') {
        s->problem = "unterminated quotation";
    } else {
        s->at += len;
    }
}

static void sqltext_close_one(struct sql_scan *s, size_t *open, const char *problem)
{
    if (*open == 0) {
        s->problem = problem;
    } else {
        *open -= 1;
    }
    s->at++;
}

static void sqltext_take_sign(struct sql_scan *s)
{
    switch (*s->at) {
    case '(':
        s->round++;
        s->at++;
        break;
    case '[':
        s->square++;
        s->at++;
        break;
    case ')':
        sqltext_close_one(s, &s->round, "a \")\" closes no \"(\"");
        break;
    case ']':
        sqltext_close_one(s, &s->square, "a \"]\" closes no \"[\"");
        break;
    case ';':
        s->problem = "it has a \";\"";
        break;
    default:
        s->at++;
    }
}

static void sqltext_take_token(struct sql_scan *s)
{
    s->any = true;
    if (*s->at == '\'' || *s->at == '"') {
        sqltext_skip_quoted(s, false);
    } else if (*s->at == '$') {
        sqltext_skip_dollar(s);
    } else if (sqltext_is_letter(*s->at)) {
        sqltext_skip_word(s);
    } else {
        sqltext_take_sign(s);
    }
}

static void sqltext_collect(struct sql_scan *s, const char *from)
{
    struct sqltext_tokens *t = s->tokens;
    if (t != NULL) {
        if (t->count % TOKENS_AT_ONCE == 0) {
            t->items = mem_grow(t->items, t->count + TOKENS_AT_ONCE, sizeof(*t->items));
        }
        t->items[t->count++] = span_make(from, (size_t)(s->at - from));
    }
}

static void sqltext_scan(struct sql_scan *s)
{
    while (*s->at != '\0' && s->problem == NULL) {
        if (sqltext_is_blank(*s->at)) {
            s->at++;
        } else if (s->at[0] == '-' && s->at[1] == '-') {
            sqltext_skip_line(s);
        } else if (s->at[0] == '/' && s->at[1] == '*') {
            sqltext_skip_block(s);
        } else {
            const char *from = s->at;
            sqltext_take_token(s);
            sqltext_collect(s, from);
        }
    }
    if (s->problem == NULL && (s->round > 0 || s->square > 0)) {
        s->problem = s->round > 0 ? "a \"(\" is not closed" : "a \"[\" is not closed";
    } else if (s->problem == NULL && !s->any) {
        s->problem = "it is empty";
    }
}

static int sqltext_judge(const struct sql_scan *s, struct err *err)
{
    if (s->problem == NULL) {
        return 0;
    }
    err_set(err, ERR_CONFIG, "not a complete condition or query: %s", s->problem);
    return *s->at == ';' ? err_hint(err, "leave out the \";\"") : ERR_CONFIG;
}

int sqltext_check_parameters(const char *sql, struct err *err)
{
    struct sql_scan s = {.at = sql};
    sqltext_scan(&s);
    return sqltext_judge(&s, err);
}

int sqltext_check(const char *sql, struct err *err)
{
    struct sql_scan s = {.at = sql};
    sqltext_scan(&s);
    if (s.problem == NULL && s.parameter) {
        s.problem = "it has a parameter";
    }
    return sqltext_judge(&s, err);
}

/* --- uses of a column ------------------------------------------------------------------------ */

#define NOWHERE SIZE_MAX

void sqltext_tokens(const char *sql, struct sqltext_tokens *out)
{
    struct sql_scan s = {.at = sql, .tokens = out};
    *out = (struct sqltext_tokens){0};
    sqltext_scan(&s);
}

struct span sqltext_token(const struct sqltext_tokens *t, size_t at)
{
    return at < t->count ? t->items[at] : span_make("", 0);
}

bool sqltext_is_word(struct span t, const char *word)
{
    return t.len == strlen(word) && strncasecmp(t.data, word, t.len) == 0;
}

bool sqltext_is_one_of(struct span t, const char *const *words)
{
    while (*words != NULL && !sqltext_is_word(t, *words)) {
        words++;
    }
    return *words != NULL;
}

/* Returns true if an identifier has this name: exactly if quoted, else ignoring case. */
static bool sqltext_means(struct span t, const char *name)
{
    if (t.len == 0 || t.data[0] != '"') {
        return sqltext_is_word(t, name);
    }
    size_t at = 1;
    while (at + 1 < t.len && *name != '\0' && t.data[at] == *name) {
        at += t.data[at] == '"' ? 2 : 1;
        name++;
    }
    return at + 1 == t.len && *name == '\0';
}

/* Returns the opening parenthesis around a token; NOWHERE if there is none. */
static size_t sqltext_enclosing(const struct sqltext_tokens *t, size_t at)
{
    size_t closed = 0;
    while (at-- > 0) {
        if (sqltext_is_word(t->items[at], ")")) {
            closed++;
        } else if (sqltext_is_word(t->items[at], "(") && closed-- == 0) {
            return at;
        }
    }
    return NOWHERE;
}

/* Returns true for a call of a function with a schema, or of one that only uses a value's text. */
static bool sqltext_is_harmless_call(const struct sqltext_tokens *t, size_t parenthesis)
{
    static const char *const known[] = {"concat",
                                        "concat_ws",
                                        "count",
                                        "format",
                                        "json_agg",
                                        "json_build_object",
                                        "jsonb_agg",
                                        "jsonb_build_object",
                                        "length",
                                        "json_build_array",
                                        "lower",
                                        "jsonb_build_array",
                                        "md5",
                                        "json_object_agg",
                                        "num_nonnulls",
                                        "jsonb_object_agg",
                                        "num_nulls",
                                        "octet_length",
                                        "string_agg",
                                        "to_json",
                                        "to_jsonb",
                                        "upper",
                                        NULL};
    return parenthesis > 0 && (sqltext_is_one_of(sqltext_token(t, parenthesis - 1), known) ||
                               sqltext_is_word(sqltext_token(t, parenthesis - 2), "."));
}

/* Returns true if the column is used without a comparison that we must check: as an item of a
 * select list, in ORDER BY or GROUP BY (which use the type's own operators), or as an argument of a
 * harmless call. */
static bool sqltext_is_item(const struct sqltext_tokens *t, size_t first, size_t last)
{
    static const char *const before[] = {"select", "distinct", "all", "by", ",", NULL};
    static const char *const compares[] = {"like", "ilike",   "similar", "in",
                                           "not",  "between", "collate", NULL};
    struct span next = sqltext_token(t, last + 1);
    bool symbol = next.len > 0 && strchr("+-*/<>=~!@#%^&|`?", next.data[0]) != NULL;
    size_t around = sqltext_enclosing(t, first);
    struct span begins = sqltext_token(t, around == NOWHERE ? 0 : around + 1);
    if (symbol || sqltext_is_one_of(next, compares)) {
        return false;
    }
    if (around != NOWHERE && sqltext_is_harmless_call(t, around)) {
        return first == around + 1 || sqltext_is_word(sqltext_token(t, first - 1), ",") ||
               sqltext_is_one_of(sqltext_token(t, first - 1), before);
    }
    return sqltext_is_one_of(sqltext_token(t, first - 1), before) &&
           (sqltext_is_word(begins, "select") || sqltext_is_word(begins, "with") ||
            sqltext_is_word(sqltext_token(t, first - 1), "by"));
}

/* Returns true if operator(schema.=) precedes the column. */
static bool sqltext_follows_operator(const struct sqltext_tokens *t, size_t first)
{
    size_t opens = first > 0 && sqltext_is_word(sqltext_token(t, first - 1), ")")
                       ? sqltext_enclosing(t, first - 1)
                       : 0;
    return opens > 0 && opens != NOWHERE &&
           sqltext_is_word(sqltext_token(t, opens - 1), "operator");
}

static bool sqltext_is_plain(const struct sqltext_tokens *t, size_t last)
{
    size_t first = last;
    while (first >= 2 && sqltext_is_word(sqltext_token(t, first - 1), ".")) {
        first -= 2;
    }
    struct span next = sqltext_token(t, last + 1);
    bool cast = sqltext_is_word(sqltext_token(t, first - 1), "(") &&
                sqltext_is_word(sqltext_token(t, first - 2), "cast");
    bool typed = sqltext_is_word(next, ":") && sqltext_is_word(sqltext_token(t, last + 2), ":");
    bool other = sqltext_is_word(next, ".") || sqltext_is_word(next, "(") ||
                 sqltext_is_word(sqltext_token(t, first - 1), "as");
    return !cast && !typed && !other && !sqltext_is_word(next, "is") &&
           !sqltext_is_word(next, "operator") && !sqltext_follows_operator(t, first) &&
           !sqltext_is_item(t, first, last);
}

bool sqltext_compares(const char *sql, const char *name)
{
    struct sqltext_tokens t;
    bool found = false;
    sqltext_tokens(sql, &t);
    for (size_t i = 0; i < t.count && !found; i++) {
        found = sqltext_means(t.items[i], name) && sqltext_is_plain(&t, i);
    }
    free(t.items);
    return found;
}
