/* SPDX-License-Identifier: Apache-2.0 */
/* SQL that people write: one expression or query, and nothing that reaches beyond it. */
#include "rowferry/source/sqltext.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct scan {
    const char *at;
    size_t round;  /* parentheses that are open */
    size_t square; /* brackets */
    bool any;      /* something that is neither blank nor comment */
    bool parameter;
    const char *problem;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Every byte beyond ASCII is a letter to PostgreSQL. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_blank(char c)
{
    return c != '\0' && strchr(" \t\n\r\f\v", c) != NULL;
}

static void skip_line(struct scan *s)
{
    s->at += strcspn(s->at, "\r\n");
}

/* Comments of this kind nest. */
static void skip_block(struct scan *s)
{
    size_t depth = 0;
    do {
        bool opens = s->at[0] == '/' && s->at[1] == '*';
        bool closes = s->at[0] == '*' && s->at[1] == '/';
        if (s->at[0] == '\0') {
            s->problem = "a comment does not end";
            return;
        }
        depth += opens ? 1 : 0;
        depth -= closes ? 1 : 0;
        s->at += opens || closes ? 2 : 1;
    } while (depth > 0);
}

/* From a quotation mark to behind the one that ends it; two of them stand for one. */
static void skip_quoted(struct scan *s, bool backslashes)
{
    char mark = *s->at++;
    while (*s->at != '\0' && (s->at[0] != mark || s->at[1] == mark)) {
        bool pair = s->at[0] == mark || (backslashes && s->at[0] == '\\' && s->at[1] != '\0');
        s->at += pair ? 2 : 1;
    }
    if (*s->at == '\0') {
        s->problem = "a quotation does not end";
    } else {
        s->at++;
    }
}

/* What follows on another line is a part of the same string, so its backslashes count as well. */
static void skip_escaped(struct scan *s)
{
    while (*s->at == '\'' && s->problem == NULL) {
        skip_quoted(s, true);
        while (is_blank(*s->at) || (s->at[0] == '-' && s->at[1] == '-')) {
            if (*s->at == '-') {
                skip_line(s);
            } else {
                s->at++;
            }
        }
    }
}

static void skip_word(struct scan *s)
{
    const char *from = s->at;
    while (is_letter(*s->at) || is_digit(*s->at) || *s->at == '$') {
        s->at++;
    }
    if (s->at - from == 1 && (*from == 'e' || *from == 'E') && *s->at == '\'') {
        skip_escaped(s);
    }
}

/* $1, or $tag$...$tag$; a tag has no digit in front, and no $ within. */
static void skip_dollar(struct scan *s)
{
    const char *tag = s->at++;
    if (is_digit(*s->at)) {
        s->parameter = true;
        return;
    }
    while (is_letter(*s->at) || is_digit(*s->at)) {
        s->at++;
    }
    if (*s->at != '$') {
        s->problem = "a \"$\" begins nothing";
        return;
    }
    size_t len = (size_t)(++s->at - tag);
    while (*s->at != '\0' && strncmp(s->at, tag, len) != 0) {
        s->at++;
    }
    if (*s->at == '\0') {
        s->problem = "a quotation does not end";
    } else {
        s->at += len;
    }
}

static void close_one(struct scan *s, size_t *open, const char *problem)
{
    if (*open == 0) {
        s->problem = problem;
    } else {
        *open -= 1;
    }
    s->at++;
}

static void take_sign(struct scan *s)
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
        close_one(s, &s->round, "a \")\" closes what it did not open");
        break;
    case ']':
        close_one(s, &s->square, "a \"]\" closes what it did not open");
        break;
    case ';':
        s->problem = "it has a \";\"";
        break;
    default:
        s->at++;
    }
}

static void take_token(struct scan *s)
{
    s->any = true;
    if (*s->at == '\'' || *s->at == '"') {
        skip_quoted(s, false);
    } else if (*s->at == '$') {
        skip_dollar(s);
    } else if (is_letter(*s->at)) {
        skip_word(s);
    } else {
        take_sign(s);
    }
}

static void scan(struct scan *s)
{
    while (*s->at != '\0' && s->problem == NULL) {
        if (is_blank(*s->at)) {
            s->at++;
        } else if (s->at[0] == '-' && s->at[1] == '-') {
            skip_line(s);
        } else if (s->at[0] == '/' && s->at[1] == '*') {
            skip_block(s);
        } else {
            take_token(s);
        }
    }
    if (s->problem == NULL && (s->round > 0 || s->square > 0)) {
        s->problem = s->round > 0 ? "a \"(\" is not closed" : "a \"[\" is not closed";
    } else if (s->problem == NULL && !s->any) {
        s->problem = "it is empty";
    }
}

static int judge(const struct scan *s, struct err *err)
{
    if (s->problem == NULL) {
        return 0;
    }
    err_set(err, ERR_CONFIG, "it is not one condition or query by itself: %s", s->problem);
    return *s->at == ';' ? err_hint(err, "leave out the \";\"") : ERR_CONFIG;
}

int sqltext_check_parameters(const char *sql, struct err *err)
{
    struct scan s = {.at = sql};
    scan(&s);
    return judge(&s, err);
}

int sqltext_check(const char *sql, struct err *err)
{
    struct scan s = {.at = sql};
    scan(&s);
    if (s.problem == NULL && s.parameter) {
        s.problem = "it has a parameter";
    }
    return judge(&s, err);
}
