/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and stores index settings. */
#include "index/settings.h"
#include "base/tree.h"

#include <errno.h>
#include <stdlib.h>

enum setting_kind { KIND_TIME, KIND_WHOLE, KIND_BOOL, KIND_WORD };

static const struct {
    const char *name;
    enum setting_kind kind;
    bool changeable;
} known[] = {
    {"index.refresh_interval", KIND_TIME, true},
    {"index.number_of_replicas", KIND_WHOLE, true},
    {"index.number_of_shards", KIND_WHOLE, false},
    {"index.gc_deletes", KIND_TIME, true},
    {"index.max_result_window", KIND_WHOLE, true},
    {"index.mapping.total_fields.limit", KIND_WHOLE, true},
    {"index.mapping.ignore_malformed", KIND_BOOL, false},
    {"index.blocks.write", KIND_BOOL, true},
    {"index.blocks.read_only", KIND_BOOL, true},
    {"index.blocks.read_only_allow_delete", KIND_BOOL, true},
    {"index.auto_expand_replicas", KIND_WORD, true},
    {"index.search.idle.after", KIND_TIME, true},
    {"index.translog.durability", KIND_WORD, true},
    {"index.translog.sync_interval", KIND_TIME, true},
    {"index.translog.flush_threshold_size", KIND_WORD, true},
    {"index.merge.scheduler.max_thread_count", KIND_WHOLE, true},
    {"index.codec", KIND_WORD, false},
    {"index.hidden", KIND_BOOL, true},
    {"index.priority", KIND_WHOLE, true},
    {"index.routing.allocation.total_shards_per_node", KIND_WHOLE, true},
    {"index.knn", KIND_BOOL, false},
};

static const struct {
    const char *unit;
    int64_t ms;
} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};

/* Parses "5s" into ms; "-1" and "0" need no unit. */
static bool parse_time(const char *text, int64_t *ms)
{
    if (strcmp(text, "-1") == 0 || strcmp(text, "0") == 0) {
        *ms = text[0] == '0' ? 0 : -1;
        return true;
    }
    char *stop;
    errno = 0;
    long long value = strtoll(text, &stop, 10);
    if (stop == text || value < 0 || errno != 0 || value > INT64_MAX / 86400000) {
        return false;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(stop, units[i].unit) == 0) {
            *ms = value * units[i].ms;
            return true;
        }
    }
    return false;
}

static int check_value(const char *name, enum setting_kind kind, const char *value,
                       struct refusal *refusal)
{
    int64_t ms;
    char *stop;
    if (kind == KIND_TIME && !parse_time(value, &ms)) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "failed to parse setting [%s] with value [%s] as a time value: unit is "
                      "missing or unrecognized",
                      name, value);
    }
    if (kind == KIND_WHOLE && (strtoll(value, &stop, 10) < 0 || *stop != '\0' || stop == value)) {
        refuse(refusal, 400, "illegal_argument_exception",
               "Failed to parse value [%s] for setting [%s]", value, name);
        refusal_cause(refusal, "number_format_exception", "For input string: \"%s\"", value);
        return -1;
    }
    if (kind == KIND_BOOL && strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "Failed to parse value [%s] as only [true] or [false] are allowed.", value);
    }
    return 0;
}

static int check(const char *name, const char *value, bool creating, const char *index,
                 struct refusal *refusal)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].name, name) != 0) {
            continue;
        }
        if (!creating && !known[i].changeable) {
            return refuse(refusal, 400, "illegal_argument_exception",
                          "Can't update non dynamic settings [[%s]] for open indices [[%s]]", name,
                          index);
        }
        return value == NULL ? 0 : check_value(name, known[i].kind, value, refusal);
    }
    if (strncmp(name, "index.analysis.", 15) == 0) {
        return refuse_unknown(refusal, "analysis settings (%s)", name);
    }
    return refuse(refusal, 400, "illegal_argument_exception",
                  "unknown setting [%s] please check that any required plugins are installed, or "
                  "check the breaking changes documentation for removed settings",
                  name);
}

void settings_release(struct settings *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->list[i].name);
        free(s->list[i].value);
    }
    free(s->list);
    *s = (struct settings){0};
}

static void settings_drop(struct settings *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->list[i].name, name) == 0) {
            free(s->list[i].name);
            free(s->list[i].value);
            s->list[i] = s->list[--s->count];
            return;
        }
    }
}

void settings_put(struct settings *s, const char *name, const char *value)
{
    settings_drop(s, name);
    if (value != NULL) {
        s->list = mem_grow(s->list, s->count + 1, sizeof(*s->list));
        s->list[s->count++] = (struct setting){text_copy(name), text_copy(value)};
    }
}

/* Flattens the given object; only checks it if `into` is null. */
static int walk(struct settings *into, struct json_object *given, const char *prefix, bool creating,
                const char *index, struct refusal *refusal)
{
    int rc = 0;
    struct buf name;
    buf_init(&name, 65536);
    tree_foreach(given, key, value)
    {
        buf_reset(&name);
        bool whole =
            prefix[0] == '\0' && (strncmp(key, "index.", 6) == 0 || strcmp(key, "index") == 0);
        buf_printf(&name, "%s%s%s",
                   whole               ? ""
                   : prefix[0] != '\0' ? prefix
                                       : "index",
                   whole ? "" : ".", key);
        if (json_object_is_type(value, json_type_object)) {
            rc = walk(into, value, buf_text(&name), creating, index, refusal);
        } else if (into == NULL) {
            const char *text = value != NULL ? tree_text(value) : NULL;
            rc = check(buf_text(&name), text, creating, index, refusal);
        } else {
            settings_put(into, buf_text(&name), value != NULL ? tree_text(value) : NULL);
        }
        if (rc != 0) {
            break;
        }
    }
    buf_release(&name);
    return rc;
}

int settings_apply(struct settings *s, struct json_object *given, bool creating, const char *index,
                   struct refusal *refusal)
{
    if (!json_object_is_type(given, json_type_object)) {
        return refuse(refusal, 400, "parse_exception", "key [settings] must be an object");
    }
    if (walk(NULL, given, "", creating, index, refusal) != 0) {
        return -1;
    }
    return walk(s, given, "", creating, index, refusal);
}

const char *settings_get(const struct settings *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->list[i].name, name) == 0) {
            return s->list[i].value;
        }
    }
    return NULL;
}

int64_t settings_ms(const struct settings *s, const char *name, int64_t fallback)
{
    const char *text = settings_get(s, name);
    int64_t ms;
    return text != NULL && parse_time(text, &ms) ? ms : fallback;
}

static void put_nested(struct json_object *root, const char *name, const char *value)
{
    const char *dot;
    while ((dot = strchr(name, '.')) != NULL) {
        char *part = text_copy_span(span_make(name, (size_t)(dot - name)));
        struct json_object *inner;
        if (!json_object_object_get_ex(root, part, &inner)) {
            inner = json_object_new_object();
            json_object_object_add(root, part, inner);
        }
        free(part);
        root = inner;
        name = dot + 1;
    }
    json_object_object_add(root, name, json_object_new_string(value));
}

void settings_push(const struct settings *s, struct buf *out, bool flat)
{
    struct json_object *root = json_object_new_object();
    for (size_t i = 0; i < s->count; i++) {
        if (flat) {
            json_object_object_add(root, s->list[i].name, json_object_new_string(s->list[i].value));
        } else {
            put_nested(root, s->list[i].name, s->list[i].value);
        }
    }
    buf_push_text(out, json_object_to_json_string_ext(root, JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(root);
}
