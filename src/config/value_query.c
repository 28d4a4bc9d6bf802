/* SPDX-License-Identifier: Apache-2.0 */
/* validate.queries: a list of searches, each with its expected hits. */
#include "read.h"
#include "rowferry/engine/validate/trial_query.h"

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
    {0},
};

static int value_query_check_members(const struct config_reader *r, const char *path,
                                     const void *item)
{
    const struct trial_query *q = item;
    if ((q->q == NULL) == (q->body == NULL)) {
        return read_fail(r, path, SCAN_VALUE, "\"%s\" must have either \"q\" or \"body\"", path);
    }
    if (q->expect_count == 0) {
        return read_fail(r, path, SCAN_VALUE, "\"%s.expect\" is missing: the ids that it finds",
                         path);
    }
    return 0;
}

int value_queries(struct config_reader *r, const char *path, struct json_object *value,
                  void *target)
{
    static const struct value_object object = {
        .members = members,
        .item_bytes = sizeof(struct trial_query),
        .hint = "an entry has \"q\" or \"body\", \"expect\", and may have \"name\" and \"k\"",
        .check = value_query_check_members,
    };
    struct query_list *out = target;
    void *items = NULL;
    int result = value_objects(r, &object, path, value, &items, &out->count);
    out->items = items;
    return result;
}
