/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the index's size and counts, the disks and the watermark. The last two may be refused. */
#include "rowferry/service/cluster/storage.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/ask.h"

#define PATH_BYTES 1024
#define WATERMARK_DEFAULT "85%"

static int storage_look_index(struct service *s, const char *index, struct storage *out,
                              struct err *err)
{
    static const char *const store[] = {"_all", "total", "store", NULL};
    static const char *const indexing[] = {"_all", "primaries", "indexing", NULL};
    struct json_object *tree;
    int rc = ask_of(s, "GET", index, "/_stats/store,indexing", NO_BODY, BODY_STATS, &tree, err);
    if (rc == 0) {
        struct json_object *counted = json_tree_at(tree, indexing);
        out->bytes = json_tree_amount(json_tree_at(tree, store), "size_in_bytes");
        out->indexed = json_tree_amount(counted, "index_total");
        out->indexed = counted != NULL && out->indexed < INT64_MAX / 2 ? out->indexed : -1;
    }
    json_object_put(tree);
    return rc;
}

static const struct storage_unit {
    const char *name;
    int64_t bytes;
} units[] = {
    {"b", 1},
    {"kb", INT64_C(1) << 10},
    {"mb", INT64_C(1) << 20},
    {"gb", INT64_C(1) << 30},
    {"tb", INT64_C(1) << 40},
};

int64_t storage_room(const char *watermark, int64_t total_bytes, int64_t available_bytes)
{
    char *end;
    double number = strtod(watermark, &end);
    double free_wanted = -1;
    if (end == watermark || number < 0) {
        return -1;
    }
    if (strcmp(end, "%") == 0 || (*end == '\0' && number <= 1)) {
        free_wanted = (double)total_bytes * (1 - (*end == '%' ? number / 100 : number));
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcasecmp(end, units[i].name) == 0) {
            free_wanted = number * (double)units[i].bytes;
        }
    }
    if (free_wanted < 0) {
        return -1;
    }
    double room = (double)available_bytes - free_wanted;
    return room > 0 ? (int64_t)room : 0;
}

/* Transient settings override persistent ones, and both override the default. */
static void storage_take_watermark(struct json_object *tree, struct buf *out)
{
    static const char *const places[] = {"transient", "persistent", "defaults"};
    for (size_t i = 0; i < 3 && out->len == 0; i++) {
        const char *const keys[] = {places[i], "cluster",   "routing", "allocation",
                                    "disk",    "watermark", "low",     NULL};
        struct json_object *value = json_tree_at(tree, keys);
        buf_push_text(out, value != NULL ? json_object_get_string(value) : "");
    }
}

static int storage_look_watermark(struct service *s, struct buf *out, struct err *err)
{
    struct json_object *tree;
    int rc = ask(s, "GET",
                 "/_cluster/settings?include_defaults=true&"
                 "filter_path=*.cluster.routing.allocation.disk.watermark.low",
                 NO_BODY, BODY_CLUSTER, &tree, err);
    if (rc == 0) {
        storage_take_watermark(tree, out);
    }
    if (rc == 0 && out->len == 0) {
        buf_push_literal(out, WATERMARK_DEFAULT);
    }
    json_object_put(tree);
    return rc;
}

/* Reports the least free space of all data nodes; negative if unknown. */
static int storage_look_nodes(struct service *s, const char *watermark, int64_t *room,
                              struct err *err)
{
    static const char *const disk[] = {"fs", "total", NULL};
    struct json_object *tree;
    *room = -1;
    int rc = ask(s, "GET",
                 "/_nodes/data:true/stats/fs?filter_path=nodes.*.fs.total.total_in_bytes,"
                 "nodes.*.fs.total.available_in_bytes",
                 NO_BODY, BODY_CLUSTER, &tree, err);
    struct json_members node = json_tree_members(json_tree_member(tree, "nodes"));
    while (json_tree_next(&node)) {
        struct json_object *sizes = json_tree_at(node.value, disk);
        int64_t here = storage_room(watermark, json_tree_amount(sizes, "total_in_bytes"),
                                    json_tree_amount(sizes, "available_in_bytes"));
        *room = *room < 0 || here < *room ? here : *room;
    }
    json_object_put(tree);
    return rc;
}

int storage_room_of_cluster(struct service *s, int64_t *room_bytes, struct err *err)
{
    struct buf watermark;
    buf_init(&watermark, PATH_BYTES);
    *room_bytes = -1;
    int rc = storage_look_watermark(s, &watermark, err);
    rc = rc == 0 ? storage_look_nodes(s, buf_text(&watermark), room_bytes, err) : rc;
    buf_release(&watermark);
    if (rc != 0) {
        *room_bytes = -1;
    }
    return rc == ERR_REJECTED ? 0 : rc;
}

int storage_look(struct service *s, const char *index, struct storage *out, struct err *err)
{
    struct err forbidden;
    *out = (struct storage){.indexed = -1, .room_bytes = -1};
    int rc = storage_look_index(s, index, out, err);
    if (rc != 0) {
        return rc;
    }
    if (storage_room_of_cluster(s, &out->room_bytes, &forbidden) != 0) {
        out->room_bytes = -1;
    }
    return 0;
}
