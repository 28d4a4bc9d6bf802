/* SPDX-License-Identifier: Apache-2.0 */
/* from.depends_on: a list of objects with three members each. */
#include "read.h"
#include "rowferry/source/sql/sqltext.h"
#include "syntax/text_check.h"

struct dependency_list {
    struct dependency *items;
    size_t count;
};

static const struct option members[] = {
    {.path = "table",
     .type = OPTION_TEXT,
     .offset = offsetof(struct dependency, table),
     .check = text_check_table},
    {.path = "key", .type = OPTION_LIST, .offset = offsetof(struct dependency, key)},
    {.path = "keys",
     .type = OPTION_TEXT,
     .offset = offsetof(struct dependency, keys),
     .check = sqltext_check_parameters},
    {0},
};

static int value_dependency_check_members(const struct config_reader *r, const char *path,
                                          const void *item)
{
    const struct dependency *d = item;
    const void *const values[] = {d->table, d->key, d->keys};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (values[i] == NULL) {
            return read_fail(r, path, SCAN_VALUE, "\"%s.%s\" is missing", path, members[i].path);
        }
    }
    return 0;
}

int value_dependencies(struct config_reader *r, const char *path, struct json_object *value,
                       void *target)
{
    static const struct value_object object = {
        .members = members,
        .item_bytes = sizeof(struct dependency),
        .hint = "an entry has \"table\", \"key\" and \"keys\"",
        .check = value_dependency_check_members,
    };
    struct dependency_list *out = target;
    void *items = NULL;
    int result = value_objects(r, &object, path, value, &items, &out->count);
    out->items = items;
    return result;
}
