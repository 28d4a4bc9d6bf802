/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a tree of columns and a tree of properties into a tree of converters, and notes all
 * warnings and errors. */
#include "plan/converter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "convert/converters.h"
#include "plan/type_table.h"
#include "rowferry/base/text.h"
#include "json/quote.h"

#define NAME_BYTES (1 << 20) /* maximum of a name as JSON */
#define TEXT_BYTES 4096      /* maximum of a note */
#define EXACT_DIGITS 15      /* decimal digits that a double holds */

/* A property and its column, within the objects around them. */
struct converter_place {
    const struct converter_place *up; /* null: a property of the mapping itself */
    const struct property *property;
    const struct column *column;
};

void converter_notes_take(struct plan_notes *notes, bool error, const char *property,
                          struct buf *text)
{
    notes->items = mem_grow(notes->items, notes->count + 1, sizeof(*notes->items));
    notes->items[notes->count++] = (struct plan_note){
        .error = error, .property = text_copy(property), .text = buf_detach(text)};
}

static void converter_push_path(struct buf *out, const struct converter_place *p, bool of_column)
{
    if (p->up != NULL) {
        converter_push_path(out, p->up, of_column);
        buf_push_char(out, '.');
    }
    buf_push_text(out, of_column ? p->column->name : p->property->name);
}

/* The caller frees the result. */
static char *converter_path_of(const struct converter_place *p, bool of_column)
{
    struct buf path;
    buf_init(&path, TEXT_BYTES);
    converter_push_path(&path, p, of_column);
    return buf_detach(&path);
}

/* Takes ownership of text's bytes. */
static void converter_note(struct converter_search *search, bool error,
                           const struct converter_place *p, struct buf *text)
{
    char *path = converter_path_of(p, false);
    search->errors += error;
    converter_notes_take(search->notes, error, path, text);
    free(path);
}

/* Begins a note with `property "address.city" (keyword)`. */
static void converter_begin_note(struct buf *text, const struct converter_place *p)
{
    char *path = converter_path_of(p, false);
    buf_init(text, TEXT_BYTES);
    buf_printf(text, "property \"%s\" (%s) ", path, p->property->type);
    free(path);
}

/* Appends `column "address.city"`. */
static void converter_push_column(struct buf *text, const struct converter_place *p)
{
    char *path = converter_path_of(p, true);
    buf_printf(text, "column \"%s\"", path);
    free(path);
}

static void converter_push_typed_column(struct buf *text, const struct converter_place *p)
{
    converter_push_column(text, p);
    buf_printf(text, " of type %s", p->column->declared);
}

static void converter_note_loss(struct converter_search *search, const struct converter_place *p,
                                const char *loss)
{
    struct buf text;
    converter_begin_note(&text, p);
    buf_push_literal(&text, "from ");
    converter_push_typed_column(&text, p);
    buf_printf(&text, ": %s", loss);
    converter_note(search, false, p, &text);
    struct plan_note *note = &search->notes->items[search->notes->count - 1];
    note->loss = loss;
    note->slight = type_loss_is_slight(loss);
}

static void converter_note_misfit(struct converter_search *search, const struct converter_place *p,
                                  const struct buf *why)
{
    struct buf text;
    converter_begin_note(&text, p);
    buf_push_literal(&text, "cannot be filled from ");
    converter_push_column(&text, p);
    buf_printf(&text, ": %s", buf_text(why));
    converter_note(search, true, p, &text);
}

#define HOW_TO_OPEN "\"dynamic\": true, \"enabled\": false or the type flattened"

static void converter_note_bare(struct converter_search *search, const struct converter_place *p)
{
    struct buf text;
    converter_begin_note(&text, p);
    buf_push_literal(&text, "refuses all that ");
    converter_push_typed_column(&text, p);
    buf_push_literal(&text, " holds: give it \"properties\", " HOW_TO_OPEN);
    converter_note(search, true, p, &text);
}

static void converter_note_no_child(struct converter_search *search,
                                    const struct converter_place *p, const char *field)
{
    struct buf text;
    converter_begin_note(&text, p);
    buf_printf(&text, "refuses the field \"%s\" of ", field);
    converter_push_typed_column(&text, p);
    buf_printf(&text, ": name it in \"properties\", or give it " HOW_TO_OPEN);
    converter_note(search, true, p, &text);
}

static void converter_note_no_field(struct converter_search *search,
                                    const struct converter_place *p, const struct property *child)
{
    struct converter_place below = {p, child, p->column};
    struct buf text;
    converter_begin_note(&text, &below);
    buf_push_literal(&text, "cannot be filled: ");
    converter_push_typed_column(&text, p);
    buf_printf(&text, " has no field \"%s\"", child->name);
    converter_note(search, true, &below, &text);
}

static bool converter_is_object(const struct property *p)
{
    return strcmp(p->type, "object") == 0 || strcmp(p->type, "nested") == 0;
}

/* Returns true if the service ignores the names inside the property. */
static bool converter_is_closed_book(const struct property *p)
{
    return !converter_is_object(p) || !p->enabled;
}

/* Returns true if the object accepts properties that the mapping does not name. */
static bool converter_takes_anything(const struct property *p)
{
    return converter_is_closed_book(p) || !p->strict;
}

static const struct property *converter_find_child(const struct converter_place *p,
                                                   const char *name)
{
    for (size_t i = 0; !converter_is_closed_book(p->property) && i < p->property->child_count;
         i++) {
        const struct property *child = &p->property->children[i];
        if (strcmp(child->name, name) == 0 && strcmp(child->type, "alias") != 0) {
            return child;
        }
    }
    return NULL;
}

static struct type_inner *converter_inner_new(const struct converter_search *search, size_t count)
{
    struct type_inner *inner =
        mem_zero(1, sizeof(struct type_inner) + count * sizeof(struct type_pair));
    buf_init(&inner->scratch, search->max_bytes);
    inner->count = count;
    return inner;
}

void converter_push_json_name(struct buf *out, const char *name)
{
    quote_push(out, name, strlen(name));
    buf_push_char(out, ':');
}

static void converter_set_name(struct type_pair *pair, const char *name)
{
    struct buf text;
    buf_init(&text, NAME_BYTES);
    converter_push_json_name(&text, name);
    pair->name_len = text.len;
    pair->name = buf_detach(&text);
}

/* Chooses the converter by the column's type alone, inside a property that does not specify one. */
static void converter_compile_natural(struct type_pair *pair, const struct converter_search *search,
                                      const struct column *column)
{
    bool array = column_is_array(column);
    bool composite = column->category == 'c';
    pair->property = &natural_property;
    if (array || composite) {
        pair->convert = array ? convert_array : convert_composite;
        pair->inner = converter_inner_new(search, column->part_count);
        pair->inner->delimiter = column->delimiter;
    } else if (column->category == 'b' && strcmp(column->type, "hstore") == 0) {
        pair->convert = convert_hstore;
        pair->inner = converter_inner_new(search, 0);
        pair->inner->open = true;
    } else {
        pair->convert = convert_natural_converter(column);
    }
    for (size_t i = 0; pair->inner != NULL && i < pair->inner->count; i++) {
        converter_compile_natural(&pair->inner->pairs[i], search, &column->parts[i]);
        if (composite) {
            converter_set_name(&pair->inner->pairs[i], column->parts[i].name);
        }
    }
}

static void converter_compile_place(struct type_pair *pair, struct converter_search *search,
                                    const struct converter_place *up, const struct column *column,
                                    const struct property *property);

/* Notes children without a field, most often because of a misspelt name. */
static void converter_note_no_fields(struct converter_search *search,
                                     const struct converter_place *p,
                                     const struct column *composite)
{
    for (size_t i = 0; i < p->property->child_count; i++) {
        const struct property *child = &p->property->children[i];
        size_t k = 0;
        while (k < composite->part_count && strcmp(composite->parts[k].name, child->name) != 0) {
            k++;
        }
        if (k == composite->part_count && converter_find_child(p, child->name) != NULL) {
            converter_note_no_field(search, p, child);
        }
    }
}

static void converter_compile_fields(struct type_pair *pair, struct converter_search *search,
                                     const struct converter_place *p,
                                     const struct column *composite)
{
    pair->inner = converter_inner_new(search, composite->part_count);
    for (size_t i = 0; i < composite->part_count; i++) {
        const struct column *field = &composite->parts[i];
        const struct property *child = converter_find_child(p, field->name);
        if (child != NULL) {
            converter_compile_place(&pair->inner->pairs[i], search, p, field, child);
        } else if (converter_takes_anything(p->property)) {
            converter_compile_natural(&pair->inner->pairs[i], search, field);
        } else {
            converter_note_no_child(search, p, field->name);
        }
        converter_set_name(&pair->inner->pairs[i], field->name);
    }
    converter_note_no_fields(search, p, composite);
}

/* Compiles an hstore. Its values are texts, so each child must accept a text. */
static void converter_compile_texts(struct type_pair *pair, struct converter_search *search,
                                    const struct converter_place *p)
{
    static char text_type[] = "text";
    size_t count = converter_is_closed_book(p->property) ? 0 : p->property->child_count;
    pair->inner = converter_inner_new(search, count);
    pair->inner->open = converter_takes_anything(p->property);
    for (size_t i = 0; i < count; i++) {
        const struct property *child = &p->property->children[i];
        struct column text = {
            .name = child->name, .type = text_type, .declared = text_type, .category = 'b'};
        converter_compile_place(&pair->inner->pairs[i], search, p, &text, child);
        pair->inner->pairs[i].property = child;
    }
}

static void converter_compile_bounds(struct type_pair *pair, const struct converter_search *search,
                                     const struct column *range)
{
    char type[TYPE_BOUND_BYTES];
    assert(range != NULL && range->parts != NULL); /* the catalogue gives a range its bound */
    type_bound(type, pair->property->type);
    const struct type_rule *rule = type_find(&range->parts[0], type, NULL);
    pair->convert = convert_range;
    pair->loss = rule->loss;
    pair->inner = converter_inner_new(search, 1);
    pair->inner->pairs[0] = (struct type_pair){
        .convert = rule->convert, .property = pair->property, .loss = rule->loss, .rule = rule};
}

/* Sets OpenSearch's rules for arrays: a geo_point and a completion refuse null among values, and a
 * rank_feature accepts one value per document. */
static void converter_set_array(struct type_inner *inner, const struct property *p, char delimiter)
{
    inner->delimiter = delimiter;
    inner->drops_nulls = strcmp(p->type, "geo_point") == 0 || strcmp(p->type, "completion") == 0;
    inner->one_value = strcmp(p->type, "rank_feature") == 0;
}

/* Returns true if, for example, numeric(10,2) times 100 is a whole number that a double holds. */
static bool converter_is_scaled_exactly(const struct column *column, const struct property *p)
{
    static const char numeric[] = "numeric(";
    char *rest = NULL;
    double factor = 1;
    if (strcmp(p->type, "scaled_float") != 0 ||
        strncmp(column->declared, numeric, sizeof(numeric) - 1) != 0) {
        return false;
    }
    unsigned long digits = strtoul(column->declared + sizeof(numeric) - 1, &rest, 10);
    unsigned long scale = *rest == ',' ? strtoul(rest + 1, NULL, 10) : 0;
    for (unsigned long i = 0; i < scale && i < EXACT_DIGITS; i++) {
        factor *= 10;
    }
    return digits <= EXACT_DIGITS && p->scaling_factor == factor;
}

/* Completes a pair whose rule is known. `column` is the place's, or the innermost element of its
 * arrays. */
static void converter_compile_rule(struct type_pair *pair, struct converter_search *search,
                                   const struct converter_place *p, const struct column *column)
{
    const struct type_rule *rule = pair->rule;
    bool array = column_is_array(column) && !type_takes_array(rule);
    if (array || rule->convert == convert_multirange) {
        pair->convert = array ? convert_array : convert_multirange;
        pair->inner = converter_inner_new(search, 1);
        converter_set_array(pair->inner, p->property, column->delimiter);
        struct type_pair *part = &pair->inner->pairs[0];
        *part = (struct type_pair){.property = pair->property, .rule = rule};
        if (array) {
            converter_compile_rule(part, search, p, &column->parts[0]);
        } else {
            converter_compile_bounds(part, search, &column->parts[0]);
        }
        pair->loss = part->loss;
    } else if (rule->convert == convert_range) {
        converter_compile_bounds(pair, search, column);
    } else if (rule->convert == convert_composite) {
        pair->convert = convert_composite;
        converter_compile_fields(pair, search, p, column);
    } else {
        pair->convert = rule->convert;
        pair->loss = converter_is_scaled_exactly(column, pair->property) ? NULL : rule->loss;
        if (rule->convert == convert_hstore) {
            converter_compile_texts(pair, search, p);
        }
    }
}

/* Returns true if a column like vector(3) has another dimension than the mapping. Then no row of it
 * can be indexed. */
static bool converter_dimension_differs(const struct type_pair *pair, const struct column *column,
                                        struct buf *why)
{
    const struct property *p = pair->property;
    const char *type = strstr(column->declared, "vec");
    const char *digits = type != NULL ? strchr(type, '(') : NULL;
    if ((pair->rule->convert != convert_vector && pair->rule->convert != convert_sparse_vector) ||
        digits == NULL || p->dimension == 0 || convert_vector_packs_bits(p) ||
        strtoll(digits + 1, NULL, 10) == p->dimension) {
        return false;
    }
    buf_printf(why, "a column of type %s cannot fill a vector of %lld dimensions", column->declared,
               (long long)p->dimension);
    return true;
}

static void converter_compile_place(struct type_pair *pair, struct converter_search *search,
                                    const struct converter_place *up, const struct column *column,
                                    const struct property *property)
{
    struct converter_place p = {up, property, column};
    struct buf why;
    buf_init(&why, TEXT_BYTES);
    *pair =
        (struct type_pair){.property = property, .rule = type_find(column, property->type, &why)};
    if (pair->rule == NULL || converter_dimension_differs(pair, column, &why)) {
        converter_note_misfit(search, &p, &why);
    } else if (property->child_count == 0 && !converter_takes_anything(property)) {
        converter_note_bare(search, &p);
    } else {
        converter_compile_rule(pair, search, &p, column);
        if (pair->loss != NULL) {
            converter_note_loss(search, &p, pair->loss);
        }
        if (property->format != NULL) {
            converter_note_loss(search, &p, "its \"format\" has to accept what arrives");
        }
    }
    buf_release(&why);
}

bool converter_compile(struct type_pair *out, struct converter_search *search,
                       const struct column *column, const struct property *property)
{
    size_t before = search->errors;
    converter_compile_place(out, search, NULL, column, property);
    return search->errors == before;
}
