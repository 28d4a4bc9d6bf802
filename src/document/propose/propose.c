/* SPDX-License-Identifier: Apache-2.0 */
/* Proposes properties from columns and the facts about them. */
#include "rowferry/document/propose/propose.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/type_table.h"
#include "propose/propose_private.h"
#include "rowferry/base/text.h"

#define EXACT_DIGITS 15 /* decimal digits that a double keeps */
#define LONG_DIGITS 18

/* --- memory ----------------------------------------------------------------------------------- */

void propose_column_facts_release(struct column_facts *facts, size_t count)
{
    for (size_t i = 0; facts != NULL && i < count; i++) {
        struct column_facts *f = &facts[i];
        if (f->shape != NULL) {
            propose_json_shape_release(f->shape);
        }
        if (f->inside != NULL) {
            propose_table_facts_release(f->inside);
        }
        free(f->shape);
        free(f->inside);
        *f = (struct column_facts){0};
    }
}

void propose_table_facts_release(struct table_facts *t)
{
    propose_column_facts_release(t->facts, t->columns.count);
    free(t->facts);
    row_columns_release(&t->columns);
    *t = (struct table_facts){0};
}

void propose_release(struct proposed *p)
{
    for (size_t i = 0; i < p->count; i++) {
        propose_release(&p->children[i]);
    }
    free(p->children);
    free(p->name);
    free(p->column);
    free(p->parameters);
    free(p->why);
    *p = (struct proposed){0};
}

__attribute__((format(printf, 2, 0))) static void propose_append(char **text, const char *format,
                                                                 va_list args)
{
    char *more = NULL;
    struct buf whole;
    if (vasprintf(&more, format, args) < 0) {
        mem_exhausted();
    }
    buf_init(&whole, PROPOSE_TEXT_BYTES);
    buf_push_text(&whole, *text != NULL ? *text : "");
    buf_push_text(&whole, more);
    free(more);
    free(*text);
    *text = buf_detach(&whole);
}

void propose_set(struct proposed *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    free(p->parameters);
    p->parameters = NULL;
    propose_append(&p->parameters, format, args);
    va_end(args);
}

void propose_note(struct proposed *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    propose_append(&p->why, format, args);
    va_end(args);
}

struct proposed *propose_child(struct proposed *p, const char *name)
{
    p->children = mem_grow(p->children, p->count + 1, sizeof(*p->children));
    struct proposed *child = &p->children[p->count++];
    *child = (struct proposed){.name = text_copy(name), .fields = 1};
    return child;
}

size_t propose_fields(const struct proposed *p)
{
    size_t n = p->left_out ? 0 : p->fields;
    for (size_t i = 0; i < p->count; i++) {
        n += propose_fields(&p->children[i]);
    }
    return n;
}

bool propose_has_vector(const struct proposed *p)
{
    if (!p->left_out && p->parameters != NULL && strstr(p->parameters, "\"knn_vector\"") != NULL) {
        return true;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (propose_has_vector(&p->children[i])) {
            return true;
        }
    }
    return false;
}

/* --- types of one line ------------------------------------------------------------------------ */

/* Types whose columns are treated alike. PostgreSQL writes those from SORT_JSON on in a special
 * form inside JSON. */
enum sort {
    SORT_OTHER,
    SORT_TEXT,
    SORT_FRACTION,
    SORT_SHORT,   /* texts that are never too long for a keyword */
    SORT_USELESS, /* for searches */
    SORT_JSON,
    SORT_HSTORE,
    SORT_VECTOR,
    SORT_PLACE,
};

/* The first property that suits each type; null: it depends, or a keyword. */
static const struct known {
    const char *type;
    enum sort sort;
    const char *property;
    bool json; /* also if the column is a member of JSON */
} knowns[] = {
    {"int2", SORT_OTHER, "short", true},
    {"int4", SORT_OTHER, "integer", true},
    {"int8", SORT_OTHER, "long", true},
    {"oid", SORT_OTHER, "long", true},
    {"float4", SORT_FRACTION, "float", true},
    {"float8", SORT_FRACTION, "double", true},
    {"numeric", SORT_FRACTION, NULL, false},
    {"bool", SORT_OTHER, "boolean", true},
    {"date", SORT_OTHER, "date", true},
    {"timestamp", SORT_OTHER, "date", true},
    {"timestamptz", SORT_OTHER, "date", true},
    {"inet", SORT_OTHER, "ip", false},
    {"cidr", SORT_OTHER, "ip_range", false},
    {"uuid", SORT_OTHER, "keyword", true},
    {"xml", SORT_OTHER, "text", true},
    {"text", SORT_TEXT, NULL, false},
    {"varchar", SORT_TEXT, NULL, false},
    {"bpchar", SORT_TEXT, NULL, false},
    {"citext", SORT_TEXT, NULL, false},
    {"name", SORT_TEXT, NULL, false},
    {"point", SORT_SHORT, "geo_point", false},
    {"time", SORT_SHORT, NULL, false},
    {"timetz", SORT_SHORT, NULL, false},
    {"interval", SORT_SHORT, NULL, false},
    {"money", SORT_SHORT, NULL, false},
    {"macaddr", SORT_SHORT, NULL, false},
    {"macaddr8", SORT_SHORT, NULL, false},
    {"pg_lsn", SORT_SHORT, NULL, false},
    {"char", SORT_SHORT, NULL, false},
    {"bytea", SORT_USELESS, "binary", false},
    {"tsvector", SORT_USELESS, "keyword", false},
    {"tsquery", SORT_USELESS, "keyword", false},
    {"json", SORT_JSON, NULL, false},
    {"jsonb", SORT_JSON, NULL, false},
    {"hstore", SORT_HSTORE, NULL, false},
    {"vector", SORT_VECTOR, NULL, false},
    {"halfvec", SORT_VECTOR, NULL, false},
    {"sparsevec", SORT_VECTOR, NULL, false},
    {"geometry", SORT_PLACE, "geo_shape", false},
    {"geography", SORT_PLACE, "geo_shape", false},
};

static const struct known *propose_known(const struct column *c)
{
    static const struct known other;
    for (size_t i = 0; i < sizeof(knowns) / sizeof(knowns[0]); i++) {
        if (c->category == 'b' && strcmp(knowns[i].type, c->type) == 0) {
            return &knowns[i];
        }
    }
    return &other;
}

static const struct column *propose_innermost(const struct column *c)
{
    while (column_is_array(c)) {
        c = &c->parts[0];
    }
    return c;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* For numeric(12,2), returns the total digits and those after the point. Returns false if the type
 * has no bounds. */
static bool propose_numeric_digits(const struct column *c, long *digits, long *scale)
{
    char *end;
    const char *open = strchr(c->declared, '(');
    *digits = open != NULL ? strtol(open + 1, &end, 10) : 0;
    *scale = open != NULL && *end == ',' ? strtol(end + 1, NULL, 10) : 0;
    return open != NULL;
}

static void propose_numeric(struct proposed *out, const struct column *c)
{
    static const int factors[] = {1, 10, 100, 1000, 10000};
    long digits;
    long scale;
    bool bounded = propose_numeric_digits(c, &digits, &scale);
    if (bounded && scale == 0 && digits <= LONG_DIGITS) {
        propose_set(out, "\"type\": \"long\"");
    } else if (bounded && scale > 0 && scale <= 4 && digits <= EXACT_DIGITS) {
        propose_set(out, "\"type\": \"scaled_float\", \"scaling_factor\": %d", factors[scale]);
    } else {
        propose_set(out, "\"type\": \"double\"");
        propose_note(out, ", searched with %d digits", EXACT_DIGITS);
    }
}

/* --- vectors ---------------------------------------------------------------------------------- */

#define VECTOR_LEAST 8 /* shorter lists are probably plain numbers */

/* Returns the dimension of a list of numbers that looks like a vector, or 0. */
static int64_t propose_list_dimension(const struct column *c, const struct column_facts *f)
{
    bool numbers = column_is_array(c) && propose_known(&c->parts[0])->sort == SORT_FRACTION;
    return numbers && f->sampled > 0 && f->unfit == 0 && f->least == f->most &&
                   f->least >= VECTOR_LEAST && f->least <= 4096
               ? f->least
               : 0;
}

static int64_t propose_vector_dimension(const struct column *c, const struct column_facts *f)
{
    const char *open = strchr(c->declared, '(');
    if (open != NULL) {
        return strtoll(open + 1, NULL, 10);
    }
    return f->sampled > 0 && f->least == f->most ? f->least : 0;
}

void propose_vector(struct proposed *out, int64_t dimension, const struct column_facts *f,
                    const struct proposer *how)
{
    if (dimension == 0) {
        out->left_out = true;
        propose_set(out, "\"type\": \"knn_vector\", \"dimension\": 0");
        propose_note(out, ": left out, no dimension is declared and no values of one length");
    } else if (how->product == PROPOSE_ELASTICSEARCH) {
        propose_set(out, "\"type\": \"dense_vector\", \"dims\": %" PRId64 "%s", dimension,
                    f->flat > 0 ? ", \"similarity\": \"l2_norm\"" : "");
        propose_note(out, "%s", f->flat > 0 ? ", some are zero, which have no cosine" : "");
    } else {
        propose_set(out, "\"type\": \"knn_vector\", \"dimension\": %" PRId64, dimension);
        out->left_out = how->product != PROPOSE_OPENSEARCH;
        propose_note(out, "%s",
                     out->left_out ? ": left out, Elasticsearch calls it dense_vector with dims"
                                   : "");
    }
}

/* --- structures ------------------------------------------------------------------------------- */

static void propose_range(struct proposed *out, const struct column *c)
{
    static const char *const types[] = {"integer_range", "long_range", "date_range", "double_range",
                                        "ip_range"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (type_find(c, types[i], NULL) != NULL) {
            propose_set(out, "\"type\": \"%s\"", types[i]);
            return;
        }
    }
    propose_set(out, "\"type\": \"keyword\"");
}

static void propose_composite(struct proposed *out, const struct column *c, bool many,
                              const struct proposer *how)
{
    static const struct column_facts unknown;
    if (how->in_json || c->part_count == 0) {
        propose_anything(out, how);
        return;
    }
    propose_set(out, "\"type\": \"%s\"", many ? "nested" : "object");
    for (size_t i = 0; i < c->part_count; i++) {
        char *name = propose_name(out, c->parts[i].name);
        if (strcmp(name, c->parts[i].name) != 0) { /* child and field have one name */
            free(name);
            propose_unmapped(out, ", the name of a field cannot name a property: ");
            for (size_t k = 0; k < out->count; k++) {
                propose_release(&out->children[k]);
            }
            out->count = 0;
            return;
        }
        struct proposed *child = propose_child(out, name);
        propose_column(child, &c->parts[i], &unknown, how);
        if (child->left_out) {
            child->left_out = false;
            propose_set(child, "\"type\": \"binary\"");
        }
        free(name);
    }
}

static void propose_inside(struct proposed *out, const struct column_facts *f,
                           const struct proposer *how)
{
    const struct table_facts *t = f->inside;
    struct proposer inner = {.product = how->product, .in_json = true};
    propose_set(out, "\"type\": \"%s\"", f->many ? "nested" : "object");
    for (size_t i = 0; i < t->columns.count; i++) {
        struct proposed *child = propose_child(out, t->columns.items[i].name);
        propose_column(child, &t->columns.items[i], &t->facts[i], &inner);
    }
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Returns true for types that PostgreSQL writes in a special form inside JSON. */
static bool propose_is_loose(const struct column *c)
{
    return strchr("ca", c->category) != NULL || propose_known(c)->sort >= SORT_JSON;
}

static void propose_simple(struct proposed *out, const struct column *c,
                           const struct column_facts *f, const struct proposer *how)
{
    const struct known *known = propose_known(c);
    const char *property = known->json || !how->in_json ? known->property : NULL;
    if (f->unfit > 0 && strcmp(c->type, "inet") != 0) {
        propose_set(out, "\"type\": \"keyword\"");
        propose_note(out, ", as text: some values fit no other type (infinity, NaN, out of range)");
    } else if (c->category == 'b' && strcmp(c->type, "numeric") == 0) {
        propose_numeric(out, c);
    } else if (property != NULL && strcmp(property, "geo_point") == 0 && f->sampled == 0) {
        propose_set(out, "\"type\": \"keyword\"");
        propose_note(out, ", no values yet: geo_point if x is the longitude and y the latitude");
    } else if (property != NULL && strcmp(c->type, "inet") == 0 && f->unfit > 0) {
        propose_set(out, "\"type\": \"ip_range\"");
        propose_note(out, ", some are networks");
    } else if (property != NULL || c->category == 'e' || known->sort == SORT_SHORT) {
        propose_set(out, "\"type\": \"%s\"", property != NULL ? property : "keyword");
    } else {
        propose_set(out, "\"type\": \"keyword\", \"ignore_above\": %d", PROPOSE_WORD_BYTES);
    }
}

static void propose_array(struct proposed *out, const struct column *c,
                          const struct column_facts *f, const struct proposer *how)
{
    const struct column *element = propose_innermost(c);
    enum sort sort = propose_known(element)->sort;
    int64_t dimension = how->in_json ? 0 : propose_list_dimension(c, f);
    if (dimension > 0 && how->product != PROPOSE_ANY) {
        propose_vector(out, dimension, f, how);
        propose_note(out, ", %" PRId64 " numbers each: a vector", dimension);
    } else if (how->in_json && propose_is_loose(element)) {
        propose_anything(out, how);
    } else if (sort == SORT_TEXT) {
        propose_text(out, c, f, how);
    } else if (element->category == 'c') {
        propose_composite(out, element, true, how);
    } else if (element->category == 'r' || element->category == 'm') {
        propose_range(out, c);
    } else if (sort == SORT_JSON || sort == SORT_HSTORE) {
        propose_unmapped(out, ", ");
    } else {
        propose_simple(out, element, f, how);
    }
}

static void propose_place(struct proposed *out, const struct column *c)
{
    bool point = strstr(c->declared, "(Point") != NULL;
    bool world = strstr(c->declared, ",4326)") != NULL || strcmp(c->type, "geography") == 0;
    propose_set(out, "\"type\": \"%s\"", point && world ? "geo_point" : "geo_shape");
    if (!world) {
        out->left_out = true;
        propose_note(out, ": left out, SRID 4326 is required: use a query with ST_Transform");
    }
}

static void propose_by_type(struct proposed *out, const struct column *c,
                            const struct column_facts *f, const struct proposer *how)
{
    enum sort sort = propose_known(c)->sort;
    if (column_is_array(c)) {
        propose_array(out, c, f, how);
    } else if (sort == SORT_HSTORE || (how->in_json && propose_is_loose(c))) {
        propose_anything(out, how);
    } else if (sort == SORT_TEXT) {
        propose_text(out, c, f, how);
    } else if (sort == SORT_JSON) {
        propose_shape(out, f->shape, how);
    } else if (sort == SORT_VECTOR) {
        propose_vector(out, propose_vector_dimension(c, f), f, how);
    } else if (c->category == 'c') {
        propose_composite(out, c, false, how);
    } else if ((c->category == 'r' || c->category == 'm') && !how->in_json) {
        propose_range(out, c);
    } else if (sort == SORT_PLACE) {
        propose_place(out, c);
    } else {
        propose_simple(out, c, f, how);
    }
}

void propose_column(struct proposed *out, const struct column *c, const struct column_facts *f,
                    const struct proposer *how)
{
    const struct known *known = propose_known(propose_innermost(c));
    propose_note(out, "%s", c->declared);
    if (f->inside != NULL) {
        propose_inside(out, f, how);
    } else if (known->sort == SORT_USELESS) {
        out->left_out = true;
        propose_set(out, "\"type\": \"%s\"", known->property);
        propose_note(out, ": left out, not useful for searches");
    } else {
        propose_by_type(out, c, f, how);
    }
}

static bool propose_is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

void propose_mapping(struct proposed *out, const struct table_facts *table, const char *const *key,
                     size_t key_count, enum propose_for product)
{
    *out = (struct proposed){0};
    for (size_t i = 0; i < table->columns.count; i++) {
        const struct column *c = &table->columns.items[i];
        bool is_key = propose_is_among(c->name, key, key_count);
        struct proposer how = {.product = product, .is_key = is_key};
        bool is_id = is_key && key_count == 1 && strcmp(c->name, "source_id") == 0;
        char *name = is_id ? text_copy(c->name) : propose_name(out, c->name);
        struct proposed *p = propose_child(out, name);
        p->column = strcmp(name, c->name) != 0 ? text_copy(c->name) : NULL;
        free(name);
        if (is_id) { /* always the key's text */
            propose_note(p, "%s, the key: the document's _id as text", c->declared);
            propose_set(p, "\"type\": \"keyword\"");
        } else {
            propose_column(p, c, &table->facts[i], &how);
            propose_note(p, "%s", is_key ? ", of the key" : "");
        }
    }
}
