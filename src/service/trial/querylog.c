/* SPDX-License-Identifier: Apache-2.0 */
/* Reads search bodies and slow logs line by line, and finds the fields of a search. */
#include "rowferry/service/trial/querylog.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/document/json/json_build.h"
#include "rowferry/document/json/json_compare.h"
#include "rowferry/document/json/json_tree.h"

#define PLAIN (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
#define LISTED(a) (a), sizeof(a) / sizeof((a)[0])

static const struct json_limits limits = {QUERYLOG_LINE_BYTES, (size_t)32 << 20, 64};

static const char in_text[] = "source[";
static const char indexing[] = "indexing"; /* index.indexing.slowlog, index_indexing_slowlog */

/* --- the file -------------------------------------------------------------------------------- */

struct querylog_line {
    const char *file;
    size_t number;
    struct err *err;
};

static bool querylog_is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns a key that no search has, null if there is none: such an object is not a search. */
static const char *querylog_unknown_key(struct json_object *body)
{
    static const char *const keys[] = {
        "query",
        "sort",
        "aggs",
        "aggregations",
        "size",
        "from",
        "_source",
        "fields",
        "post_filter",
        "stored_fields",
        "script_fields",
        "docvalue_fields",
        "highlight",
        "suggest",
        "rescore",
        "collapse",
        "knn",
        "retriever",
        "rank",
        "sub_searches",
        "min_score",
        "track_scores",
        "timeout",
        "track_total_hits",
        "explain",
        "version",
        "profile",
        "runtime_mappings",
        "search_after",
        "pit",
        "slice",
        "indices_boost",
        "stats",
        "ext",
        "derived",
        "search_pipeline",
        "seq_no_primary_term",
        "terminate_after",
        "verbose_pipeline",
        "include_named_queries_score",
    };
    for (struct json_members m = json_tree_members(body); json_tree_next(&m);) {
        if (!querylog_is_one_of(m.name, LISTED(keys))) {
            return m.name;
        }
    }
    return NULL;
}

/* Removes what pages through hits, what says how much is returned, and what names other indices. */
static void querylog_strip(struct json_object *body)
{
    static const char *const keys[] = {
        "size",  "from",  "_source",      "track_total_hits", "timeout",      "pit",
        "slice", "stats", "search_after", "profile",          "indices_boost"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        json_tree_remove(body, keys[i]);
    }
}

static void querylog_add(struct querylog *q, const char *body, size_t line)
{
    q->searches++;
    for (size_t i = 0; i < q->count; i++) {
        if (strcmp(q->items[i].body, body) == 0) {
            return;
        }
    }
    if (q->count == QUERYLOG_MOST) {
        q->left_out++;
        return;
    }
    q->items = mem_grow(q->items, q->count + 1, sizeof(*q->items));
    q->items[q->count++] = (struct querylog_search){text_copy(body), line};
}

static int querylog_add_body(struct querylog *q, struct json_object *body,
                             const struct querylog_line *l)
{
    const char *key = querylog_unknown_key(body);
    if (key != NULL) {
        return err_set(l->err, ERR_CONFIG, "%s:%zu: \"%s\" is not a key of a search body", l->file,
                       l->number, key);
    }
    querylog_strip(body);
    querylog_add(q, json_build_string(body, PLAIN), l->number);
    return 0;
}

/* Reads the search that a log line quotes. key: of the log. */
static int querylog_add_source(struct querylog *q, struct span text, const char *key,
                               const struct querylog_line *l)
{
    struct json_object *body = NULL;
    if (text.len == 0) { /* a search without a body */
        querylog_add(q, "{}", l->number);
        return 0;
    }
    bool good = json_tree_parse(&body, text.data, text.len, &limits) == JSON_FITS &&
                json_tree_is_object(body);
    int rc = good ? querylog_add_body(q, body, l)
                  : err_set(l->err, ERR_CONFIG,
                            "%s:%zu: \"%s\" is not a search body as JSON; was it cut?", l->file,
                            l->number, key);
    json_object_put(body);
    return rc;
}

/* Returns the member of a JSON log line that quotes the search, and its key; null if the object is
 * not a log line. */
static struct json_object *querylog_source_of(struct json_object *line, const char **key)
{
    static const char *const keys[] = {"elasticsearch.slowlog.source", "source"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        *key = keys[i];
        if (json_tree_has(line, keys[i])) {
            return json_tree_member(line, keys[i]);
        }
    }
    *key = keys[0];
    return json_tree_at(line, (const char *const[]){"elasticsearch", "slowlog", "source", NULL});
}

static int querylog_read_object(struct querylog *q, struct json_object *tree,
                                const struct querylog_line *l)
{
    const char *key;
    struct json_object *source = querylog_source_of(tree, &key);
    if (source == NULL) {
        return querylog_add_body(q, tree, l);
    }
    if (strstr(json_tree_text(tree, "type"), indexing) != NULL ||
        strstr(json_tree_text(tree, "event.dataset"), indexing) != NULL) {
        return 0;
    }
    if (json_tree_is_object(source)) {
        return querylog_add_body(q, source, l);
    }
    const char *text =
        json_object_is_type(source, json_type_string) ? json_object_get_string(source) : "no text";
    return querylog_add_source(q, span_make(text, strlen(text)), key, l);
}

/* Returns the length of the JSON object at the beginning of a text; 0: it has no end. */
static size_t querylog_object_len(struct span text)
{
    const char *end = text.data + text.len;
    size_t depth = 0;
    for (const char *at = text.data; at < end; at++) {
        if (*at == '"') {
            at = json_string_end(at, end);
            if (at == NULL) {
                return 0;
            }
        }
        depth += *at == '{' ? 1 : 0;
        depth -= *at == '}' && depth > 0 ? 1 : 0;
        if (depth == 0) {
            return *at == '}' ? (size_t)(at - text.data) + 1 : 0;
        }
    }
    return 0;
}

static int querylog_read_text(struct querylog *q, struct span line, const struct querylog_line *l)
{
    const char *at = memmem(line.data, line.len, in_text, sizeof(in_text) - 1);
    if (at == NULL) {
        return err_set(l->err, ERR_CONFIG,
                       "%s:%zu: neither a search body as JSON nor a line of a search slow log",
                       l->file, l->number);
    }
    size_t before = (size_t)(at - line.data);
    if (memmem(line.data, before, indexing, sizeof(indexing) - 1) != NULL) {
        return 0;
    }
    at += sizeof(in_text) - 1;
    struct span rest = span_make(at, (size_t)(line.data + line.len - at));
    bool empty = rest.len > 0 && *at == ']';
    size_t len = empty ? 0 : querylog_object_len(rest);
    return querylog_add_source(q, span_make(at, empty || len > 0 ? len : rest.len), "source", l);
}

static int querylog_read_line(struct querylog *q, struct span line, const struct querylog_line *l)
{
    static const char *const reasons[] = {[JSON_BROKEN] = "not JSON",
                                          [JSON_LONG] = "too long for a search",
                                          [JSON_LARGE] = "too large for a search",
                                          [JSON_DEEP] = "nested too deeply for a search"};
    struct json_object *tree;
    line = json_trim(line);
    if (line.len == 0) {
        return 0;
    }
    if (*line.data != '{') {
        return querylog_read_text(q, line, l);
    }
    enum json_fit fit = json_tree_parse(&tree, line.data, line.len, &limits);
    int rc = fit == JSON_FITS ? querylog_read_object(q, tree, l)
                              : err_set(l->err, ERR_CONFIG, "%s:%zu: the line is %s", l->file,
                                        l->number, reasons[fit]);
    json_object_put(tree);
    return rc;
}

int querylog_read(struct querylog *out, const char *name, struct span text, struct err *err)
{
    struct querylog_line l = {.file = name, .err = err};
    int rc = 0;
    *out = (struct querylog){0};
    while (text.len > 0 && rc == 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.data) : text.len;
        size_t used = end != NULL ? len + 1 : len;
        l.number++;
        rc = querylog_read_line(out, span_make(text.data, len), &l);
        text = span_make(text.data + used, text.len - used);
    }
    return rc;
}

void querylog_release(struct querylog *q)
{
    for (size_t i = 0; i < q->count; i++) {
        free(q->items[i].body);
    }
    free(q->items);
}

/* --- fields ---------------------------------------------------------------------------------- */

struct field_walk {
    querylog_each each;
    void *context;
    struct json_object *runtime; /* fields that the search itself defines */
};

/* How a query names its fields. */
enum query_form {
    FORM_MEMBER, /* {"term": {"status": "new"}} */
    FORM_FIELD,  /* {"exists": {"field": "status"}}, otherwise as FORM_MEMBER */
    FORM_FIELDS, /* {"multi_match": {"fields": ["title^3", "body"]}} */
    FORM_NONE,   /* a combination of queries */
};

struct leaf {
    const char *name;
    enum field_use use;
    enum query_form form;
};

static const struct leaf leaves[] = {
    {"term", USE_FILTER, FORM_MEMBER},
    {"terms", USE_FILTER, FORM_MEMBER},
    {"range", USE_FILTER, FORM_MEMBER},
    {"terms_set", USE_FILTER, FORM_MEMBER},
    {"prefix", USE_MATCH, FORM_MEMBER},
    {"wildcard", USE_MATCH, FORM_MEMBER},
    {"regexp", USE_MATCH, FORM_MEMBER},
    {"fuzzy", USE_MATCH, FORM_MEMBER},
    {"match", USE_MATCH, FORM_MEMBER},
    {"match_phrase", USE_MATCH, FORM_MEMBER},
    {"match_phrase_prefix", USE_MATCH, FORM_MEMBER},
    {"match_bool_prefix", USE_MATCH, FORM_MEMBER},
    {"intervals", USE_MATCH, FORM_MEMBER},
    {"exists", USE_MATCH, FORM_FIELD},
    {"multi_match", USE_MATCH, FORM_FIELDS},
    {"combined_fields", USE_MATCH, FORM_FIELDS},
    {"query_string", USE_MATCH, FORM_FIELDS},
    {"simple_query_string", USE_MATCH, FORM_FIELDS},
    {"field_value_factor", USE_AGGREGATE, FORM_FIELD},
    {"knn", USE_SEMANTIC, FORM_FIELD},
    {"neural", USE_SEMANTIC, FORM_MEMBER},
    {"neural_sparse", USE_SEMANTIC, FORM_MEMBER},
    {"semantic", USE_SEMANTIC, FORM_FIELD},
    {"sparse_vector", USE_SEMANTIC, FORM_FIELD},
    {"text_expansion", USE_SEMANTIC, FORM_MEMBER},
    {"hybrid", USE_SEMANTIC, FORM_NONE},
    {"retriever", USE_SEMANTIC, FORM_NONE},
    {"rank", USE_SEMANTIC, FORM_NONE},
};

static const struct leaf *querylog_find_leaf(const char *name)
{
    for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
        if (strcmp(leaves[i].name, name) == 0) {
            return &leaves[i];
        }
    }
    return NULL;
}

/* Reports a field, which may have a boost: "title^3". Names with "_" are the service's own. */
static void querylog_report(const struct field_walk *w, enum field_use use, const char *name)
{
    char *field = text_copy_span(span_make(name, strcspn(name, "^")));
    if (*field != '\0' && *field != '_' && strchr(field, '*') == NULL &&
        !json_tree_has(w->runtime, field)) {
        w->each(w->context, use, field);
    }
    free(field);
}

static void querylog_report_leaf(const struct field_walk *w, const struct leaf *leaf,
                                 struct json_object *query)
{
    const char *field = json_tree_text(query, "field");
    struct json_object *fields = json_tree_member(query, "fields");
    if (leaf->form == FORM_FIELDS) {
        querylog_report(w, leaf->use, json_tree_text(query, "default_field"));
        for (size_t i = 0; i < json_tree_length(fields); i++) {
            struct json_object *item = json_tree_item(fields, i);
            querylog_report(
                w, leaf->use,
                json_object_is_type(item, json_type_string) ? json_object_get_string(item) : "");
        }
    } else if (leaf->form == FORM_FIELD && *field != '\0') {
        querylog_report(w, leaf->use, field);
    } else {
        for (struct json_members m = json_tree_members(query); json_tree_next(&m);) {
            querylog_report(w, leaf->use, strcmp(m.name, "boost") != 0 ? m.name : "");
        }
    }
}

static void querylog_walk_query(const struct field_walk *w, struct json_object *query);

static void querylog_walk_member(const struct field_walk *w, const char *name,
                                 struct json_object *value)
{
    static const char *const opaque[] = {"script", "params", "inner_hits"};
    const struct leaf *leaf = querylog_find_leaf(name);
    if (leaf != NULL && leaf->form != FORM_NONE && json_tree_is_object(value)) {
        querylog_report_leaf(w, leaf, value);
        querylog_walk_query(w, json_tree_member(value, "filter")); /* of knn */
        return;
    }
    if (leaf != NULL && leaf->form == FORM_NONE) {
        w->each(w->context, USE_SEMANTIC, "");
    }
    if (leaf != NULL && json_tree_is_list(value)) { /* several knn */
        for (size_t i = 0; i < json_tree_length(value); i++) {
            querylog_walk_member(w, name, json_tree_item(value, i));
        }
    } else if (!querylog_is_one_of(name, LISTED(opaque))) {
        querylog_walk_query(w, value);
    }
}

static void querylog_walk_query(const struct field_walk *w, struct json_object *query)
{
    for (size_t i = 0; i < json_tree_length(query); i++) {
        querylog_walk_query(w, json_tree_item(query, i));
    }
    for (struct json_members m = json_tree_members(query); json_tree_next(&m);) {
        querylog_walk_member(w, m.name, m.value);
    }
}

/* Reports each "field" of an aggregation's parameters. */
static void querylog_walk_parameters(const struct field_walk *w, struct json_object *value)
{
    static const char *const opaque[] = {"script", "order", "params"};
    for (size_t i = 0; i < json_tree_length(value); i++) {
        querylog_walk_parameters(w, json_tree_item(value, i));
    }
    querylog_report(w, USE_AGGREGATE, json_tree_text(value, "field"));
    for (struct json_members m = json_tree_members(value); json_tree_next(&m);) {
        if (!querylog_is_one_of(m.name, LISTED(opaque))) {
            querylog_walk_parameters(w, m.value);
        }
    }
}

static bool querylog_is_aggs(const char *name)
{
    return strcmp(name, "aggs") == 0 || strcmp(name, "aggregations") == 0;
}

static void querylog_walk_aggregations(const struct field_walk *w, struct json_object *aggregations)
{
    static const char *const queries[] = {"filter", "filters", "adjacency_matrix"};
    static const char *const opaque[] = {"meta", "top_hits", "significant_text", "scripted_metric"};
    for (struct json_members a = json_tree_members(aggregations); json_tree_next(&a);) {
        for (struct json_members m = json_tree_members(a.value); json_tree_next(&m);) {
            if (querylog_is_aggs(m.name)) {
                querylog_walk_aggregations(w, m.value);
            } else if (querylog_is_one_of(m.name, LISTED(queries))) {
                querylog_walk_query(w, m.value);
            } else if (!querylog_is_one_of(m.name, LISTED(opaque))) {
                querylog_walk_parameters(w, m.value);
            }
        }
    }
}

static void querylog_report_sort(const struct field_walk *w, struct json_object *entry)
{
    if (json_object_is_type(entry, json_type_string)) {
        querylog_report(w, USE_SORT, json_object_get_string(entry));
    }
    for (struct json_members m = json_tree_members(entry); json_tree_next(&m);) {
        querylog_report(w, USE_SORT, m.name);
    }
}

void querylog_fields(const char *body, querylog_each each, void *context)
{
    static const char *const queries[] = {"query",     "post_filter", "rescore",     "knn",
                                          "retriever", "rank",        "sub_searches"};
    struct json_object *tree = json_tree_of(body);
    struct field_walk w = {each, context, json_tree_member(tree, "runtime_mappings")};
    for (struct json_members m = json_tree_members(tree); json_tree_next(&m);) {
        if (querylog_is_aggs(m.name)) {
            querylog_walk_aggregations(&w, m.value);
        } else if (querylog_is_one_of(m.name, LISTED(queries))) {
            querylog_walk_member(&w, m.name, m.value);
        } else if (strcmp(m.name, "collapse") == 0) {
            querylog_report(&w, USE_SORT, json_tree_text(m.value, "field"));
        } else if (strcmp(m.name, "sort") == 0) {
            querylog_report_sort(&w, m.value);
            for (size_t i = 0; i < json_tree_length(m.value); i++) {
                querylog_report_sort(&w, json_tree_item(m.value, i));
            }
        }
    }
    json_object_put(tree);
}
