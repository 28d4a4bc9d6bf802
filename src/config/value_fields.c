/* SPDX-License-Identifier: Apache-2.0 */
/* fields: an object whose members are a column, null, or an object with column and zone. */
#include <stdlib.h>

#include "read.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/document/json/json_tree.h"
#include "rowferry/document/plan/plan.h"
#include "syntax/text_check.h"

#define MAX_PATH_BYTES 65536

struct field_list {
    struct field *items;
    size_t count;
};

static const struct option members[] = {
    {.path = "column", .type = OPTION_TEXT, .offset = offsetof(struct field, column)},
    {.path = "zone",
     .type = OPTION_TEXT,
     .offset = offsetof(struct field, zone),
     .check = text_check_zone},
    {0},
};

static int value_fields_check(const struct config_reader *r, const char *path, const void *item)
{
    const struct field *field = item;
    return field->zone != NULL ? 0 : read_fail(r, path, SCAN_VALUE, "\"%s.zone\" is missing", path);
}

static int value_fields_read(struct config_reader *r, const char *path, struct json_object *value,
                             struct field *field)
{
    static const struct value_object object = {
        .members = members,
        .hint = "a field is a column, null, or an object with \"zone\" and maybe \"column\"",
        .check = value_fields_check,
    };
    if (!json_tree_is_object(value)) {
        return value_text(r, path, value, &field->column);
    }
    int result = value_object(r, &object, path, value, field);
    if (result == 0 && field->column == NULL) {
        field->column = text_copy(field->property);
    }
    return result;
}

int value_fields(struct config_reader *r, const char *path, struct json_object *value, void *target)
{
    struct field_list *out = target;
    if (!json_tree_is_object(value)) {
        return read_fail_kind(r, path, value, "an object");
    }
    int result = 0;
    out->items = mem_zero(json_tree_count(value), sizeof(*out->items));
    for (struct json_members m = json_tree_members(value); result == 0 && json_tree_next(&m);) {
        struct field *field = &out->items[out->count++];
        field->property = text_copy(m.name);
        if (m.value != NULL) {
            struct buf member;
            buf_init(&member, MAX_PATH_BYTES);
            buf_printf(&member, "%s.%s", path, m.name);
            result = value_fields_read(r, buf_text(&member), m.value, field);
            buf_release(&member);
        }
    }
    return result;
}
