/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling mapping and columns into the list that every row runs through. */
#include "rowferry/document/plan.h"

#include <stdlib.h>
#include <string.h>

#include "quote.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

#define NAME_BYTES (1 << 20) /* of a property's name as JSON */
#define TEXT_BYTES 4096      /* of a note */
#define SOURCE_ID "source_id"

struct compiler {
    struct plan *plan;
    const struct plan_input *in;
    struct plan_notes *notes; /* may be null */
    struct err *err;
    size_t errors;
};

/* Takes text's bytes. The first error is the message. */
static void note(struct compiler *c, bool error, const char *property, struct buf *text)
{
    if (error && c->errors++ == 0) {
        err_set(c->err, ERR_REJECTED, "%s", buf_text(text));
    }
    if (c->notes == NULL) {
        buf_release(text);
        return;
    }
    c->notes->items = mem_grow(c->notes->items, c->notes->count + 1, sizeof(*c->notes->items));
    c->notes->items[c->notes->count++] =
        (struct plan_note){error, text_copy(property), buf_detach(text)};
}

static const struct field *find_field(const struct plan_input *in, const char *property)
{
    for (size_t i = 0; i < in->field_count; i++) {
        if (strcmp(in->fields[i].property, property) == 0) {
            return &in->fields[i];
        }
    }
    return NULL;
}

/* The names of columns or properties, null-terminated; the caller frees the list alone. */
static const char **column_names(const struct columns *columns)
{
    const char **names = mem_zero(columns->count + 1, sizeof(*names));
    for (size_t i = 0; i < columns->count; i++) {
        names[i] = columns->items[i].name;
    }
    return names;
}

static const char **property_names(const struct mapping *mapping)
{
    const char **names = mem_zero(mapping->count + 1, sizeof(*names));
    for (size_t i = 0; i < mapping->count; i++) {
        names[i] = mapping->properties[i].name;
    }
    return names;
}

static void note_no_column(struct compiler *c, const struct property *property, const char *column)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    buf_printf(&text, "property \"%s\" has no column: there is no column \"%s\"", property->name,
               column);
    bool first = c->errors == 0;
    note(c, true, property->name, &text);
    if (!first) {
        return;
    }
    const char **names = column_names(c->in->columns);
    const char *nearest = text_nearest(column, names);
    if (nearest != NULL) {
        err_hint(c->err, "did you mean the column \"%s\"? name it in \"fields\"", nearest);
    } else {
        err_hint(c->err, "name its column in \"fields\", or null where the service fills it");
    }
    free(names);
}

/* Whether an object takes properties that the mapping does not name. */
static bool takes_anything(const struct mapping *mapping, const struct property *property)
{
    const char *dynamic = property->dynamic != NULL ? property->dynamic : mapping->dynamic;
    return !property->enabled || (dynamic != NULL && strncmp(dynamic, "strict", 6) != 0);
}

static bool is_bare_object(const struct mapping *mapping, const struct property *property)
{
    bool object = strcmp(property->type, "object") == 0 || strcmp(property->type, "nested") == 0;
    return object && property->child_count == 0 && !takes_anything(mapping, property);
}

static void note_bare_object(struct compiler *c, const struct property *property,
                             const struct column *column)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    buf_printf(&text,
               "property \"%s\" (%s) refuses all that column \"%s\" of type %s holds: give it "
               "\"properties\", \"dynamic\": true, \"enabled\": false or the type flattened",
               property->name, property->type, column->name, column->declared);
    note(c, true, property->name, &text);
}

static void note_misfit(struct compiler *c, const struct property *property,
                        const struct column *column, const struct buf *why)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    buf_printf(&text, "property \"%s\" (%s) cannot be filled from column \"%s\": %s",
               property->name, property->type, column->name, buf_text(why));
    note(c, true, property->name, &text);
}

static void note_loss(struct compiler *c, const struct property *property,
                      const struct column *column, const char *loss)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    buf_printf(&text, "property \"%s\" (%s) from column \"%s\" of type %s: %s", property->name,
               property->type, column->name, column->declared, loss);
    note(c, false, property->name, &text);
}

/* The index of the column in the row, selected once however many properties it fills. */
static size_t select_column(struct plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->column_count; i++) {
        if (strcmp(plan->columns[i], name) == 0) {
            return i + 1;
        }
    }
    plan->columns = mem_grow(plan->columns, plan->column_count + 1, sizeof(*plan->columns));
    plan->columns[plan->column_count++] = text_copy(name);
    return plan->column_count;
}

/* `,"name":`, padded to whole blocks. */
static char *make_prefix(const char *name, size_t *len)
{
    struct buf text;
    buf_init(&text, NAME_BYTES);
    buf_push_char(&text, ',');
    quote_push(&text, name, strlen(name));
    buf_push_char(&text, ':');
    *len = text.len;
    char *prefix = mem_zero(text.len / PLAN_PREFIX_BLOCK + 1, PLAN_PREFIX_BLOCK);
    memcpy(prefix, buf_text(&text), text.len);
    buf_release(&text);
    return prefix;
}

static void add_step(struct compiler *c, const struct property *property,
                     const struct column *column, const struct type_pair *pair)
{
    struct plan *plan = c->plan;
    size_t prefix_len;
    char *prefix = make_prefix(property->name, &prefix_len);
    plan->steps = mem_grow(plan->steps, plan->count + 1, sizeof(*plan->steps));
    plan->steps[plan->count++] = (struct plan_step){
        .value = select_column(plan, column->name),
        .pair = *pair,
        .prefix = prefix,
        .prefix_len = prefix_len,
    };
    if (pair->loss != NULL) {
        note_loss(c, property, column, pair->loss);
    }
    if (property->format != NULL) {
        note_loss(c, property, column, "its \"format\" has to accept what arrives");
    }
}

static void compile_property(struct compiler *c, const struct property *property)
{
    const struct field *field = find_field(c->in, property->name);
    bool filled_by_service = (field != NULL && field->column == NULL) ||
                             strcmp(property->type, "alias") == 0 ||
                             strcmp(property->name, SOURCE_ID) == 0;
    if (filled_by_service) {
        return;
    }
    const char *name = field != NULL ? field->column : property->name;
    const struct column *column = columns_find(c->in->columns, name);
    if (column == NULL) {
        note_no_column(c, property, name);
        return;
    }
    struct buf why;
    buf_init(&why, TEXT_BYTES);
    struct type_pair pair;
    if (!type_find(&pair, column, property, &why)) {
        note_misfit(c, property, column, &why);
    } else if (is_bare_object(c->in->mapping, property)) {
        note_bare_object(c, property, column);
        type_release(&pair);
    } else {
        add_step(c, property, column, &pair);
    }
    buf_release(&why);
}

/* Every field names a property; source_id is ours to fill. */
static int check_fields(const struct plan_input *in, struct err *err)
{
    for (size_t i = 0; i < in->field_count; i++) {
        const char *name = in->fields[i].property;
        if (strcmp(name, SOURCE_ID) == 0) {
            return err_set(err, ERR_CONFIG,
                           "\"fields\" cannot name \"" SOURCE_ID "\": it is the key's text");
        }
        if (mapping_find(in->mapping, name) != NULL) {
            continue;
        }
        err_set(err, ERR_CONFIG, "\"fields\" names \"%s\", which is no property of the mapping",
                name);
        const char **names = property_names(in->mapping);
        const char *nearest = text_nearest(name, names);
        if (nearest != NULL) {
            err_hint(err, "did you mean \"%s\"?", nearest);
        }
        free(names);
        return ERR_CONFIG;
    }
    return 0;
}

static char *too_large_text(size_t document_bytes)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    buf_printf(&text, "a document of more than %zu bytes", document_bytes);
    return buf_detach(&text);
}

int plan_compile(struct plan *out, const struct plan_input *in, struct plan_notes *notes,
                 struct err *err)
{
    struct err first = {.class = ERR_NONE};
    struct compiler c = {out, in, notes, &first, 0};
    *out = (struct plan){.document_bytes = in->document_bytes};
    if (notes != NULL) {
        *notes = (struct plan_notes){0};
    }
    int result = check_fields(in, err);
    if (result < 0) {
        return result;
    }
    out->too_large = too_large_text(in->document_bytes);
    for (size_t i = 0; i < in->mapping->count; i++) {
        compile_property(&c, &in->mapping->properties[i]);
    }
    if (c.errors == 0) {
        return 0;
    }
    plan_release(out);
    if (err != NULL) {
        *err = first;
    }
    return ERR_REJECTED;
}

void plan_release(struct plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->steps[i].prefix);
        type_release(&p->steps[i].pair);
    }
    for (size_t i = 0; i < p->column_count; i++) {
        free(p->columns[i]);
    }
    free(p->steps);
    free(p->columns);
    free(p->too_large);
    *p = (struct plan){0};
}

void plan_notes_release(struct plan_notes *n)
{
    for (size_t i = 0; i < n->count; i++) {
        free(n->items[i].property);
        free(n->items[i].text);
    }
    free(n->items);
    *n = (struct plan_notes){0};
}
