/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the texts of a hit out of the tree. */
#include "rowferry/document/json/hit.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/document/json/json_tree.h"

static const struct json_limits limits = {
    .text_bytes = (size_t)128 << 20, .tree_bytes = (size_t)1 << 30, .depth = 64};

/* Returns a copy. No key, index or pipeline is empty or has a NUL, after which a text would be cut
 * to another one. */
static char *hit_copy(struct json_object *object, const char *name)
{
    const char *text = json_tree_text(object, name);
    struct json_object *member = json_tree_member(object, name);
    bool whole = text[0] != '\0' && strlen(text) == (size_t)json_object_get_string_len(member);
    return whole ? text_copy(text) : NULL;
}

int hit_read(struct hit *out, struct span text, struct err *err)
{
    static const char *const list[] = {"hits", "hits", NULL};
    static const char *const provenance[] = {"_source", "provenance", NULL};
    struct json_object *tree = NULL;
    *out = (struct hit){0};
    if (json_tree_parse(&tree, text.data, text.len, &limits) != JSON_FITS) {
        return err_set(err, ERR_REJECTED, "it is not JSON, or too deep for a hit");
    }
    struct json_object *hits = json_tree_at(tree, list);
    struct json_object *hit = json_tree_is_list(hits) ? json_tree_item(hits, 0) : tree;
    out->index = hit_copy(hit, "_index");
    out->id = hit_copy(hit, "_id");
    out->source_id = hit_copy(json_tree_member(hit, "_source"), "source_id");
    out->pipeline = hit_copy(json_tree_at(hit, provenance), "pipeline");
    struct json_object *found = json_tree_member(hit, "found");
    bool absent = json_object_is_type(found, json_type_boolean) && !json_object_get_boolean(found);
    bool named = out->id != NULL || out->source_id != NULL;
    const char *why = absent        ? "the service says that the document does not exist"
                      : named       ? NULL
                      : hit == NULL ? "the search has no hit"
                                    : "the hit has neither \"_id\" nor \"source_id\"";
    json_object_put(tree);
    if (why != NULL) {
        hit_release(out);
        return err_set(err, ERR_REJECTED, "%s", why);
    }
    return 0;
}

void hit_release(struct hit *h)
{
    free(h->index);
    free(h->id);
    free(h->source_id);
    free(h->pipeline);
    *h = (struct hit){0};
}
