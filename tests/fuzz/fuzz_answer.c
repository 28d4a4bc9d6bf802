/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bulk answer in pieces of any size. The first byte chooses the number of operations sent, the
 * second the size of the pieces. An accepted answer must be JSON with one item per operation. An
 * item with an _id must match an operation with that id and kind. The size of the pieces must not
 * matter.
 */
#include <json-c/json.h>
#include <string.h>

#include "fuzz.h"
#include "rowferry/base/text.h"
#include "rowferry/service/bulk/answer.h"

#define MAX_DEPTH 128

/* Adds upserts of 7, 8 and 9, and a delete of 7. */
static void fill(struct batch *b, size_t count)
{
    static const char keys[] = "7897";
    batch_init(b, 1 << 20, 1 << 20, 100);
    for (size_t i = 0; i < count; i++) {
        batch_begin(b, i == 3 ? OPERATION_DELETE : OPERATION_UPSERT, span_make(keys + i, 1), 5, 1);
        buf_push_literal(&b->bytes, "{}\n");
        FUZZ_EXPECT(batch_commit(b), "no room for operation %zu", i);
    }
}

static int feed(struct batch *b, const char *text, size_t len, size_t piece)
{
    struct answer *a = answer_new();
    struct err err = {.class = ERR_NONE};
    answer_begin(a, b, NULL);
    for (size_t at = 0; at < len; at += piece) {
        if (!answer_feed(a, text + at, len - at < piece ? len - at : piece)) {
            break;
        }
    }
    int rc = answer_end(a, &err);
    FUZZ_EXPECT(rc == 0 || (rc == ERR_TRANSIENT && err.message[0] != '\0'), "ended with %d", rc);
    answer_free(a);
    return rc;
}

static size_t times(const char *text, const char *name)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, name)) != NULL; at++) {
        n++;
    }
    return n;
}

static const struct operation *operation_of(const struct batch *b, const char *action,
                                            const char *id)
{
    bool is_delete = strcmp(action, "delete") == 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct operation *o = &b->operations[i];
        if ((o->kind == OPERATION_DELETE) == is_delete && span_is(batch_key(b, o), id)) {
            return o;
        }
    }
    return NULL;
}

static void expect_item(const struct batch *b, struct json_object *item, const char *text)
{
    json_object_object_foreach(item, action, result)
    {
        struct json_object *id = NULL;
        struct json_object *status = NULL;
        if (json_object_object_get_ex(result, "_id", &id) &&
            json_object_object_get_ex(result, "status", &status) &&
            json_object_is_type(id, json_type_string)) {
            const struct operation *o = operation_of(b, action, json_object_get_string(id));
            FUZZ_EXPECT(o != NULL && o->http_status == json_object_get_int(status),
                        "believed with an item of another operation: %s", text);
        }
    }
}

static void expect_items(const char *text, size_t len, const struct batch *b)
{
    struct json_object *items = NULL;
    struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
    struct json_object *json = json_tokener_parse_ex(tokener, text, (int)len);
    FUZZ_EXPECT(json != NULL, "believed, but no JSON: %s", text);
    /* parsers may differ if a member is repeated */
    const char *first = strstr(text, "\"items\"");
    if (json_object_is_type(json, json_type_object) && first != NULL &&
        strstr(first + 1, "items\"") == NULL && strchr(text, '\\') == NULL) {
        json_object_object_get_ex(json, "items", &items);
        FUZZ_EXPECT(json_object_is_type(items, json_type_array) &&
                        json_object_array_length(items) == b->count,
                    "believed with %zu operations: %s", b->count, text);
        bool once = times(text, "\"_id\"") == b->count && times(text, "\"status\"") == b->count;
        for (size_t i = 0; once && i < b->count; i++) {
            expect_item(b, json_object_array_get_idx(items, i), text);
        }
    }
    json_object_put(json);
    json_tokener_free(tokener);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    size_t count = data[0] % 4 + 1;
    size_t len = size - 2;
    char *text = fuzz_text(data + 2, len);
    struct batch whole;
    struct batch pieces;
    fill(&whole, count);
    fill(&pieces, count);
    int rc = feed(&whole, text, len, len + 1);
    FUZZ_EXPECT(feed(&pieces, text, len, (size_t)data[1] % 16 + 1) == rc, "pieces matter: %s",
                text);
    for (size_t i = 0; i < count; i++) {
        const struct operation *o = &whole.operations[i];
        const struct operation *q = &pieces.operations[i];
        FUZZ_EXPECT(o->outcome == q->outcome && o->http_status == q->http_status &&
                        o->seen == q->seen && o->reason_len == q->reason_len,
                    "pieces matter in operation %zu: %s", i, text);
        FUZZ_EXPECT(rc == 0 || o->outcome == OUTCOME_UNKNOWN, "operation %zu is settled", i);
    }
    if (rc == 0) {
        expect_items(text, len, &whole);
    }
    batch_release(&whole);
    batch_release(&pieces);
    free(text);
    return 0;
}
