/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles mapping and columns into the list that is applied to every row. */
#include "rowferry/document/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "plan/converter.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

#define NAME_BYTES (1 << 20) /* maximum of a property's name as JSON */
#define TEXT_BYTES 4096      /* maximum of a note */
#define SOURCE_ID "source_id"

struct compiler {
    struct plan *plan;
    const struct plan_input *in;
    struct plan_notes *notes;
    struct err *err;
    size_t errors;
};

/* The first error becomes the message. */
static void plan_count_error(struct compiler *c, const char *text)
{
    if (c->errors++ == 0) {
        err_set(c->err, ERR_REJECTED, "%s", text);
    }
}

static const struct field *plan_find_field(const struct plan_input *in, const char *property)
{
    for (size_t i = 0; i < in->field_count; i++) {
        if (strcmp(in->fields[i].property, property) == 0) {
            return &in->fields[i];
        }
    }
    return NULL;
}

static void plan_note_no_column(struct compiler *c, const struct property *property,
                                const char *column)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    buf_printf(&text, "property \"%s\" has no column: there is no column \"%s\"", property->name,
               column);
    bool first = c->errors == 0;
    plan_count_error(c, buf_text(&text));
    converter_notes_take(c->notes, true, property->name, &text);
    if (!first) {
        return;
    }
    const struct columns *columns = c->in->columns;
    const char **names = mem_zero(columns->count + 1, sizeof(*names));
    for (size_t i = 0; i < columns->count; i++) {
        names[i] = columns->items[i].name;
    }
    const char *nearest = text_nearest(column, names);
    if (nearest != NULL) {
        err_hint(c->err, "did you mean the column \"%s\"? name it in \"fields\"", nearest);
    } else {
        err_hint(c->err, "name its column in \"fields\", or null if the service fills it");
    }
    free(names);
}

static bool plan_is_same_zone(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Returns the index of the column in the row. A column is selected once per zone, even if it fills
 * several properties. */
static size_t plan_select_column(struct plan *plan, const char *name, const char *zone)
{
    for (size_t i = 0; i < plan->column_count; i++) {
        if (strcmp(plan->columns[i], name) == 0 && plan_is_same_zone(plan->zones[i], zone)) {
            return i + 1;
        }
    }
    size_t count = plan->column_count + 1;
    plan->columns = mem_grow(plan->columns, count, sizeof(*plan->columns));
    plan->zones = mem_grow(plan->zones, count, sizeof(*plan->zones));
    plan->columns[count - 1] = text_copy(name);
    plan->zones[count - 1] = zone != NULL ? text_copy(zone) : NULL;
    plan->column_count = count;
    return count;
}

/* Returns `,"name":`, padded to whole blocks. */
static char *plan_make_prefix(const char *name, size_t *len)
{
    struct buf text;
    buf_init(&text, NAME_BYTES);
    buf_push_char(&text, ',');
    converter_push_json_name(&text, name);
    *len = text.len;
    char *prefix = mem_zero(text.len / PLAN_PREFIX_BLOCK + 1, PLAN_PREFIX_BLOCK);
    memcpy(prefix, buf_text(&text), text.len);
    buf_release(&text);
    return prefix;
}

/* Takes ownership of the pair. */
static void plan_add_step(struct plan *plan, const struct property *property,
                          const struct column *column, const char *zone,
                          const struct type_pair *pair)
{
    size_t prefix_len;
    char *prefix = plan_make_prefix(property->name, &prefix_len);
    plan->steps = mem_grow(plan->steps, plan->count + 1, sizeof(*plan->steps));
    plan->steps[plan->count++] = (struct plan_step){
        .value = plan_select_column(plan, column->name, zone),
        .pair = *pair,
        .prefix = prefix,
        .prefix_len = prefix_len,
        .property = property->name,
    };
}

/* Finds the converters; their notes become notes of the plan. */
static void plan_compile_step(struct compiler *c, const struct property *property,
                              const struct column *column, const char *zone)
{
    struct converter_search search = {c->in->document_bytes, c->notes, 0};
    struct type_pair pair;
    size_t before = c->notes->count;
    bool fits = converter_compile(&pair, &search, column, property);
    for (size_t i = before; i < c->notes->count; i++) {
        if (c->notes->items[i].error) {
            plan_count_error(c, c->notes->items[i].text);
        }
    }
    if (fits) {
        plan_add_step(c->plan, property, column, zone, &pair);
    } else {
        type_release(&pair);
    }
}

static void plan_note_no_zone(struct compiler *c, const struct property *property,
                              const struct column *column)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    buf_printf(&text,
               "property \"%s\" cannot have a \"zone\": column \"%s\" is of type %s, not timestamp "
               "without time zone",
               property->name, column->name, column->declared);
    plan_count_error(c, buf_text(&text));
    converter_notes_take(c->notes, true, property->name, &text);
}

static void plan_compile_property(struct compiler *c, const struct property *property)
{
    static char instant_type[] = "timestamptz";
    const struct field *field = plan_find_field(c->in, property->name);
    bool filled_by_service = (field != NULL && field->column == NULL) ||
                             strcmp(property->type, "alias") == 0 ||
                             strcmp(property->name, SOURCE_ID) == 0;
    if (filled_by_service) {
        return;
    }
    const char *name = field != NULL ? field->column : property->name;
    const struct column *column = row_columns_find(c->in->columns, name);
    if (column == NULL) {
        plan_note_no_column(c, property, name);
        return;
    }
    const char *zone = field != NULL ? field->zone : NULL;
    if (zone == NULL) {
        plan_compile_step(c, property, column, NULL);
    } else if (column->category != 'b' || strcmp(column->type, "timestamp") != 0) {
        plan_note_no_zone(c, property, column);
    } else {
        struct column instant = *column;
        instant.type = instant_type;
        plan_compile_step(c, property, &instant, zone);
    }
}

/* Checks that every field names a property and that source_id is not among them, as rowferry fills
 * it. */
static int plan_check_fields(const struct plan_input *in, struct err *err)
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
        err_set(err, ERR_CONFIG, "\"fields\" names \"%s\", which is not a property of the mapping",
                name);
        const char **names = mem_zero(in->mapping->count + 1, sizeof(*names));
        for (size_t k = 0; k < in->mapping->count; k++) {
            names[k] = in->mapping->properties[k].name;
        }
        const char *nearest = text_nearest(name, names);
        if (nearest != NULL) {
            err_hint(err, "did you mean \"%s\"?", nearest);
        }
        free(names);
        return ERR_CONFIG;
    }
    return 0;
}

int plan_compile(struct plan *out, const struct plan_input *in, struct plan_notes *notes,
                 struct err *err)
{
    struct buf too_large;
    struct err first = {.class = ERR_NONE};
    struct plan_notes unwanted = {0};
    struct compiler c = {out, in, notes != NULL ? notes : &unwanted, &first, 0};
    *out = (struct plan){.document_bytes = in->document_bytes};
    *c.notes = (struct plan_notes){0};
    int result = plan_check_fields(in, err);
    if (result < 0) {
        return result;
    }
    buf_init(&too_large, TEXT_BYTES);
    buf_printf(&too_large, "a document of more than %zu bytes", in->document_bytes);
    out->too_large = buf_detach(&too_large);
    for (size_t i = 0; i < in->mapping->count; i++) {
        plan_compile_property(&c, &in->mapping->properties[i]);
    }
    plan_notes_release(&unwanted);
    if (c.errors == 0) {
        return 0;
    }
    plan_release(out);
    if (err != NULL) {
        *err = first;
    }
    return ERR_REJECTED;
}

void plan_set_provenance(struct plan *p, const char *pipeline, const char *database,
                         const char *schema, const char *table)
{
    struct buf text;
    struct buf name;
    buf_init(&text, TEXT_BYTES);
    buf_init(&name, TEXT_BYTES);
    buf_printf(&name, "%s.%s", schema, table);
    buf_push_literal(&text, ",\"" MAPPING_PROVENANCE "\":{\"pipeline\":");
    text_json(&text, pipeline, strlen(pipeline));
    buf_push_literal(&text, ",\"database\":");
    text_json(&text, database, strlen(database));
    buf_push_literal(&text, ",\"table\":");
    text_json(&text, buf_text(&name), name.len);
    buf_push_literal(&text, ",\"version\":");
    free(p->provenance);
    p->provenance = buf_detach(&text);
    buf_release(&name);
}

void plan_release(struct plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->steps[i].prefix);
        type_release(&p->steps[i].pair);
    }
    for (size_t i = 0; i < p->column_count; i++) {
        free(p->columns[i]);
        free(p->zones[i]);
    }
    free(p->steps);
    free(p->columns);
    free(p->zones);
    free(p->provenance);
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
