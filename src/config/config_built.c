/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a pipeline that defines its documents, in the form of a configuration. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "rowferry/base/buf.h"
#include "rowferry/config/config.h"
#include "rowferry/document/json/json_build.h"
#include "rowferry/document/json/json_tree.h"

#define TEXT_MAX_BYTES ((size_t)16 << 20)

static void config_built_add_text(struct json_object *to, const char *name, const char *text)
{
    if (text != NULL) {
        json_build_member(to, name, json_build_text(text));
    }
}

static void config_built_add_list(struct json_object *to, const char *name, char *const *items,
                                  size_t count)
{
    struct json_object *list = json_build_list();
    for (size_t i = 0; i < count; i++) {
        json_build_item(list, json_build_text(items[i]));
    }
    json_build_member(to, name, list);
}

static void config_built_add_ms(struct json_object *to, const char *name, int64_t ms)
{
    char text[32];
    if (ms > 0) {
        snprintf(text, sizeof(text), "%lldms", (long long)ms);
        config_built_add_text(to, name, text);
    }
}

static struct json_object *config_built_capture_of(const struct from_config *from)
{
    struct json_object *capture = json_build_object();
    config_built_add_text(capture, "mode", capture_traits(from->capture_mode)->name);
    config_built_add_text(capture, "column", from->cursor_column);
    config_built_add_ms(capture, "overlap", from->overlap_ms);
    if (from->reconcile_ms > 0) {
        struct json_object *deletes = json_build_object();
        config_built_add_ms(deletes, "reconcile", from->reconcile_ms);
        json_build_member(capture, "deletes", deletes);
    }
    return capture;
}

static struct json_object *config_built_dependencies_of(const struct from_config *from)
{
    struct json_object *list = json_build_list();
    for (size_t i = 0; i < from->dependency_count; i++) {
        const struct dependency *d = &from->dependencies[i];
        struct json_object *one = json_build_object();
        config_built_add_text(one, "table", d->table);
        config_built_add_list(one, "key", d->key, d->key_count);
        config_built_add_text(one, "keys", d->keys);
        json_build_item(list, one);
    }
    return list;
}

static struct json_object *config_built_from_of(const struct from_config *from)
{
    struct json_object *o = json_build_object();
    config_built_add_text(o, "table", from->table);
    if (from->key_count > 0) {
        config_built_add_list(o, "key", from->key, from->key_count);
    }
    config_built_add_text(o, "where", from->where);
    config_built_add_text(o, "query", from->query);
    json_build_member(o, "capture", config_built_capture_of(from));
    if (from->dependency_count > 0) {
        json_build_member(o, "depends_on", config_built_dependencies_of(from));
    }
    return o;
}

static struct json_object *config_built_fields_of(const struct pipeline_config *p)
{
    struct json_object *o = json_build_object();
    for (size_t i = 0; i < p->field_count; i++) {
        const struct field *field = &p->fields[i];
        struct json_object *value = field->column != NULL ? json_build_text(field->column) : NULL;
        if (field->zone != NULL) {
            struct json_object *zoned = json_build_object();
            json_build_member(zoned, "column", value);
            json_build_member(zoned, "zone", json_build_text(field->zone));
            value = zoned;
        }
        json_build_member(o, field->property, value);
    }
    return o;
}

void config_write_built(const struct pipeline_config *p, struct buf *out)
{
    struct json_object *o = json_build_object();
    struct json_object *to = json_build_object();
    config_built_add_text(o, "name", p->name);
    json_build_member(o, "from", config_built_from_of(&p->from));
    config_built_add_text(to, "index", p->to.index);
    json_build_member(to, "mappings", json_tree_of(p->to.mappings));
    config_built_add_text(to, "ingest_pipeline", p->to.ingest_pipeline);
    config_built_add_text(to, "routing", p->to.routing);
    config_built_add_text(to, "id", config_id(p));
    if (p->to.provenance) {
        json_build_member(to, "provenance", json_build_bool(true));
    }
    json_build_member(o, "to", to);
    json_build_member(o, "fields", config_built_fields_of(p));
    buf_push_text(out,
                  json_build_string(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(o);
}

int config_read_built(struct config **out, const char *text, struct err *err)
{
    struct buf whole;
    buf_init(&whole, TEXT_MAX_BYTES);
    buf_push_literal(&whole, "{\"source\":{\"uri\":\"postgresql:///"
                             "\"},\"service\":{\"url\":\"http://localhost\"},\"pipelines\":[");
    buf_push_text(&whole, text);
    buf_push_literal(&whole, "]}");
    int rc = config_load_text(out, "the words that the live index was built from", &whole, err);
    buf_release(&whole);
    return rc;
}
