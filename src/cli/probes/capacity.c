/* SPDX-License-Identifier: Apache-2.0 */
/* Computes sizes from what was measured. */
#include "probes/capacity.h"

#include <json-c/json.h>
#include <string.h>

#include "rowferry/document/json/json_tree.h"

#define LIVE_LEAST 1000 /* minimum number of documents for a size per document */
#define STORED_SHARE 1.5
#define SHARD_GOOD_BYTES (INT64_C(30) << 30)
#define GRAPH_LINKS 16
#define BYTES_MOST (INT64_C(1) << 52) /* a multiple for all copies does not overflow */

void capacity_take_live(struct sizes *s, int64_t documents, int64_t bytes)
{
    s->live_bytes = bytes;
    if (documents >= LIVE_LEAST && bytes > 0) {
        s->stored_bytes = (double)bytes / (double)documents / (double)s->copies;
    }
}

/* Counts the members of "properties" and of "fields" at any depth. */
static int64_t capacity_count_fields(struct json_object *mapping)
{
    static const char *const groups[] = {"properties", "fields"};
    int64_t count = 0;
    for (size_t i = 0; i < 2; i++) {
        struct json_object *group = json_tree_member(mapping, groups[i]);
        for (struct json_members m = json_tree_members(group); json_tree_next(&m);) {
            count += 1 + capacity_count_fields(m.value);
        }
    }
    return count;
}

static void capacity_take_vectors(struct sizes *s, const struct property *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct property *p = &list[i];
        s->dimensions = p->dimension > s->dimensions ? p->dimension : s->dimensions;
        if (p->dimension > 0 && p->indexed) {
            s->vector_dimensions += p->dimension;
            s->vectors++;
        }
        capacity_take_vectors(s, p->children, p->child_count);
    }
}

void capacity_take_mapping(struct sizes *s, const struct mapping *m)
{
    struct json_object *tree = json_tree_of(m->json);
    s->fields = capacity_count_fields(tree) + (mapping_find(m, "source_id") == NULL ? 1 : 0) +
                m->provenance;
    json_object_put(tree);
    capacity_take_vectors(s, m->properties, m->count);
}

int64_t capacity_index_bytes_of(const struct sizes *s, int64_t documents)
{
    double one = s->stored_bytes > 0 ? s->stored_bytes : STORED_SHARE * (double)s->document_bytes;
    double all = one * (double)documents;
    return all < (double)BYTES_MOST ? (int64_t)all : BYTES_MOST;
}

int64_t capacity_index_bytes(const struct sizes *s)
{
    return capacity_index_bytes_of(s, s->documents);
}

int64_t capacity_vector_bytes(const struct sizes *s)
{
    double one =
        1.1 * (4.0 * (double)s->vector_dimensions + 8.0 * GRAPH_LINKS * (double)s->vectors);
    return (int64_t)(one * (double)s->documents);
}

int64_t capacity_good_shards(const struct sizes *s)
{
    return (capacity_index_bytes(s) + SHARD_GOOD_BYTES - 1) / SHARD_GOOD_BYTES > 0
               ? (capacity_index_bytes(s) + SHARD_GOOD_BYTES - 1) / SHARD_GOOD_BYTES
               : 1;
}
