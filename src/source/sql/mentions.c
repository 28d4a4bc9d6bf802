/* SPDX-License-Identifier: Apache-2.0 */
/* Finds names in SQL of the configuration, and classifies them by the tokens beside them. */
#include "sql/mentions.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/ascii.h"
#include "rowferry/source/sql/sqltext.h"
#include "sql/sqlquote.h"

#define NAME_MAX_BYTES ((size_t)1 << 20)

struct mention {
    char *name;
    bool bare;
};

/* Returns the name that PostgreSQL reads: exact if quoted, else in lower case. Returns null if the
 * token is not an identifier. */
static char *mentions_identifier(struct span t)
{
    bool quoted = t.len >= 2 && t.data[0] == '"';
    size_t len = 0;
    if (t.len == 0 || (!quoted && t.data[0] != '_' && (unsigned char)t.data[0] < 0x80 &&
                       !ascii_is_letter(t.data[0]))) {
        return NULL;
    }
    char *name = mem_zero(t.len + 1, 1);
    for (size_t i = quoted; i < t.len - quoted; i++) {
        name[len++] = quoted ? t.data[i] : ascii_lower(t.data[i]);
        i += quoted && t.data[i] == '"';
    }
    return name;
}

static struct mention *mentions_find(const struct mentions *m, struct span name)
{
    for (size_t i = 0; i < m->count; i++) {
        if (span_is(name, m->items[i].name)) {
            return &m->items[i];
        }
    }
    return NULL;
}

static void mentions_add_span(struct mentions *m, const char *name, bool bare)
{
    struct mention *known = mentions_find(m, span_make(name, strlen(name)));
    if (known != NULL) {
        known->bare = known->bare || bare;
        return;
    }
    m->items = mem_grow(m->items, m->count + 1, sizeof(*m->items));
    m->items[m->count++] = (struct mention){text_copy(name), bare};
}

/* A name after "as" is a new one, or a type. */
static void mentions_add_identifier(struct mentions *m, const struct sqltext_tokens *t, size_t at)
{
    static const char *const qualifies[] = {".", ":", NULL};
    static const char *const opens[] = {".", "(", NULL};
    char *name = mentions_identifier(sqltext_token(t, at));
    if (name != NULL && !sqltext_is_word(sqltext_token(t, at - 1), "as")) {
        mentions_add_span(m, name,
                          !sqltext_is_one_of(sqltext_token(t, at - 1), qualifies) &&
                              !sqltext_is_one_of(sqltext_token(t, at + 1), opens));
    }
    free(name);
}

/* Returns true if the token is a "*" for columns, not a multiplication or count(*). */
static bool mentions_is_star(const struct sqltext_tokens *t, size_t at)
{
    static const char *const before[] = {".", ",", "select", "distinct", "all", NULL};
    static const char *const behind[] = {"from", ",", ")", NULL};
    return sqltext_is_word(sqltext_token(t, at), "*") &&
           (sqltext_is_one_of(sqltext_token(t, at - 1), before) ||
            (sqltext_is_one_of(sqltext_token(t, at + 1), behind) &&
             !sqltext_is_word(sqltext_token(t, at - 1), "(")));
}

/* Returns true for constructs that read columns without naming them. An identifier with escapes
 * (U&"..") counts too, because we do not decode it. */
static bool mentions_is_unnamed(const struct sqltext_tokens *t, size_t at)
{
    static const char *const words[] = {"natural", "table", NULL};
    return sqltext_is_one_of(sqltext_token(t, at), words) ||
           (sqltext_is_word(sqltext_token(t, at), "u") &&
            sqltext_is_word(sqltext_token(t, at + 1), "&"));
}

void mentions_add(struct mentions *m, const char *sql)
{
    static const char *const combines[] = {"union", "intersect", "except", NULL};
    struct sqltext_tokens t;
    size_t depth = 0;
    bool combined = false;
    bool top = false;
    if (sql == NULL) {
        return;
    }
    sqltext_tokens(sql, &t);
    for (size_t i = 0; i < t.count; i++) {
        depth += sqltext_is_word(t.items[i], "(");
        depth -= depth > 0 && sqltext_is_word(t.items[i], ")");
        top = top || (depth == 0 && mentions_is_star(&t, i));
        m->star = m->star || mentions_is_unnamed(&t, i) || (depth > 0 && mentions_is_star(&t, i));
        combined = combined || sqltext_is_one_of(t.items[i], combines);
        mentions_add_identifier(m, &t, i);
    }
    m->top = m->top || top;
    m->star = m->star || (top && combined); /* matched by position, not by name */
    free(t.items);
}

void mentions_add_name(struct mentions *m, const char *name)
{
    mentions_add_span(m, name, false);
}

bool mentions_name(const struct mentions *m, struct span name)
{
    return m->star || mentions_find(m, name) != NULL;
}

bool mentions_bare(const struct mentions *m, struct span name)
{
    const struct mention *known = mentions_find(m, name);
    return known != NULL && known->bare;
}

static void mentions_push_item(struct buf *out, const char *schema, const char *name)
{
    struct buf item;
    buf_init(&item, NAME_MAX_BYTES);
    buf_printf(&item, "%s.%s", schema, name);
    buf_push_text(out, out->len > 0 ? "," : "");
    sqlquote_item(out, buf_text(&item));
    buf_release(&item);
}

void mentions_push_calls(struct buf *out, const char *sql)
{
    struct sqltext_tokens t;
    if (sql == NULL) {
        return;
    }
    sqltext_tokens(sql, &t);
    for (size_t i = 0; i < t.count; i++) {
        if (!sqltext_is_word(sqltext_token(&t, i + 1), ".") ||
            !sqltext_is_word(sqltext_token(&t, i + 3), "(")) {
            continue;
        }
        char *schema = mentions_identifier(sqltext_token(&t, i));
        char *name = mentions_identifier(sqltext_token(&t, i + 2));
        if (schema != NULL && name != NULL) {
            mentions_push_item(out, schema, name);
        }
        free(schema);
        free(name);
    }
    free(t.items);
}

void mentions_release(struct mentions *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->items[i].name);
    }
    free(m->items);
    *m = (struct mentions){0};
}
