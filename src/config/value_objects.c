/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a list of objects into a list of structs, each member by its option. */
#include <string.h>

#include "read.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/document/json/json_tree.h"

#define MAX_PATH_BYTES 65536

static const struct option *value_objects_find_member(const struct value_object *o,
                                                      const char *name)
{
    for (const struct option *member = o->members; member->path != NULL; member++) {
        if (strcmp(member->path, name) == 0) {
            return member;
        }
    }
    return NULL;
}

static int value_objects_read_member(struct config_reader *r, const struct value_object *o,
                                     const char *path, const char *name, struct json_object *value,
                                     char *item)
{
    const struct option *member = value_objects_find_member(o, name);
    if (member == NULL) {
        read_fail(r, path, SCAN_KEY, "unknown key \"%s\"", path);
        return err_hint(r->err, "%s", o->hint);
    }
    return value == NULL ? 0 : value_read(r, member, path, value, item + member->offset);
}

int value_object(struct config_reader *r, const struct value_object *o, const char *path,
                 struct json_object *value, void *item)
{
    if (!json_tree_is_object(value)) {
        return read_fail_kind(r, path, value, "an object");
    }
    for (struct json_members m = json_tree_members(value); json_tree_next(&m);) {
        struct buf place;
        buf_init(&place, MAX_PATH_BYTES);
        buf_printf(&place, "%s.%s", path, m.name);
        int result = value_objects_read_member(r, o, buf_text(&place), m.name, m.value, item);
        buf_release(&place);
        if (result != 0) {
            return result;
        }
    }
    return o->check(r, path, item);
}

int value_objects(struct config_reader *r, const struct value_object *o, const char *path,
                  struct json_object *value, void **items, size_t *count)
{
    if (!json_tree_is_list(value)) {
        return read_fail_kind(r, path, value, "a list of objects");
    }
    *count = json_tree_length(value);
    char *item = mem_zero(*count + 1, o->item_bytes);
    *items = item;
    for (size_t i = 0; i < *count; i++, item += o->item_bytes) {
        struct buf place;
        buf_init(&place, MAX_PATH_BYTES);
        buf_printf(&place, "%s[%zu]", path, i);
        int result = value_object(r, o, buf_text(&place), json_tree_item(value, i), item);
        buf_release(&place);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}
