/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a document's values and evaluates the query tree. */
#include "base/glob.h"
#include "base/limits.h"
#include "base/reader.h"
#include "search/query.h"

#include <math.h>
#include <stdlib.h>

void value_release(struct value *v)
{
    free(v->text);
    *v = (struct value){0};
}

static void values_clear(struct values *v)
{
    for (size_t i = 0; i < v->count; i++) {
        value_release(&v->list[i]);
    }
    v->count = 0;
}

/* The type "date" has a resolution of milliseconds. */
static bool date_of(const struct field *field, struct span text, long double *n)
{
    if (!value_date(text, field->format, n)) {
        return false;
    }
    *n = strcmp(field->type->name, "date") == 0 ? floorl(*n) : *n;
    return true;
}

static bool number_of(const struct field *field, struct span text, long double *n)
{
    bool flag;
    switch (field->type->family) {
    case FAMILY_INTEGER:
    case FAMILY_UNSIGNED:
        if (!value_number(text, n)) {
            return false;
        }
        *n = value_whole(*n);
        return true;
    case FAMILY_REAL:
        return value_number(text, n);
    case FAMILY_DATE:
        return date_of(field, text, n);
    default:
        if (!value_boolean(text, &flag)) {
            return false;
        }
        *n = flag ? 1 : 0;
        return true;
    }
}

static bool is_number(const struct field *field)
{
    enum family family = field->type->family;
    return family == FAMILY_INTEGER || family == FAMILY_UNSIGNED || family == FAMILY_REAL ||
           family == FAMILY_DATE || family == FAMILY_BOOLEAN;
}

bool value_of(const struct field *field, struct span text, struct value *out)
{
    *out = (struct value){.number = is_number(field)};
    if (out->number) {
        return number_of(field, text, &out->n);
    }
    out->text = mem_zero(text.len + 1, 1);
    memcpy(out->text, text.len > 0 ? text.data : "", text.len);
    out->len = text.len;
    return true;
}

int value_compare(const struct value *a, const struct value *b)
{
    if (a->number) {
        return a->n < b->n ? -1 : a->n > b->n ? 1 : 0;
    }
    size_t n = a->len < b->len ? a->len : b->len;
    int order = n > 0 ? memcmp(a->text, b->text, n) : 0;
    return order != 0 ? order : a->len < b->len ? -1 : a->len > b->len ? 1 : 0;
}

void plan_init(struct plan *p, const struct index *ix, struct refusal *refusal)
{
    *p = (struct plan){.index = ix, .refusal = refusal};
}

void plan_release(struct plan *p)
{
    for (size_t i = 0; i < p->field_count; i++) {
        values_clear(&p->slots[i]);
        free(p->slots[i].list);
    }
    free(p->slots);
    free(p->fields);
    node_free(p->root);
    *p = (struct plan){0};
}

size_t plan_slot(struct plan *p, const struct field *field)
{
    for (size_t i = 0; i < p->field_count; i++) {
        if (p->fields[i] == field) {
            return i;
        }
    }
    p->fields = mem_grow(p->fields, p->field_count + 1, sizeof(*p->fields));
    p->slots = mem_grow(p->slots, p->field_count + 1, sizeof(*p->slots));
    p->slots[p->field_count] = (struct values){0};
    p->fields[p->field_count] = field;
    return p->field_count++;
}

static void add_value(struct values *to, const struct field *f, struct span text)
{
    struct value v;
    if (f->ignore_above > 0 && text.len > f->ignore_above) {
        return;
    }
    if (!value_of(f, text, &v)) {
        return;
    }
    if (to->count == to->capacity) {
        to->capacity = to->capacity == 0 ? 4 : to->capacity * 2;
        to->list = mem_grow(to->list, to->capacity, sizeof(*to->list));
    }
    to->list[to->count++] = v;
}

/* Loads values below `path`: every scalar counts for the fields with that source path. */
struct loading {
    struct plan *plan;
    struct reader reader;
    struct buf path;
    struct buf scratch;
};

static bool wanted_below(const struct loading *l)
{
    for (size_t i = 0; i < l->plan->field_count; i++) {
        const char *source = l->plan->fields[i]->source_path;
        if (strncmp(source, buf_text(&l->path), l->path.len) == 0 &&
            (source[l->path.len] == '\0' || source[l->path.len] == '.')) {
            return true;
        }
    }
    return false;
}

static int load_value(struct loading *l);

static int load_object(struct loading *l)
{
    struct members mark = {0};
    struct span key;
    size_t len = l->path.len;
    int more = reader_enter(&l->reader);
    while (more == 0 && (more = reader_member(&l->reader, &mark, &key)) > 0) {
        buf_push_text(&l->path, len > 0 ? "." : "");
        buf_push(&l->path, key.data, key.len);
        more = wanted_below(l) ? load_value(l) : reader_skip(&l->reader, NULL);
        buf_truncate(&l->path, len);
    }
    return more;
}

static int load_value(struct loading *l)
{
    struct span text;
    bool begun = false;
    int more = 0;
    switch (reader_peek(&l->reader)) {
    case TOKEN_OBJECT:
        return load_object(l);
    case TOKEN_ARRAY:
        more = reader_enter(&l->reader);
        while (more == 0 && (more = reader_element(&l->reader, &begun)) > 0) {
            more = load_value(l);
        }
        return more;
    case TOKEN_NULL:
        return reader_skip(&l->reader, NULL);
    default:
        break;
    }
    if (reader_text(&l->reader, &l->scratch, &text) != 0) {
        return -1;
    }
    for (size_t i = 0; i < l->plan->field_count; i++) {
        if (strcmp(l->plan->fields[i]->source_path, buf_text(&l->path)) == 0) {
            add_value(&l->plan->slots[i], l->plan->fields[i], text);
        }
    }
    return 0;
}

int plan_load(struct plan *p, struct span source)
{
    struct loading l = {.plan = p};
    for (size_t i = 0; i < p->field_count; i++) {
        values_clear(&p->slots[i]);
    }
    if (p->field_count == 0) {
        return 0;
    }
    buf_init(&l.path, (size_t)1 << 20);
    buf_init(&l.scratch, (size_t)128 << 20);
    reader_init(&l.reader, source);
    l.reader.checked = true;
    int rc = load_value(&l);
    reader_release(&l.reader);
    buf_release(&l.path);
    buf_release(&l.scratch);
    return rc;
}

static int by_value(const void *a, const void *b)
{
    return value_compare(a, b);
}

void values_sort(struct values *v)
{
    if (v->count > 1) {
        qsort(v->list, v->count, sizeof(*v->list), by_value);
    }
}

static bool holds(const struct values *sorted, const struct value *v)
{
    return sorted->count > 0 &&
           bsearch(v, sorted->list, sorted->count, sizeof(*v), by_value) != NULL;
}

static bool any_equal(const struct values *have, const struct values *wanted)
{
    for (size_t i = 0; i < have->count; i++) {
        if (holds(wanted, &have->list[i])) {
            return true;
        }
    }
    return false;
}

static bool any_in_range(const struct values *have, const struct node *n)
{
    for (size_t i = 0; i < have->count; i++) {
        int low = n->has_low ? value_compare(&have->list[i], &n->low) : 1;
        int high = n->has_high ? value_compare(&have->list[i], &n->high) : -1;
        if ((n->low_open ? low > 0 : low >= 0) && (n->high_open ? high < 0 : high <= 0)) {
            return true;
        }
    }
    return false;
}

static bool any_like(const struct values *have, struct span pattern)
{
    for (size_t i = 0; i < have->count; i++) {
        const struct value *v = &have->list[i];
        if (!v->number && glob_matches(pattern, span_make(v->text, v->len))) {
            return true;
        }
    }
    return false;
}

static int by_row(const void *a, const void *b)
{
    int64_t left = ((const struct scored_row *)a)->row;
    int64_t right = ((const struct scored_row *)b)->row;
    return left < right ? -1 : left > right ? 1 : 0;
}

static bool has_row(const struct node *n, int64_t row, double *score)
{
    struct scored_row key = {row, 0};
    const struct scored_row *found =
        n->row_count > 0 ? bsearch(&key, n->rows, n->row_count, sizeof(key), by_row) : NULL;
    *score += found != NULL ? found->score : 0;
    return found != NULL;
}

static bool bool_matches(const struct plan *p, const struct node *n, const struct stored *doc,
                         double *score)
{
    int64_t should = 0;
    bool optional = false;
    bool needed = false;
    for (size_t i = 0; i < n->child_count; i++) {
        double ignored = 0;
        bool counts = n->clauses[i] == CLAUSE_MUST || n->clauses[i] == CLAUSE_SHOULD;
        bool hit = plan_matches(p, n->children[i], doc, counts ? score : &ignored);
        if (n->clauses[i] == CLAUSE_SHOULD) {
            optional = true;
            should += hit ? 1 : 0;
            continue;
        }
        needed = needed || n->clauses[i] != CLAUSE_MUST_NOT;
        if (hit == (n->clauses[i] == CLAUSE_MUST_NOT)) {
            return false;
        }
    }
    int64_t minimum = n->minimum_should >= 0 ? n->minimum_should : (optional && !needed ? 1 : 0);
    return should >= minimum;
}

bool plan_matches(const struct plan *p, const struct node *n, const struct stored *doc,
                  double *score)
{
    struct value id = {.len = doc->id.len};
    bool hit = false;
    switch (n->kind) {
    case NODE_ALL:
        hit = true;
        break;
    case NODE_NONE:
        break;
    case NODE_TERMS:
        hit = any_equal(&p->slots[n->slot], &n->values);
        break;
    case NODE_RANGE:
        hit = any_in_range(&p->slots[n->slot], n);
        break;
    case NODE_EXISTS:
        hit = p->slots[n->slot].count > 0;
        break;
    case NODE_PATTERN:
        hit =
            any_like(&p->slots[n->slot], span_make(n->values.list[0].text, n->values.list[0].len));
        break;
    case NODE_IDS:
        /* the comparison only reads the borrowed id */
        memcpy(&id.text, &doc->id.data, sizeof(id.text));
        hit = holds(&n->values, &id);
        break;
    case NODE_TEXT:
        return has_row(n, doc->row, score);
    case NODE_NEAREST:
        return nearest_matches(p, n, score);
    case NODE_BOOL:
        return bool_matches(p, n, doc, score);
    }
    *score += hit ? 1 : 0;
    return hit;
}

int plan_count(struct plan *p, size_t clauses)
{
    p->clauses += clauses;
    return p->clauses <= CLAUSES_MAX
               ? 0
               : refuse(p->refusal, 400, "query_shard_exception",
                        "failed to create query: maxClauseCount is set to %d", CLAUSES_MAX);
}

struct node *node_new(enum node_kind kind)
{
    struct node *n = mem_zero(1, sizeof(*n));
    n->kind = kind;
    n->minimum_should = -1;
    return n;
}

void node_free(struct node *n)
{
    if (n == NULL) {
        return;
    }
    for (size_t i = 0; i < n->child_count; i++) {
        node_free(n->children[i]);
    }
    values_clear(&n->values);
    value_release(&n->low);
    value_release(&n->high);
    free(n->values.list);
    free(n->children);
    free(n->clauses);
    free(n->rows);
    free(n->vector);
    free(n);
}

void node_add(struct node *parent, enum clause clause, struct node *child)
{
    size_t n = parent->child_count++;
    parent->children = mem_grow(parent->children, n + 1, sizeof(struct node *));
    parent->clauses = mem_grow(parent->clauses, n + 1, sizeof(*parent->clauses));
    parent->children[n] = child;
    parent->clauses[n] = clause;
}
