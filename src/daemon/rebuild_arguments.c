/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes the part of the configuration that a rebuild depends on. */
#include "rowferry/daemon/rebuild_arguments.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/document/json/json_tree.h"

#define SHAPE_MAX_BYTES ((size_t)64 << 20)

/* Appends a text with its length, so that different lists of texts never have the same form. */
static void rebuild_arguments_push_text(struct buf *out, const char *text)
{
    if (text == NULL) {
        buf_push_char(out, '-');
    } else {
        buf_printf(out, "%zu:", strlen(text));
        buf_push_text(out, text);
    }
}

static void rebuild_arguments_push_texts(struct buf *out, char *const *texts, size_t count)
{
    buf_printf(out, "[%zu", count);
    for (size_t i = 0; i < count; i++) {
        rebuild_arguments_push_text(out, texts[i]);
    }
}

static void rebuild_arguments_push_from(struct buf *out, const struct from_config *from)
{
    rebuild_arguments_push_text(out, from->table);
    rebuild_arguments_push_texts(out, from->key, from->key_count);
    rebuild_arguments_push_text(out, from->where);
    rebuild_arguments_push_text(out, from->query);
    rebuild_arguments_push_text(out, from->cursor_column);
    for (size_t i = 0; i < from->dependency_count; i++) {
        const struct dependency *d = &from->dependencies[i];
        rebuild_arguments_push_text(out, d->table);
        rebuild_arguments_push_texts(out, (char *const *)d->key, d->key_count);
        rebuild_arguments_push_text(out, d->keys);
    }
}

static void rebuild_arguments_configuration_of(char out[17], const struct pipeline_config *p)
{
    struct buf shape;
    buf_init(&shape, SHAPE_MAX_BYTES);
    rebuild_arguments_push_text(&shape, p->to.index);
    rebuild_arguments_push_text(&shape, p->to.mappings);
    rebuild_arguments_push_text(&shape, p->to.settings);
    rebuild_arguments_push_text(&shape, p->to.ingest_pipeline);
    if (p->to.routing != NULL) {
        rebuild_arguments_push_text(&shape, p->to.routing);
    }
    if (p->to.id != ID_KEY) {
        rebuild_arguments_push_text(&shape, config_id(p));
    }
    if (p->to.provenance) {
        rebuild_arguments_push_text(&shape, "provenance");
    }
    rebuild_arguments_push_from(&shape, &p->from);
    for (size_t i = 0; i < p->field_count; i++) {
        rebuild_arguments_push_text(&shape, p->fields[i].property);
        rebuild_arguments_push_text(&shape, p->fields[i].column);
    }
    snprintf(out, 17, "%016" PRIx64, text_hash(buf_text(&shape), shape.len));
    buf_release(&shape);
}

static const char *rebuild_arguments_word(bool is)
{
    return is ? "true" : "false";
}

void rebuild_arguments_push(struct buf *out, const struct pipeline_config *pipeline,
                            const struct rebuild_terms *terms)
{
    char configuration[17];
    rebuild_arguments_configuration_of(configuration, pipeline);
    buf_printf(out, "{\"adopt\":%s,\"allow_deletes\":%s,\"configuration\":\"%s\"}",
               rebuild_arguments_word(terms->adopt), rebuild_arguments_word(terms->allow_deletes),
               configuration);
}

bool rebuild_arguments_read(const char *arguments, const struct pipeline_config *pipeline,
                            struct rebuild_terms *terms)
{
    char configuration[17];
    struct json_object *parsed = json_tree_of(arguments);
    const char *asked = json_object_get_string(json_tree_member(parsed, "configuration"));
    rebuild_arguments_configuration_of(configuration, pipeline);
    *terms = (struct rebuild_terms){
        .adopt = json_object_get_boolean(json_tree_member(parsed, "adopt")),
        .allow_deletes = json_object_get_boolean(json_tree_member(parsed, "allow_deletes"))};
    bool same = asked != NULL && strcmp(asked, configuration) == 0;
    json_object_put(parsed);
    return same;
}
