/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the query of a search body. */
#include "search/query.h"
#include "base/limits.h"
#include "base/tree.h"

#include <stdlib.h>

static struct node *bad(struct plan *p, const char *query, const char *why)
{
    refuse(p->refusal, 400, "parsing_exception", "[%s] query %s", query, why);
    return NULL;
}

/* Returns the only member of {"field": ..}. */
static bool only_member(struct json_object *body, const char **name, struct json_object **value)
{
    if (!json_object_is_type(body, json_type_object) || tree_count(body) != 1) {
        return false;
    }
    tree_foreach(body, key, inner)
    {
        *name = key;
        *value = inner;
    }
    return true;
}

/* Accepts {"field": value} or {"field": {<key>: value, ..}}; refuses options other than `known`. */
static struct json_object *short_or_long(struct plan *p, struct json_object *value, const char *key,
                                         const char *known)
{
    struct json_object *inner = value;
    if (json_object_is_type(value, json_type_object)) {
        inner = NULL;
        tree_foreach(value, name, member)
        {
            if (strcmp(name, key) == 0) {
                inner = member;
            } else if (strcmp(name, "boost") != 0 && strcmp(name, known) != 0) {
                refuse_unknown(p->refusal, "[%s] in this query", name);
                return NULL;
            }
        }
    }
    if (inner == NULL || json_object_is_type(inner, json_type_object) ||
        json_object_is_type(inner, json_type_array)) {
        refuse(p->refusal, 400, "illegal_argument_exception", "value cannot be null");
        return NULL;
    }
    return inner;
}

static bool too_many_terms(struct plan *p, struct json_object *list)
{
    size_t n = tree_length(list);
    if (n > TERMS_MAX) {
        refuse(p->refusal, 400, "illegal_argument_exception",
               "The number of terms [%zu] used in the Terms Query request has exceeded the allowed "
               "maximum of [%d]. This maximum can be set by changing the [index.max_terms_count] "
               "index level setting.",
               n, TERMS_MAX);
    }
    return n > TERMS_MAX;
}

static struct node *one_id(struct plan *p, struct json_object *list)
{
    if (too_many_terms(p, list)) {
        return NULL;
    }
    struct node *n = node_new(NODE_IDS);
    size_t count = tree_length(list);
    n->values.list = mem_zero(count + 1, sizeof(*n->values.list));
    for (size_t i = 0; i < count; i++) {
        struct span text = tree_span(tree_item(list, i));
        n->values.list[n->values.count++] =
            (struct value){.text = text_copy_span(text), .len = text.len};
    }
    values_sort(&n->values);
    return n;
}

static struct node *id_term(struct plan *p, struct json_object *value)
{
    struct json_object *list = json_object_new_array();
    json_object_array_add(list, json_object_get(value));
    struct node *n = one_id(p, list);
    json_object_put(list);
    return n;
}

static struct node *compile_term(struct plan *p, struct json_object *body)
{
    const char *name;
    struct json_object *value;
    if (!only_member(body, &name, &value)) {
        return bad(p, "term", "malformed, no field or several fields");
    }
    value = short_or_long(p, value, "value", "value");
    if (value == NULL) {
        return NULL;
    }
    if (strcmp(name, "_id") == 0) {
        return id_term(p, value);
    }
    const struct field *f = mapping_find(&p->index->mapping, name);
    return f != NULL ? leaf_term(p, f, tree_span(value), false) : node_new(NODE_NONE);
}

static struct node *compile_terms(struct plan *p, struct json_object *body)
{
    const char *name;
    struct json_object *list;
    if (!only_member(body, &name, &list) || !json_object_is_type(list, json_type_array)) {
        return bad(p, "terms", "requires a field name and a list of values");
    }
    if (strcmp(name, "_id") == 0) {
        return one_id(p, list);
    }
    if (too_many_terms(p, list)) {
        return NULL;
    }
    const struct field *f = mapping_find(&p->index->mapping, name);
    if (f != NULL && f->type->family != FAMILY_TEXT) {
        return leaf_terms(p, f, list);
    }
    struct node *any = node_new(NODE_BOOL);
    any->minimum_should = 1;
    for (size_t i = 0; f != NULL && i < tree_length(list); i++) {
        struct node *n = leaf_term(p, f, tree_span(tree_item(list, i)), false);
        if (n == NULL) {
            node_free(any);
            return NULL;
        }
        node_add(any, CLAUSE_SHOULD, n);
    }
    return any;
}

static struct node *compile_ids(struct plan *p, struct json_object *body)
{
    struct json_object *list;
    if (!json_object_object_get_ex(body, "values", &list) ||
        !json_object_is_type(list, json_type_array)) {
        return bad(p, "ids", "requires [values]");
    }
    return one_id(p, list);
}

static struct node *compile_match(struct plan *p, struct json_object *body)
{
    const char *name;
    struct json_object *given;
    struct json_object *word = NULL;
    if (!only_member(body, &name, &given)) {
        return bad(p, "match", "malformed, no field or several fields");
    }
    struct json_object *value = short_or_long(p, given, "query", "operator");
    if (value == NULL) {
        return NULL;
    }
    bool all = json_object_is_type(given, json_type_object) &&
               json_object_object_get_ex(given, "operator", &word) &&
               (tree_text(word)[0] | 0x20) == 'a';
    const struct field *f = mapping_find(&p->index->mapping, name);
    return f != NULL ? leaf_match(p, f, tree_span(value), all) : node_new(NODE_NONE);
}

static struct node *compile_phrase(struct plan *p, struct json_object *body)
{
    const char *name;
    struct json_object *value;
    if (!only_member(body, &name, &value)) {
        return bad(p, "match_phrase", "malformed, no field or several fields");
    }
    value = short_or_long(p, value, "query", "query");
    const struct field *f = mapping_find(&p->index->mapping, name);
    return value == NULL ? NULL
           : f == NULL   ? node_new(NODE_NONE)
                         : leaf_phrase(p, f, tree_span(value));
}

static struct node *compile_range(struct plan *p, struct json_object *body)
{
    const char *name;
    struct json_object *bounds;
    if (!only_member(body, &name, &bounds) || !json_object_is_type(bounds, json_type_object)) {
        return bad(p, "range", "malformed, no field or several fields");
    }
    const struct field *f = mapping_find(&p->index->mapping, name);
    struct node *n = node_new(f != NULL ? NODE_RANGE : NODE_NONE);
    n->slot = f != NULL ? plan_slot(p, f) : 0;
    tree_foreach(bounds, key, value)
    {
        bool known = strcmp(key, "gt") == 0 || strcmp(key, "gte") == 0 || strcmp(key, "lt") == 0 ||
                     strcmp(key, "lte") == 0;
        int rc = 0;
        if (!known && strcmp(key, "boost") != 0) {
            rc = refuse_unknown(p->refusal, "[%s] of a range query", key);
        } else if (known && value != NULL && f != NULL) {
            rc = leaf_bound(p, n, f, key, tree_span(value));
        }
        if (rc != 0) {
            node_free(n);
            return NULL;
        }
    }
    return n;
}

static struct node *compile_exists(struct plan *p, struct json_object *body)
{
    struct json_object *field;
    if (!json_object_object_get_ex(body, "field", &field)) {
        return bad(p, "exists", "must be provided with a [field]");
    }
    return leaf_exists(p, tree_text(field));
}

static struct node *compile_pattern(struct plan *p, struct json_object *body, bool prefix)
{
    const char *name = NULL;
    struct json_object *value = NULL;
    struct buf text;
    if (!only_member(body, &name, &value)) {
        return bad(p, prefix ? "prefix" : "wildcard", "malformed, no field or several fields");
    }
    value = short_or_long(p, value, "value", "value");
    const struct field *f = mapping_find(&p->index->mapping, name);
    if (value == NULL || f == NULL) {
        return value == NULL ? NULL : node_new(NODE_NONE);
    }
    buf_init(&text, (size_t)1 << 20);
    buf_printf(&text, "%s%s", tree_text(value), prefix ? "*" : "");
    struct node *n = leaf_pattern(p, f, span_make(buf_text(&text), text.len));
    buf_release(&text);
    return n;
}

static struct node *compile_query_string(struct plan *p, struct json_object *body)
{
    struct json_object *text;
    if (!json_object_object_get_ex(body, "query", &text)) {
        return bad(p, "query_string", "must be provided with a [query]");
    }
    tree_foreach(body, key, ignored)
    {
        (void)ignored;
        if (strcmp(key, "query") != 0) {
            refuse_unknown(p->refusal, "[%s] of a query_string query", key);
            return NULL;
        }
    }
    return query_string_compile(p, tree_text(text));
}

static int add_clause(struct plan *p, struct node *n, enum clause clause, struct json_object *json)
{
    if (!json_object_is_type(json, json_type_array)) {
        struct node *child = query_compile(p, json);
        if (child != NULL) {
            node_add(n, clause, child);
        }
        return child != NULL ? 0 : -1;
    }
    for (size_t i = 0; i < tree_length(json); i++) {
        if (add_clause(p, n, clause, tree_item(json, i)) != 0) {
            return -1;
        }
    }
    return 0;
}

static struct node *compile_bool(struct plan *p, struct json_object *body)
{
    static const char *const names[] = {
        [CLAUSE_MUST] = "must",
        [CLAUSE_FILTER] = "filter",
        [CLAUSE_SHOULD] = "should",
        [CLAUSE_MUST_NOT] = "must_not",
    };
    struct node *n = node_new(NODE_BOOL);
    tree_foreach(body, key, value)
    {
        size_t i = 0;
        int rc = 0;
        while (i < 4 && strcmp(names[i], key) != 0) {
            i++;
        }
        if (i < 4) {
            rc = add_clause(p, n, (enum clause)i, value);
        } else if (strcmp(key, "minimum_should_match") == 0 &&
                   json_object_is_type(value, json_type_int)) {
            n->minimum_should = json_object_get_int64(value);
        } else if (strcmp(key, "boost") != 0) {
            rc = refuse_unknown(p->refusal, "[%s] of a bool query", key);
        }
        if (rc != 0) {
            node_free(n);
            return NULL;
        }
    }
    return n;
}

/* Without a search pipeline, its score is not that of OpenSearch. */
static struct node *compile_hybrid(struct plan *p, struct json_object *body)
{
    struct node *n = node_new(NODE_BOOL);
    struct json_object *list = NULL;
    json_object_object_get_ex(body, "queries", &list);
    if (add_clause(p, n, CLAUSE_SHOULD, list) != 0) {
        node_free(n);
        return NULL;
    }
    return n;
}

static struct node *compile_all(struct plan *p, struct json_object *body)
{
    (void)p;
    (void)body;
    return node_new(NODE_ALL);
}

static struct node *compile_none(struct plan *p, struct json_object *body)
{
    (void)p;
    (void)body;
    return node_new(NODE_NONE);
}

static struct node *compile_prefix(struct plan *p, struct json_object *body)
{
    return compile_pattern(p, body, true);
}

static struct node *compile_wildcard(struct plan *p, struct json_object *body)
{
    return compile_pattern(p, body, false);
}

static const struct {
    const char *name;
    struct node *(*compile)(struct plan *p, struct json_object *body);
} queries[] = {
    {"match_all", compile_all}, {"match_none", compile_none},
    {"term", compile_term},     {"terms", compile_terms},
    {"ids", compile_ids},       {"match", compile_match},
    {"range", compile_range},   {"match_phrase", compile_phrase},
    {"exists", compile_exists}, {"query_string", compile_query_string},
    {"prefix", compile_prefix}, {"wildcard", compile_wildcard},
    {"bool", compile_bool},     {"hybrid", compile_hybrid},
};

/* Returns true for OpenSearch's knn query; Elasticsearch's query of that name has other members. */
static bool is_neighbours(const char *name, struct json_object *body)
{
    struct json_object *field;
    return strcmp(name, "knn") == 0 && !json_object_object_get_ex(body, "field", &field);
}

struct node *query_compile(struct plan *p, struct json_object *query)
{
    const char *name;
    struct json_object *body;
    if (!only_member(query, &name, &body) || !json_object_is_type(body, json_type_object)) {
        refuse(p->refusal, 400, "parsing_exception", "query malformed, empty clause found");
        return NULL;
    }
    if (plan_count(p, 1) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        if (strcmp(queries[i].name, name) == 0) {
            return queries[i].compile(p, body);
        }
    }
    if (is_neighbours(name, body)) {
        return nearest_compile(p, body);
    }
    static const char *const real[] = {
        "knn",     "nested",      "function_score", "script_score",        "fuzzy",        "regexp",
        "dis_max", "multi_match", "constant_score", "simple_query_string", "geo_distance", "neural",
        NULL};
    for (const char *const *known = real; *known != NULL; known++) {
        if (strcmp(*known, name) == 0) {
            refuse_unknown(p->refusal, "the query [%s]", name);
            return NULL;
        }
    }
    refuse(p->refusal, 400, "parsing_exception", "unknown query [%s]", name);
    return NULL;
}
