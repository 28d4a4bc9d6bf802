/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves of a query: terms, words, phrases, ranges, patterns. */
#include "base/tokens.h"
#include "base/tree.h"
#include "search/query.h"

#include <stdlib.h>

static void add(struct values *to, struct value v)
{
    to->list = mem_grow(to->list, to->count + 1, sizeof(*to->list));
    to->list[to->count++] = v;
}

static struct node *bad_value(struct plan *p, struct span text)
{
    refuse(p->refusal, 400, "query_shard_exception",
           "failed to create query: For input string: \"%.*s\"", (int)text.len, text.data);
    return NULL;
}

static void take_row(void *context, int64_t row, double score)
{
    struct node *n = context;
    if ((n->row_count & (n->row_count - 1)) == 0) {
        n->rows = mem_grow(n->rows, n->row_count == 0 ? 1 : n->row_count * 2, sizeof(*n->rows));
    }
    n->rows[n->row_count++] = (struct scored_row){row, score};
}

static struct node *text_rows(struct plan *p, const struct field *f, const char *expression)
{
    struct node *n = node_new(NODE_TEXT);
    if (expression[0] != '\0' &&
        shelf_text_match(p->index->shelf, f->path, expression, take_row, n, p->refusal) != 0) {
        node_free(n);
        return NULL;
    }
    return n;
}

/* Formats words as an FTS5 expression, each quoted, joined by `between`. */
static void push_words(struct buf *out, struct span text, const char *between, size_t *count)
{
    struct words w;
    struct word word;
    *count = 0;
    words_init(&w, text);
    while (words_next(&w, &word)) {
        buf_push_text(out, (*count)++ > 0 ? between : "\"");
        buf_push(out, word.text.data, word.text.len);
    }
    buf_push_text(out, *count > 0 ? "\"" : "");
    words_release(&w);
}

static struct node *words_node(struct plan *p, const struct field *f, struct span text,
                               const char *between, bool prefix)
{
    struct buf expression;
    size_t count;
    buf_init(&expression, (size_t)1 << 20);
    push_words(&expression, text, between, &count);
    buf_push_text(&expression, prefix && count > 0 ? " *" : "");
    struct node *n = plan_count(p, count) == 0 ? text_rows(p, f, buf_text(&expression)) : NULL;
    buf_release(&expression);
    return n;
}

struct node *leaf_match(struct plan *p, const struct field *f, struct span text, bool all_words)
{
    if (f->type->family != FAMILY_TEXT) {
        return leaf_term(p, f, text, false);
    }
    return words_node(p, f, text, all_words ? "\" AND \"" : "\" OR \"", false);
}

struct node *leaf_phrase(struct plan *p, const struct field *f, struct span text)
{
    return f->type->family == FAMILY_TEXT ? words_node(p, f, text, " ", false)
                                          : leaf_term(p, f, text, false);
}

/* A term query on a text field is not analysed: it matches only if the term is a single word
 * already. */
static struct node *text_term(struct plan *p, const struct field *f, struct span text)
{
    struct words w;
    struct word word;
    words_init(&w, text);
    bool plain = words_next(&w, &word) && span_equal(word.text, text);
    words_release(&w);
    return plain ? words_node(p, f, text, " ", false) : node_new(NODE_NONE);
}

struct node *leaf_term(struct plan *p, const struct field *f, struct span text, bool lenient)
{
    struct value v;
    if (f->type->family == FAMILY_TEXT) {
        return text_term(p, f, text);
    }
    if (!value_of(f, text, &v)) {
        return lenient ? node_new(NODE_NONE) : bad_value(p, text);
    }
    struct node *n = node_new(NODE_TERMS);
    n->slot = plan_slot(p, f);
    add(&n->values, v);
    return n;
}

struct node *leaf_terms(struct plan *p, const struct field *f, struct json_object *list)
{
    struct node *n = node_new(NODE_TERMS);
    n->slot = plan_slot(p, f);
    n->values.list = mem_zero(tree_length(list) + 1, sizeof(*n->values.list));
    for (size_t i = 0; i < tree_length(list); i++) {
        struct span text = tree_span(tree_item(list, i));
        if (!value_of(f, text, &n->values.list[n->values.count++])) {
            node_free(n);
            return bad_value(p, text);
        }
    }
    values_sort(&n->values);
    return n;
}

struct node *leaf_exists(struct plan *p, const char *path)
{
    const struct field *f = mapping_find(&p->index->mapping, path);
    if (f == NULL) {
        return node_new(NODE_NONE);
    }
    if (f->type->family == FAMILY_OBJECT || f->type->family == FAMILY_NESTED) {
        struct node *any = node_new(NODE_BOOL);
        any->minimum_should = 1;
        for (size_t i = 0; i < f->child_count; i++) {
            node_add(any, CLAUSE_SHOULD, leaf_exists(p, f->children[i].path));
        }
        return any;
    }
    struct node *n = node_new(NODE_EXISTS);
    n->slot = plan_slot(p, f);
    return n;
}

struct node *leaf_pattern(struct plan *p, const struct field *f, struct span pattern)
{
    struct value v;
    size_t stars = 0;
    for (size_t i = 0; i < pattern.len; i++) {
        stars += pattern.data[i] == '*' || pattern.data[i] == '?' ? 1 : 0;
    }
    bool prefix = stars == 1 && pattern.data[pattern.len - 1] == '*';
    if (f->type->family == FAMILY_TEXT && prefix) {
        return words_node(p, f, span_make(pattern.data, pattern.len - 1), " ", true);
    }
    if (f->type->family != FAMILY_KEYWORD) {
        refuse_unknown(p->refusal, "the pattern [%.*s] on field [%s] of type [%s]",
                       (int)pattern.len, pattern.data, f->path, f->type->name);
        return NULL;
    }
    value_of(f, pattern, &v);
    struct node *n = node_new(NODE_PATTERN);
    n->slot = plan_slot(p, f);
    add(&n->values, v);
    return n;
}

int leaf_bound(struct plan *p, struct node *range, const struct field *f, const char *name,
               struct span text)
{
    struct value v;
    if (f->type->family == FAMILY_DATE && memchr(text.data, '|', text.len) != NULL) {
        return refuse_unknown(p->refusal, "date arithmetic [%.*s]", (int)text.len, text.data);
    }
    if (!value_of(f, text, &v)) {
        bad_value(p, text);
        return -1;
    }
    if (name[0] == 'g') {
        value_release(&range->low);
        range->low = v;
        range->has_low = true;
        range->low_open = strcmp(name, "gt") == 0;
    } else {
        value_release(&range->high);
        range->high = v;
        range->has_high = true;
        range->high_open = strcmp(name, "lt") == 0;
    }
    return 0;
}
