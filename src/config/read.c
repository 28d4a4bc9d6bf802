/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the file's tree: keys, groups, pipelines, missing options. */
#include "read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/document/json/json_tree.h"

#define MAX_PATH_BYTES 65536
#define MAX_PIPELINES 64

/* One level of the walk. */
struct level {
    bool in_pipeline;
    struct pipeline_config *pipeline; /* the pipeline, or the values that all inherit */
    const char *group;                /* within the scope: "from", "" at its top */
    const char *path;                 /* in the file: "pipelines[0].from" */
};

static char *read_join(const char *left, const char *right)
{
    struct buf text;
    buf_init(&text, MAX_PATH_BYTES);
    buf_printf(&text, "%s%s%s", left, *left != '\0' ? "." : "", right);
    return buf_detach(&text);
}

int read_fail(const struct config_reader *r, const char *path, enum scan_end end,
              const char *format, ...)
{
    struct place p = scan_find(r->text, r->len, path, end);
    char *message = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&message, format, args) < 0) {
        message = NULL;
    }
    va_end(args);
    int result = err_set(r->err, ERR_CONFIG, "%s:%d:%d: %s", r->file, p.line, p.column,
                         message != NULL ? message : "out of memory");
    free(message);
    return result;
}

int read_fail_kind(const struct config_reader *r, const char *path, struct json_object *value,
                   const char *expected)
{
    return read_fail(r, path, SCAN_VALUE, "\"%s\" is %s; %s is expected", path, value_kind(value),
                     expected);
}

int read_fail_again(const struct config_reader *r, const char *path)
{
    struct place p = scan_find(r->text, r->len, path, SCAN_VALUE);
    err_context(r->err, "%s:%d:%d: \"%s\"", r->file, p.line, p.column, path);
    r->err->class = ERR_CONFIG;
    return ERR_CONFIG;
}

static void *read_target_of(const struct config_reader *r, const struct option *o,
                            struct pipeline_config *p)
{
    char *base = o->scope == SCOPE_FILE ? (char *)r->config : (char *)p;
    return base + o->offset;
}

static int read_unknown_key(const struct config_reader *r, const struct level *level,
                            const char *key, const char *path)
{
    read_fail(r, path, SCAN_KEY, "unknown key \"%s\"", path);
    char *nearest = options_nearest(level->in_pipeline, level->group, key);
    if (nearest != NULL) {
        err_hint(r->err, "did you mean \"%s\"?", nearest);
    } else {
        err_hint(r->err, "the manual's page on configuration names the keys");
    }
    free(nearest);
    return ERR_CONFIG;
}

static int read_group(struct config_reader *r, const struct level *level,
                      struct json_object *group);

static int read_below(struct config_reader *r, const struct level *level, const char *group,
                      const char *path, struct json_object *value)
{
    struct level next = {level->in_pipeline, level->pipeline, group, path};
    if (value == NULL) {
        return 0;
    }
    if (!json_tree_is_object(value)) {
        return read_fail_kind(r, path, value, "an object");
    }
    return read_group(r, &next, value);
}

static int read_member(struct config_reader *r, const struct level *level, const char *key,
                       struct json_object *value)
{
    char *group = read_join(level->group, key);
    char *path = read_join(level->path, key);
    const struct option *o = options_find(level->in_pipeline, group);
    int result = 0;
    if (o == NULL && options_is_group(level->in_pipeline, group)) {
        result = read_below(r, level, group, path, value);
    } else if (o == NULL) {
        result = read_unknown_key(r, level, key, path);
    } else if (o->type != OPTION_PIPELINES && value != NULL) {
        result = value_read(r, o, path, value, read_target_of(r, o, level->pipeline));
    }
    free(group);
    free(path);
    return result;
}

static int read_group(struct config_reader *r, const struct level *level, struct json_object *group)
{
    for (struct json_members m = json_tree_members(group); json_tree_next(&m);) {
        int result = read_member(r, level, m.name, m.value);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

/* All required options are texts, JSON or lists, so their members are pointers. */
static int read_check_required(const struct config_reader *r, const struct level *level)
{
    for (const struct option *o = options; o->path != NULL; o++) {
        if (!o->required || o->type == OPTION_PIPELINES ||
            !options_belongs(o, level->in_pipeline)) {
            continue;
        }
        void *value;
        memcpy(&value, read_target_of(r, o, level->pipeline), sizeof(value));
        if (value == NULL) {
            char *path = read_join(level->path, o->path);
            int result = read_fail(r, path, SCAN_VALUE, "\"%s\" is missing", path);
            free(path);
            return result;
        }
    }
    return 0;
}

static void read_set_defaults(const struct config_reader *r, bool in_pipeline,
                              struct pipeline_config *p)
{
    for (const struct option *o = options; o->path != NULL; o++) {
        bool here = in_pipeline ? o->scope == SCOPE_PIPELINE : o->scope != SCOPE_PIPELINE;
        if (here && o->fallback != NULL) {
            value_default(o, read_target_of(r, o, p));
        }
    }
}

/* Reads a pipeline on top of the inherited values. */
static int read_pipeline(struct config_reader *r, struct pipeline_config *p, const char *path,
                         struct json_object *value)
{
    *p = r->inherited;
    read_set_defaults(r, true, p);
    struct level level = {true, p, "", path};
    if (!json_tree_is_object(value)) {
        return read_fail_kind(r, path, value, "an object");
    }
    int result = read_group(r, &level, value);
    return result == 0 ? read_check_required(r, &level) : result;
}

static int read_pipelines(struct config_reader *r, struct json_object *list)
{
    if (list == NULL) {
        return read_fail(r, "pipelines", SCAN_VALUE, "\"pipelines\" is missing");
    }
    if (!json_tree_is_list(list)) {
        return read_fail_kind(r, "pipelines", list, "a list of objects");
    }
    size_t count = json_tree_length(list);
    if (count == 0 || count > MAX_PIPELINES) {
        return read_fail(r, "pipelines", SCAN_VALUE,
                         "\"pipelines\" has %zu entries; 1 to %d are expected", count,
                         MAX_PIPELINES);
    }
    r->inherited.limits.window_bytes /= (int64_t)count;
    r->config->pipelines = mem_zero(count, sizeof(*r->config->pipelines));
    for (size_t i = 0; i < count; i++) {
        struct buf path;
        buf_init(&path, MAX_PATH_BYTES);
        buf_printf(&path, "pipelines[%zu]", i);
        r->config->pipeline_count = i + 1;
        int result =
            read_pipeline(r, &r->config->pipelines[i], buf_text(&path), json_tree_item(list, i));
        buf_release(&path);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

int read_tree(struct config_reader *r, struct json_object *root)
{
    struct level top = {false, &r->inherited, "", ""};
    read_set_defaults(r, false, &r->inherited);
    int result = read_group(r, &top, root);
    if (result == 0) {
        result = read_check_required(r, &top);
    }
    return result == 0 ? read_pipelines(r, json_tree_member(root, "pipelines")) : result;
}
