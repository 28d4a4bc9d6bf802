/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, removes and replaces a setting in any of its spellings. */
#include "index/index_private.h"

#include <json-c/json.h>
#include <string.h>

#include "http/ask.h"
#include "rowferry/document/json/json_build.h"
#include "rowferry/document/json/json_tree.h"

#define REFRESH "index.refresh_interval"
#define REPLICAS "index.number_of_replicas"
#define EXPAND "index.auto_expand_replicas"
#define DELETES "index.gc_deletes"

static int index_settings_parse(struct json_object **out, const char *configured, struct err *err)
{
    *out = configured != NULL ? json_tree_of(configured) : json_build_object();
    if (!json_tree_is_object(*out)) {
        json_object_put(*out);
        *out = NULL;
        return err_set(err, ERR_CONFIG, "\"settings\" of an index must be a JSON object");
    }
    return 0;
}

/* Finds the object and key of a setting; returns false if it is unset. */
static bool index_settings_find(struct json_object *tree, const char *name,
                                struct json_object **holder, const char **key)
{
    const char *plain = name + strlen("index.");
    *holder = tree;
    *key = name;
    if (json_tree_has(tree, name)) {
        return true;
    }
    *key = plain;
    if (json_tree_has(tree, plain)) {
        return true;
    }
    *holder = json_tree_member(tree, "index");
    return json_tree_has(*holder, plain);
}

static void index_settings_replace(struct json_object *tree, const char *name,
                                   struct json_object *value)
{
    struct json_object *holder;
    const char *key;
    while (index_settings_find(tree, name, &holder, &key)) {
        json_tree_remove(holder, key);
    }
    json_build_member(tree, name, value);
}

static bool index_settings_is_set(struct json_object *tree, const char *name)
{
    struct json_object *holder;
    const char *key;
    return index_settings_find(tree, name, &holder, &key);
}

int64_t index_setting(const char *settings, const char *name, int64_t fallback)
{
    struct err ignored;
    struct json_object *tree;
    struct json_object *holder;
    const char *key;
    int64_t value = fallback;
    if (index_settings_parse(&tree, settings, &ignored) != 0) {
        return fallback;
    }
    if (index_settings_find(tree, name, &holder, &key)) {
        value = json_object_get_int64(json_tree_member(holder, key));
    }
    json_object_put(tree);
    return value;
}

int index_settings_filling(struct buf *out, const char *configured, struct err *err)
{
    struct json_object *tree;
    int rc = index_settings_parse(&tree, configured, err);
    if (rc != 0) {
        return rc;
    }
    index_settings_replace(tree, REFRESH, json_build_text("-1"));
    index_settings_replace(tree, REPLICAS, json_build_number(0));
    if (index_settings_is_set(tree, EXPAND)) { /* otherwise it would add replicas at once */
        index_settings_replace(tree, EXPAND, json_build_text("false"));
    }
    if (!index_settings_is_set(tree, DELETES)) {
        json_build_member(tree, DELETES, json_build_text("1h"));
    }
    buf_push_text(out, json_build_string(tree, ASK_PLAIN));
    json_object_put(tree);
    return 0;
}

/* Appends "name":value as configured, or null if it is not configured. */
static void index_settings_put_back(struct buf *out, struct json_object *tree, const char *name)
{
    struct json_object *holder;
    const char *key;
    bool set = index_settings_find(tree, name, &holder, &key);
    buf_printf(out, "\"%s\":", name + strlen("index."));
    buf_push_text(out, json_build_string(set ? json_tree_member(holder, key) : NULL, ASK_PLAIN));
}

int index_settings_finished(struct buf *out, const char *configured, struct err *err)
{
    struct json_object *tree;
    int rc = index_settings_parse(&tree, configured, err);
    if (rc != 0) {
        return rc;
    }
    buf_push_literal(out, "{\"index\":{");
    index_settings_put_back(out, tree, REFRESH);
    buf_push_char(out, ',');
    index_settings_put_back(out, tree, REPLICAS);
    if (index_settings_is_set(tree, EXPAND)) {
        buf_push_char(out, ',');
        index_settings_put_back(out, tree, EXPAND);
    }
    buf_push_literal(out, "}}");
    json_object_put(tree);
    return 0;
}
