/* SPDX-License-Identifier: Apache-2.0 */
/* Names in SQL of people, by their neighbours. */
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

struct tokens {
    struct span *items;
    size_t count;
};

/* Empty before the first and behind the last one. */
static struct span mentions_token(const struct tokens *t, size_t at)
{
    return at < t->count ? t->items[at] : span_make("", 0);
}

/* As PostgreSQL reads it: in quotes to the letter, else in small letters. Null: it is none. */
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

static bool mentions_is_word(struct span t, const char *word)
{
    size_t len = strlen(word);
    bool same = t.len == len;
    for (size_t i = 0; i < len && same; i++) {
        same = ascii_lower(t.data[i]) == word[i];
    }
    return same;
}

static bool mentions_is_one_of(struct span t, const char *const *words)
{
    while (*words != NULL && !mentions_is_word(t, *words)) {
        words++;
    }
    return *words != NULL;
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

/* Behind "as" stands a new name, or a type. */
static void mentions_add_identifier(struct mentions *m, const struct tokens *t, size_t at)
{
    static const char *const qualifies[] = {".", ":", NULL};
    static const char *const opens[] = {".", "(", NULL};
    char *name = mentions_identifier(mentions_token(t, at));
    if (name != NULL && !mentions_is_word(mentions_token(t, at - 1), "as")) {
        mentions_add_span(m, name,
                          !mentions_is_one_of(mentions_token(t, at - 1), qualifies) &&
                              !mentions_is_one_of(mentions_token(t, at + 1), opens));
    }
    free(name);
}

/* Of columns; neither of a product nor of count(*). */
static bool mentions_is_star(const struct tokens *t, size_t at)
{
    static const char *const before[] = {".", ",", "select", "distinct", "all", NULL};
    static const char *const behind[] = {"from", ",", ")", NULL};
    return mentions_is_word(mentions_token(t, at), "*") &&
           (mentions_is_one_of(mentions_token(t, at - 1), before) ||
            (mentions_is_one_of(mentions_token(t, at + 1), behind) &&
             !mentions_is_word(mentions_token(t, at - 1), "(")));
}

/* What has columns that no name in the text stands for; an identifier with escapes is one too. */
static bool mentions_is_unnamed(const struct tokens *t, size_t at)
{
    static const char *const words[] = {"natural", "table", NULL};
    return mentions_is_one_of(mentions_token(t, at), words) ||
           (mentions_is_word(mentions_token(t, at), "u") &&
            mentions_is_word(mentions_token(t, at + 1), "&"));
}

void mentions_add(struct mentions *m, const char *sql)
{
    static const char *const combines[] = {"union", "intersect", "except", NULL};
    struct tokens t = {0};
    size_t depth = 0;
    bool combined = false;
    bool top = false;
    if (sql == NULL) {
        return;
    }
    t.count = sqltext_tokens(sql, &t.items);
    for (size_t i = 0; i < t.count; i++) {
        depth += mentions_is_word(t.items[i], "(");
        depth -= depth > 0 && mentions_is_word(t.items[i], ")");
        top = top || (depth == 0 && mentions_is_star(&t, i));
        m->star = m->star || mentions_is_unnamed(&t, i) || (depth > 0 && mentions_is_star(&t, i));
        combined = combined || mentions_is_one_of(t.items[i], combines);
        mentions_add_identifier(m, &t, i);
    }
    m->top = m->top || top;
    m->star = m->star || (top && combined); /* columns go by their places */
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
    struct tokens t = {0};
    if (sql == NULL) {
        return;
    }
    t.count = sqltext_tokens(sql, &t.items);
    for (size_t i = 0; i < t.count; i++) {
        if (!mentions_is_word(mentions_token(&t, i + 1), ".") ||
            !mentions_is_word(mentions_token(&t, i + 3), "(")) {
            continue;
        }
        char *schema = mentions_identifier(mentions_token(&t, i));
        char *name = mentions_identifier(mentions_token(&t, i + 2));
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
