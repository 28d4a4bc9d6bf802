/* SPDX-License-Identifier: Apache-2.0 */
/* validate.queries: a list of searches, each with its expected or judged hits. */
#include "read.h"
#include "rowferry/base/text.h"
#include "rowferry/document/json/json_tree.h"
#include "rowferry/engine/validate/trial_query.h"

struct query_list {
    struct trial_query *items;
    size_t count;
};

static const struct option members[] = {
    {.path = "name", .type = OPTION_TEXT, .offset = offsetof(struct trial_query, name)},
    {.path = "q", .type = OPTION_TEXT, .offset = offsetof(struct trial_query, q)},
    {.path = "body", .type = OPTION_JSON, .offset = offsetof(struct trial_query, body)},
    {.path = "search_pipeline",
     .type = OPTION_TEXT,
     .offset = offsetof(struct trial_query, search_pipeline)},
    {.path = "expect", .type = OPTION_LIST, .offset = offsetof(struct trial_query, expect)},
    {.path = "k",
     .type = OPTION_COUNT,
     .offset = offsetof(struct trial_query, k),
     .least = "1",
     .most = "100"},
    {.path = "judgements",
     .type = OPTION_GRADES,
     .offset = offsetof(struct trial_query, judgements)},
    {.path = "min_ndcg",
     .type = OPTION_SHARE,
     .offset = offsetof(struct trial_query, min_ndcg),
     .least = "0",
     .most = "1"},
    {0},
};

static int value_query_check_members(const struct config_reader *r, const char *path,
                                     const void *item)
{
    const struct trial_query *q = item;
    if ((q->q == NULL) == (q->body == NULL)) {
        return read_fail(r, path, SCAN_VALUE, "\"%s\" must have either \"q\" or \"body\"", path);
    }
    if (q->expect_count == 0 && q->judgement_count == 0) {
        return read_fail(r, path, SCAN_VALUE, "\"%s.expect\" is missing: the ids that it finds",
                         path);
    }
    if (q->min_ndcg > 0 && q->judgement_count == 0) {
        return read_fail(r, path, SCAN_VALUE, "\"%s.min_ndcg\" needs \"judgements\"", path);
    }
    return 0;
}

int value_judgements(struct config_reader *r, const char *path, struct json_object *value,
                     void *target)
{
    struct judgement_list {
        struct judgement *items;
        size_t count;
    } *out = target;
    int64_t best = 0;
    if (!json_tree_is_object(value)) {
        return read_fail_kind(r, path, value, "an object of ids and grades");
    }
    out->items = mem_zero(json_tree_count(value) + 1, sizeof(*out->items));
    for (struct json_members m = json_tree_members(value); json_tree_next(&m);) {
        int64_t grade =
            json_object_is_type(m.value, json_type_int) ? json_object_get_int64(m.value) : -1;
        if (grade < 0 || grade > GRADE_MOST) {
            return read_fail(r, path, SCAN_VALUE,
                             "\"%s\": the grade of \"%s\" is not a whole number from 0 to %d", path,
                             m.name, GRADE_MOST);
        }
        out->items[out->count++] = (struct judgement){text_copy(m.name), grade};
        best = grade > best ? grade : best;
    }
    return best > 0 ? 0
                    : read_fail(r, path, SCAN_VALUE, "\"%s\" has no document with a grade above 0",
                                path);
}

int value_queries(struct config_reader *r, const char *path, struct json_object *value,
                  void *target)
{
    static const struct value_object object = {
        .members = members,
        .item_bytes = sizeof(struct trial_query),
        .hint = "an entry has \"q\" or \"body\", \"expect\" or \"judgements\", and may have "
                "\"name\", \"k\", \"min_ndcg\" "
                "and \"search_pipeline\"",
        .check = value_query_check_members,
    };
    struct query_list *out = target;
    void *items = NULL;
    int result = value_objects(r, &object, path, value, &items, &out->count);
    out->items = items;
    return result;
}
