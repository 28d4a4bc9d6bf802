/* SPDX-License-Identifier: Apache-2.0 */
/* from.depends_on: a list of objects with three members each. */
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/source/sqltext.h"
#include "text_check.h"

#define MAX_PATH_BYTES 65536

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
};

#define MEMBER_COUNT (sizeof(members) / sizeof(members[0]))

static const struct option *find_member(const char *name)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        if (strcmp(members[i].path, name) == 0) {
            return &members[i];
        }
    }
    return NULL;
}

static int read_member(struct reader *r, const char *path, const char *name,
                       struct json_object *value, struct dependency *out)
{
    const struct option *member = find_member(name);
    if (member == NULL) {
        read_fail(r, path, SCAN_KEY, "unknown key \"%s\"", path);
        return err_hint(r->err, "an entry has \"table\", \"key\" and \"keys\"");
    }
    return value == NULL ? 0 : value_read(r, member, path, value, (char *)out + member->offset);
}

static int check_members(const struct reader *r, const char *path, const struct dependency *d)
{
    const void *const values[] = {d->table, d->key, d->keys};
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        if (values[i] == NULL) {
            return read_fail(r, path, SCAN_VALUE, "\"%s.%s\" is missing", path, members[i].path);
        }
    }
    return 0;
}

static int read_entry(struct reader *r, const char *path, struct json_object *value,
                      struct dependency *out)
{
    if (!json_object_is_type(value, json_type_object)) {
        return read_fail_kind(r, path, value, "an object");
    }
    json_object_object_foreach(value, key, member)
    {
        struct buf place;
        buf_init(&place, MAX_PATH_BYTES);
        buf_printf(&place, "%s.%s", path, key);
        int result = read_member(r, buf_text(&place), key, member, out);
        buf_release(&place);
        if (result != 0) {
            return result;
        }
    }
    return check_members(r, path, out);
}

int value_dependencies(struct reader *r, const char *path, struct json_object *value, void *target)
{
    struct dependency_list *out = target;
    if (!json_object_is_type(value, json_type_array)) {
        return read_fail_kind(r, path, value, "a list of objects");
    }
    size_t count = json_object_array_length(value);
    out->items = mem_zero(count + 1, sizeof(*out->items));
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        struct buf place;
        buf_init(&place, MAX_PATH_BYTES);
        buf_printf(&place, "%s[%zu]", path, i);
        int result =
            read_entry(r, buf_text(&place), json_object_array_get_idx(value, i), &out->items[i]);
        buf_release(&place);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}
