/* SPDX-License-Identifier: Apache-2.0 */
/* Finds names that look like function calls in the text of a plan. */
#include "sql/plancalls.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/text.h"
#include "sql/sqlquote.h"

#define NAME_MAX_BYTES 512

static bool plancalls_starts_name(char c)
{
    return ascii_is_letter(c) || c == '_' || (c & 0x80) != 0;
}

static bool plancalls_in_name(char c)
{
    return plancalls_starts_name(c) || ascii_is_digit(c) || c == '$';
}

/* Returns the position after the closing quote; a doubled quote is part of the text. */
static const char *plancalls_skip_quoted(const char *at, char quote)
{
    for (at++; *at != '\0'; at++) {
        if (*at == quote && at[1] != quote) {
            return at + 1;
        }
        at += *at == quote;
    }
    return at;
}

static void plancalls_push_identifier(struct buf *name, const char *from, const char *to)
{
    bool quoted = *from == '"';
    for (const char *at = from + quoted; at < to - quoted; at++) {
        buf_push_char(name, *at);
        at += *at == '"';
    }
}

/* Appends an identifier, or several separated by dots. */
static const char *plancalls_take_name(const char *at, struct buf *name)
{
    for (;;) {
        const char *end = at;
        if (*at == '"') {
            end = plancalls_skip_quoted(at, '"');
        } else {
            while (plancalls_in_name(*end)) {
                end++;
            }
        }
        plancalls_push_identifier(name, at, end);
        if (*end != '.' || !(plancalls_starts_name(end[1]) || end[1] == '"')) {
            return end;
        }
        buf_push_char(name, '.');
        at = end + 1;
    }
}

static bool plancalls_in_capitals(const char *name)
{
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(name);
}

/* Finds the next name. Returns the position behind it, or null at the end. */
static const char *plancalls_next_name(const char *plan, struct buf *name)
{
    while (*plan != '\0') {
        if (*plan == '\'') {
            plan = plancalls_skip_quoted(plan, '\'');
        } else if (*plan == '"' || plancalls_starts_name(*plan)) {
            buf_reset(name);
            return plancalls_take_name(plan, name);
        } else {
            plan++;
        }
    }
    return NULL;
}

void plancalls_push(struct buf *out, const char *plan)
{
    struct buf name;
    buf_init(&name, NAME_MAX_BYTES);
    for (const char *at = plan; (at = plancalls_next_name(at, &name)) != NULL;) {
        if (!name.failed && (*at == '(' || plancalls_in_capitals(buf_text(&name)))) {
            buf_push_text(out, out->len > 0 ? "," : "");
            sqlquote_item(out, buf_text(&name));
        }
    }
    buf_release(&name);
}

static bool plancalls_reads_rows_of(const char *plan, const char *alias)
{
    struct buf name;
    bool found = false;
    buf_init(&name, NAME_MAX_BYTES);
    for (const char *at = plan; !found && (at = plancalls_next_name(at, &name)) != NULL;) {
        found = at[0] == '.' && at[1] == '*' && strcmp(buf_text(&name), alias) == 0;
    }
    buf_release(&name);
    return found;
}

/* A scan is "Seq Scan on public.authors u" or "Index Scan using i on public.authors". */
bool plancalls_whole_rows(const char *plan, const char *table, bool members)
{
    struct buf name;
    bool found = false;
    bool scan = false;
    buf_init(&name, NAME_MAX_BYTES);
    for (const char *at = plan; !found && (at = plancalls_next_name(at, &name)) != NULL;) {
        const char *dot = strrchr(buf_text(&name), '.');
        if (scan && dot != NULL && (members || strcmp(buf_text(&name), table) == 0)) {
            char *own = text_copy(dot + 1);
            bool other = at[0] == ' ' && (at[1] == '"' || plancalls_starts_name(at[1]));
            at = other ? plancalls_next_name(at, &name) : at;
            found = plancalls_reads_rows_of(plan, other ? buf_text(&name) : own);
            free(own);
        }
        scan = strcmp(buf_text(&name), "on") == 0;
    }
    buf_release(&name);
    return found;
}
