/* SPDX-License-Identifier: Apache-2.0 */
/* Searches one index and keeps the best hits in order. */
#include "base/tree.h"
#include "search/search.h"

#include <stdlib.h>

struct running {
    struct plan plan;
    struct found *found;
    const struct field **sort_fields;
    size_t *sort_slots;
    bool elasticsearch;
    struct refusal *refusal;
};

int refuse_shards(struct refusal *refusal, const char *index)
{
    struct refusal outer;
    refusal_init(&outer);
    refuse(&outer, refusal->status, "search_phase_execution_exception", "all shards failed");
    buf_push_literal(&outer.members, ",\"phase\":\"query\",\"grouped\":true,\"failed_shards\":["
                                     "{\"shard\":0,\"index\":");
    push_json_text(&outer.members, index);
    buf_push_literal(&outer.members, ",\"node\":\"devsearch\",\"reason\":");
    refusal_render(refusal, &outer.members, false);
    buf_push_literal(&outer.members, "}]");
    refusal_render(refusal, &outer.root, false);
    refusal_release(refusal);
    *refusal = outer;
    return -1;
}

static void hit_release(struct hit *h, size_t keys)
{
    for (size_t i = 0; i < keys && h->keys != NULL; i++) {
        value_release(&h->keys[i]);
    }
    free(h->keys);
    free(h->missing);
}

void found_release(struct found *f)
{
    for (size_t i = 0; i < f->count; i++) {
        hit_release(&f->list[i], f->asked->sort_count);
    }
    free(f->list);
    if (f->after != NULL) {
        hit_release(f->after, f->asked->sort_count);
        free(f->after);
    }
}

/* Compares two hits by the first n sort keys; missing values sort last. */
static int compare(const struct asked *w, const struct hit *a, const struct hit *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a->missing[i] != b->missing[i]) {
            return a->missing[i] ? 1 : -1;
        }
        int order = a->missing[i] ? 0 : value_compare(&a->keys[i], &b->keys[i]);
        if (order != 0) {
            return w->sort[i].descending ? -order : order;
        }
    }
    if (w->sort_count == 0 && a->score > b->score) {
        return -1;
    }
    return w->sort_count == 0 && a->score < b->score ? 1 : 0;
}

/* Returns the smallest value for ascending order, the largest for descending. */
static const struct value *best(const struct values *v, bool descending)
{
    const struct value *chosen = v->count > 0 ? &v->list[0] : NULL;
    for (size_t i = 1; i < v->count; i++) {
        int order = value_compare(&v->list[i], chosen);
        chosen = (descending ? order > 0 : order < 0) ? &v->list[i] : chosen;
    }
    return chosen;
}

static struct value copy_value(const struct value *v)
{
    struct value copy = *v;
    if (!v->number) {
        copy.text = mem_zero(v->len + 1, 1);
        memcpy(copy.text, v->text, v->len);
    }
    return copy;
}

static void fill_keys(const struct running *r, struct hit *h, const struct stored *doc)
{
    const struct asked *w = r->found->asked;
    h->keys = mem_zero(w->sort_count + 1, sizeof(*h->keys));
    h->missing = mem_zero(w->sort_count + 1, sizeof(*h->missing));
    for (size_t i = 0; i < w->sort_count; i++) {
        struct value id = {.text = NULL, .len = doc->id.len};
        const struct value *chosen;
        switch (w->sort[i].by) {
        case SORT_DOC:
        case SORT_SCORE:
            h->keys[i].number = true;
            h->keys[i].n =
                w->sort[i].by == SORT_DOC ? (long double)doc->row : (long double)h->score;
            break;
        case SORT_ID:
            id.text = text_copy_span(doc->id);
            h->keys[i] = id;
            break;
        case SORT_FIELD:
            chosen = best(&r->plan.slots[r->sort_slots[i]], w->sort[i].descending);
            h->missing[i] = chosen == NULL;
            h->keys[i] = chosen != NULL ? copy_value(chosen) : (struct value){0};
            break;
        }
    }
}

/* Returns the position of a hit in the list; limit if it does not belong there. */
static size_t place_of(const struct found *f, const struct hit *h)
{
    size_t low = 0;
    size_t high = f->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(f->asked, &f->list[middle], h, f->asked->sort_count) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void keep(struct found *f, struct hit *h)
{
    size_t at = place_of(f, h);
    if (at >= f->limit) {
        hit_release(h, f->asked->sort_count);
        return;
    }
    if (f->count == f->limit) {
        hit_release(&f->list[--f->count], f->asked->sort_count);
    }
    if ((f->count & (f->count - 1)) == 0) {
        f->list = mem_grow(f->list, f->count == 0 ? 1 : f->count * 2, sizeof(*f->list));
    }
    memmove(&f->list[at + 1], &f->list[at], (f->count - at) * sizeof(*f->list));
    f->list[at] = *h;
    f->count++;
}

static int each(void *context, const struct stored *doc)
{
    struct running *r = context;
    struct found *f = r->found;
    struct hit h = {.index = r->plan.index, .row = doc->row};
    if (r->plan.field_count > 0 && plan_load(&r->plan, doc->source) != 0) {
        return refuse(r->refusal, 500, "exception", "a stored document cannot be read");
    }
    if (!plan_matches(&r->plan, r->plan.root, doc, &h.score)) {
        return 0;
    }
    f->total++;
    if (f->limit == 0) {
        return 0;
    }
    fill_keys(r, &h, doc);
    size_t after = f->after != NULL ? tree_length(f->asked->search_after) : 0;
    if (after > 0 && compare(f->asked, &h, f->after, after) <= 0) {
        hit_release(&h, f->asked->sort_count);
        return 0;
    }
    keep(f, &h);
    return 0;
}

static int prepare_sort(struct running *r)
{
    const struct asked *w = r->found->asked;
    r->sort_fields = mem_zero(w->sort_count + 1, sizeof(*r->sort_fields));
    r->sort_slots = mem_zero(w->sort_count + 1, sizeof(*r->sort_slots));
    for (size_t i = 0; i < w->sort_count; i++) {
        if (w->sort[i].by != SORT_FIELD) {
            continue;
        }
        const struct field *f = mapping_find(&r->plan.index->mapping, w->sort[i].path);
        if (f == NULL) {
            refuse(r->refusal, 400, "query_shard_exception",
                   "No mapping found for [%s] in order to sort on", w->sort[i].path);
            return -1;
        }
        if (f->type->family == FAMILY_TEXT) {
            return refuse(
                r->refusal, 400, "illegal_argument_exception",
                "Text fields are not optimised for operations that require per-document "
                "field data like aggregations and sorting, so these operations are disabled "
                "by default. Please use a keyword field instead. Alternatively, set "
                "fielddata=true on [%s] in order to load field data by uninverting the "
                "inverted index. Note that this can use significant memory.",
                f->path);
        }
        r->sort_fields[i] = f;
        r->sort_slots[i] = plan_slot(&r->plan, f);
    }
    return 0;
}

/* Converts search_after into a hit for comparison; its values are parsed by the fields' types. */
static int prepare_after(struct running *r)
{
    struct found *f = r->found;
    const struct asked *w = f->asked;
    if (w->search_after == NULL || f->after != NULL) {
        return 0;
    }
    f->after = mem_zero(1, sizeof(*f->after));
    f->after->keys = mem_zero(w->sort_count, sizeof(*f->after->keys));
    f->after->missing = mem_zero(w->sort_count, sizeof(*f->after->missing));
    for (size_t i = 0; i < tree_length(w->search_after); i++) {
        struct json_object *given = tree_item(w->search_after, i);
        const char *text = given != NULL ? tree_text(given) : NULL;
        struct value *key = &f->after->keys[i];
        bool number = w->sort[i].by == SORT_DOC || w->sort[i].by == SORT_SCORE;
        bool none = text == NULL || strcmp(text, "9223372036854775807") == 0 ||
                    strcmp(text, "-9223372036854775808") == 0;
        f->after->missing[i] = none;
        if (none) {
            continue;
        }
        struct span span = span_make(text, strlen(text));
        key->number = number;
        if (number ? !value_number(span, &key->n)
                   : w->sort[i].by == SORT_FIELD && !value_of(r->sort_fields[i], span, key)) {
            return refuse(r->refusal, 400, "illegal_argument_exception",
                          "Failed to parse search_after value for field [%s].", w->sort[i].path);
        }
        if (w->sort[i].by == SORT_ID) {
            *key = (struct value){.text = text_copy(text), .len = strlen(text)};
        }
    }
    return 0;
}

/* Compiles a search for neighbours. Beside a query its hits would have to be merged, so that is
 * refused. */
static int compile_neighbours(struct running *r, struct json_object *query)
{
    const struct asked *w = r->found->asked;
    if (r->elasticsearch && query == NULL && w->query_text == NULL && w->sort_count == 0) {
        r->plan.root = nearest_compile_top(&r->plan, w->neighbours);
        return r->plan.root != NULL ? 0 : -1;
    }
    return r->elasticsearch ? refuse_unknown(r->refusal, "[knn] beside a query or a sort")
                            : refuse(r->refusal, 400, "parsing_exception",
                                     "Unknown key for a START_OBJECT in [knn].");
}

static int compile_query(struct running *r)
{
    const struct asked *w = r->found->asked;
    struct json_object *query = NULL;
    if (w->body != NULL) {
        json_object_object_get_ex(w->body, "query", &query);
    }
    if (w->neighbours != NULL) {
        return compile_neighbours(r, query);
    }
    r->plan.root = w->query_text != NULL ? query_string_compile(&r->plan, w->query_text)
                   : query != NULL       ? query_compile(&r->plan, query)
                                         : node_new(NODE_ALL);
    if (r->plan.root != NULL && r->plan.nearest > 0 &&
        (r->plan.root->kind != NODE_NEAREST || w->sort_count > 0)) {
        return refuse_unknown(r->refusal, "[knn] within another query, or sorted");
    }
    return r->plan.root != NULL ? 0 : -1;
}

/* Keeps only the k nearest neighbours. */
static void keep_nearest(struct found *f, size_t before, size_t k)
{
    size_t most = before + k;
    while (f->count > most) {
        hit_release(&f->list[--f->count], f->asked->sort_count);
    }
    f->total = f->total > (int64_t)most ? (int64_t)most : f->total;
}

/* Returns true if the search lists all documents by source_id, as clients do to scan an index. */
static bool lists_keys(const struct running *r)
{
    const struct found *f = r->found;
    const struct asked *w = f->asked;
    return f->count == 0 && f->limit > 0 && w->track == 0 && w->sort_count == 1 &&
           w->sort[0].by == SORT_FIELD && !w->sort[0].descending &&
           strcmp(w->sort[0].path, "source_id") == 0 && r->plan.root->kind == NODE_ALL &&
           r->sort_fields[0]->type->family == FAMILY_KEYWORD;
}

/* Rows come in order, so the scan can stop when the page is full. */
static int each_in_order(void *context, const struct stored *doc)
{
    const struct running *r = context;
    int rc = each(context, doc);
    return rc == 0 && r->found->count == r->found->limit ? 1 : rc;
}

static int scan_index(struct running *r, int64_t refresh_at, struct refusal *refusal)
{
    struct found *f = r->found;
    struct shelf *shelf = r->plan.index->shelf;
    if (lists_keys(r)) {
        const struct value *after =
            f->after != NULL && !f->after->missing[0] ? &f->after->keys[0] : NULL;
        struct span from = after != NULL ? span_make(after->text, after->len) : span_make("", 0);
        int rc = shelf_scan_keys(shelf, refresh_at, from, each_in_order, r, refusal);
        if (rc != 0 || refusal->status != 0 || f->count == f->limit) {
            return rc;
        }
        while (f->count > 0) { /* documents without a source_id sort last: scan all of them */
            hit_release(&f->list[--f->count], f->asked->sort_count);
        }
    }
    return shelf_scan(shelf, refresh_at, each, r, refusal);
}

int search_index(struct server *s, struct index *ix, int64_t refresh_at, struct found *f,
                 struct refusal *refusal)
{
    struct running r = {
        .found = f, .elasticsearch = s->options->product == ELASTICSEARCH, .refusal = refusal};
    size_t before = f->count;
    refusal->status = 0;
    plan_init(&r.plan, ix, refusal);
    int rc = prepare_sort(&r) != 0 || prepare_after(&r) != 0 || compile_query(&r) != 0 ? -1 : 0;
    bool shard = rc != 0 && (strcmp(refusal->type, "query_shard_exception") == 0 ||
                             strncmp(buf_text(&refusal->reason), "Text fields", 11) == 0);
    if (rc == 0) {
        rc = scan_index(&r, refresh_at, refusal);
        rc = refusal->status != 0 ? -1 : rc;
    }
    if (rc == 0 && r.plan.nearest > 0) {
        keep_nearest(f, before, r.plan.nearest);
    }
    plan_release(&r.plan);
    free(r.sort_fields);
    free(r.sort_slots);
    if (shard && refusal->members.len == 0 && refusal->type[0] == 'q') {
        refusal_member(refusal, "index", ix->name);
        refusal_member(refusal, "index_uuid", ix->uuid);
    }
    return shard ? refuse_shards(refusal, ix->name) : rc;
}
