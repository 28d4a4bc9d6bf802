/* SPDX-License-Identifier: Apache-2.0 */
/* Query language of `q=` and query_string: field:value, phrases, escapes, AND OR NOT, groups. */
#include "search/query.h"

#include <stdlib.h>

struct parser {
    struct plan *plan;
    const char *text;
    const char *at;
    const struct field *field; /* field of the current group, or null */
    bool no_field;             /* a field was named that does not exist */
    unsigned depth;
};

static struct node *parse_or(struct parser *p);

static struct node *failed(struct parser *p)
{
    refuse(p->plan->refusal, 400, "query_shard_exception", "Failed to parse query [%s]", p->text);
    refusal_member(p->plan->refusal, "index", p->plan->index->name);
    refusal_member(p->plan->refusal, "index_uuid", p->plan->index->uuid);
    return NULL;
}

static void blanks(struct parser *p)
{
    while (*p->at == ' ') {
        p->at++;
    }
}

/* Reads a word up to a reserved character and removes escapes. *wild: it has an unescaped * or
 * ?. */
static bool word(struct parser *p, struct buf *out, bool *wild, const char *stops)
{
    *wild = false;
    buf_reset(out);
    while (*p->at != '\0' && strchr(stops, *p->at) == NULL) {
        if (*p->at == '\\') {
            p->at++;
            if (*p->at == '\0') {
                return false;
            }
        } else if (*p->at == '*' || *p->at == '?') {
            *wild = true;
        }
        buf_push_char(out, *p->at++);
    }
    return true;
}

static bool quoted(struct parser *p, struct buf *out)
{
    p->at++;
    buf_reset(out);
    while (*p->at != '"') {
        if (*p->at == '\\' && p->at[1] != '\0') {
            p->at++;
        }
        if (*p->at == '\0') {
            return false;
        }
        buf_push_char(out, *p->at++);
    }
    p->at++;
    return true;
}

struct default_fields {
    struct plan *plan;
    struct node *any;
    struct span text;
    bool phrase;
    bool failed;
};

static void add_default(void *context, const struct field *f)
{
    struct default_fields *d = context;
    enum family family = f->type->family;
    struct node *n = NULL;
    if (d->failed || plan_count(d->plan, 1) != 0) {
        d->failed = true;
        return;
    }
    if (family == FAMILY_TEXT) {
        n = d->phrase ? leaf_phrase(d->plan, f, d->text) : leaf_match(d->plan, f, d->text, false);
    } else if (family <= FAMILY_IP) {
        n = leaf_term(d->plan, f, d->text, true);
    } else {
        return;
    }
    if (n == NULL) {
        d->failed = true;
    } else {
        node_add(d->any, CLAUSE_SHOULD, n);
    }
}

/* Searches words without a field in all fields. */
static struct node *in_any_field(struct parser *p, struct span text, bool phrase)
{
    struct default_fields d = {p->plan, node_new(NODE_BOOL), text, phrase, false};
    d.any->minimum_should = 1;
    mapping_each(&p->plan->index->mapping.root, add_default, &d);
    if (d.failed) {
        node_free(d.any);
        return NULL;
    }
    return d.any;
}

static struct node *value_node(struct parser *p, const struct field *f, struct span text, bool wild,
                               bool phrase)
{
    if (wild && span_is(text, "*")) {
        return f != NULL ? leaf_exists(p->plan, f->path) : node_new(NODE_ALL);
    }
    if (f == NULL && wild) {
        refuse_unknown(p->plan->refusal, "a pattern without a field [%.*s]", (int)text.len,
                       text.data);
        return NULL;
    }
    if (f == NULL) {
        return in_any_field(p, text, phrase);
    }
    if (wild) {
        return leaf_pattern(p->plan, f, text);
    }
    if (f->type->family == FAMILY_TEXT) {
        return phrase ? leaf_phrase(p->plan, f, text) : leaf_match(p->plan, f, text, false);
    }
    return leaf_term(p->plan, f, text, true);
}

static struct node *bound_node(struct parser *p, const struct field *f, struct node *n,
                               const char *name, struct span text)
{
    if (!span_is(text, "*") && leaf_bound(p->plan, n, f, name, text) != 0) {
        node_free(n);
        return NULL;
    }
    return n;
}

static struct node *range_node(struct parser *p, const struct field *f)
{
    struct node *n = node_new(NODE_RANGE);
    n->slot = plan_slot(p->plan, f);
    return n;
}

/* Parses >5, >=5, <5, <=5. */
static struct node *comparison(struct parser *p, const struct field *f, struct buf *scratch)
{
    bool greater = *p->at++ == '>';
    bool equal = *p->at == '=';
    bool wild;
    p->at += equal ? 1 : 0;
    if (!word(p, scratch, &wild, " ()\"") || scratch->len == 0) {
        return failed(p);
    }
    return bound_node(p, f, range_node(p, f),
                      greater ? (equal ? "gte" : "gt") : (equal ? "lte" : "lt"),
                      span_make(scratch->data, scratch->len));
}

/* Parses [a TO b], {a TO b}. */
static struct node *bracket(struct parser *p, const struct field *f, struct buf *scratch)
{
    bool wild;
    const char *low = *p->at++ == '[' ? "gte" : "gt";
    struct node *n = range_node(p, f);
    blanks(p);
    if (!word(p, scratch, &wild, " ]}") || scratch->len == 0) {
        node_free(n);
        return failed(p);
    }
    n = bound_node(p, f, n, low, span_make(scratch->data, scratch->len));
    blanks(p);
    if (n == NULL || strncmp(p->at, "TO ", 3) != 0) {
        node_free(n);
        return n == NULL ? NULL : failed(p);
    }
    p->at += 3;
    blanks(p);
    bool good = word(p, scratch, &wild, " ]}") && scratch->len > 0;
    blanks(p);
    if (!good || (*p->at != ']' && *p->at != '}')) {
        node_free(n);
        return failed(p);
    }
    return bound_node(p, f, n, *p->at++ == ']' ? "lte" : "lt",
                      span_make(scratch->data, scratch->len));
}

static struct node *group(struct parser *p)
{
    if (++p->depth > 50) {
        return failed(p);
    }
    p->at++;
    struct node *n = parse_or(p);
    p->depth--;
    blanks(p);
    if (n != NULL && *p->at != ')') {
        node_free(n);
        return failed(p);
    }
    p->at += n != NULL ? 1 : 0;
    return n;
}

/* Parses the value after "field:". */
static struct node *field_value(struct parser *p, struct buf *scratch)
{
    const struct field *f = p->field;
    bool wild = false;
    bool phrase = *p->at == '"';
    if (*p->at == '(') {
        return group(p);
    }
    if (f != NULL && (*p->at == '>' || *p->at == '<')) {
        return comparison(p, f, scratch);
    }
    if (f != NULL && (*p->at == '[' || *p->at == '{')) {
        return bracket(p, f, scratch);
    }
    if (phrase ? !quoted(p, scratch) : !word(p, scratch, &wild, " ()\"") || scratch->len == 0) {
        return failed(p);
    }
    if (!phrase && strpbrk(buf_text(scratch), "~^") != NULL) {
        refuse_unknown(p->plan->refusal, "fuzziness and boosts (~, ^) in a query string");
        return NULL;
    }
    if (p->no_field) {
        return node_new(NODE_NONE);
    }
    return value_node(p, f, span_make(buf_text(scratch), scratch->len), wild, phrase);
}

static struct node *parse_unit(struct parser *p)
{
    if (plan_count(p->plan, 1) != 0) {
        return NULL;
    }
    struct buf scratch;
    bool wild;
    const struct field *outer = p->field;
    bool outer_no_field = p->no_field;
    blanks(p);
    buf_init(&scratch, (size_t)1 << 20);
    const char *from = p->at;
    if (*p->at != '(' && *p->at != '"' && word(p, &scratch, &wild, " ()\":") && *p->at == ':') {
        p->at++;
        bool all = strcmp(buf_text(&scratch), "*") == 0;
        p->field = mapping_find(&p->plan->index->mapping, buf_text(&scratch));
        p->no_field = p->field == NULL && !all;
    } else {
        p->at = from;
    }
    struct node *n = field_value(p, &scratch);
    p->field = outer;
    p->no_field = outer_no_field;
    buf_release(&scratch);
    return n;
}

static bool keyword(struct parser *p, const char *name)
{
    size_t n = strlen(name);
    blanks(p);
    if (strncmp(p->at, name, n) == 0 && (p->at[n] == ' ' || p->at[n] == '(')) {
        p->at += n;
        return true;
    }
    return false;
}

static struct node *parse_not(struct parser *p, enum clause *clause)
{
    *clause = CLAUSE_SHOULD;
    blanks(p);
    if (*p->at == '+' || *p->at == '-' || *p->at == '!') {
        *clause = *p->at++ == '+' ? CLAUSE_MUST : CLAUSE_MUST_NOT;
    } else if (keyword(p, "NOT")) {
        *clause = CLAUSE_MUST_NOT;
    }
    return parse_unit(p);
}

/* Parses clauses like Lucene's classic parser: AND makes both neighbours required. */
static struct node *parse_or(struct parser *p)
{
    struct node *all = node_new(NODE_BOOL);
    for (blanks(p); *p->at != '\0' && *p->at != ')'; blanks(p)) {
        bool and = keyword(p, "AND") || keyword(p, "&&");
        if (!and&&!keyword(p, "OR")) {
            keyword(p, "||");
        }
        size_t last = all->child_count;
        if (and&&last > 0 && all->clauses[last - 1] == CLAUSE_SHOULD) {
            all->clauses[last - 1] = CLAUSE_MUST;
        }
        enum clause clause;
        struct node *n = parse_not(p, &clause);
        if (n == NULL) {
            node_free(all);
            return NULL;
        }
        node_add(all, and&&clause == CLAUSE_SHOULD ? CLAUSE_MUST : clause, n);
    }
    if (all->child_count == 0) {
        all->kind = NODE_NONE;
    }
    return all;
}

struct node *query_string_compile(struct plan *plan, const char *text)
{
    struct parser p = {.plan = plan, .text = text, .at = text};
    struct node *n = parse_or(&p);
    if (n != NULL && *p.at != '\0') {
        node_free(n);
        return failed(&p);
    }
    return n;
}
