/* SPDX-License-Identifier: Apache-2.0 */
/* validate.queries: a list of searches, each with what it has to find. */
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/engine/trial_query.h"

#define MAX_PATH_BYTES 65536

struct query_list {
    struct trial_query *items;
    size_t count;
};

static const struct option members[] = {
    {.path = "name", .type = OPTION_TEXT, .offset = offsetof(struct trial_query, name)},
    {.path = "q", .type = OPTION_TEXT, .offset = offsetof(struct trial_query, q)},
    {.path = "body", .type = OPTION_JSON, .offset = offsetof(struct trial_query, body)},
    {.path = "expect", .type = OPTION_LIST, .offset = offsetof(struct trial_query, expect)},
    {.path = "k",
     .type = OPTION_COUNT,
     .offset = offsetof(struct trial_query, k),
     .least = "1",
     .most = "100"},
};

static const struct option *find_member(const char *name)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (strcmp(members[i].path, name) == 0) {
            return &members[i];
        }
    }
    return NULL;
}

static int read_member(struct reader *r, const char *path, const char *name,
                       struct json_object *value, struct trial_query *out)
{
    const struct option *member = find_member(name);
    if (member == NULL) {
        read_fail(r, path, SCAN_KEY, "unknown key \"%s\"", path);
        return err_hint(
            r->err, "an entry has \"q\" or \"body\", \"expect\", and may have \"name\" and \"k\"");
    }
    return value == NULL ? 0 : value_read(r, member, path, value, (char *)out + member->offset);
}

static int check_members(const struct reader *r, const char *path, const struct trial_query *q)
{
    if ((q->q == NULL) == (q->body == NULL)) {
        return read_fail(r, path, SCAN_VALUE, "\"%s\" must have either \"q\" or \"body\"", path);
    }
    if (q->expect_count == 0) {
        return read_fail(r, path, SCAN_VALUE, "\"%s.expect\" is missing: the ids that it finds",
                         path);
    }
    return 0;
}

static int read_entry(struct reader *r, const char *path, struct json_object *value,
                      struct trial_query *out)
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

int value_queries(struct reader *r, const char *path, struct json_object *value, void *target)
{
    struct query_list *out = target;
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
