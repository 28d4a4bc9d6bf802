/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one value of the file into one member of a struct, by the option's type. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/base/units.h"
#include "rowferry/document/json/json_build.h"
#include "rowferry/document/json/json_tree.h"

#define MAX_PATH_BYTES 65536

/* Reads a text, which must not be empty and must pass the option's check. */
static int value_checked_text(struct config_reader *r, const struct option *o, const char *path,
                              struct json_object *value, char **out)
{
    char *text = NULL;
    int result = value_text(r, path, value, &text);
    if (result == 0 && *text == '\0') {
        result = read_fail(r, path, SCAN_VALUE, "\"%s\" is empty", path);
    }
    if (result == 0 && o->check != NULL && o->check(text, r->err) != 0) {
        result = read_fail_again(r, path);
    }
    if (result != 0) {
        free(text);
        return result;
    }
    *out = text;
    return 0;
}

static int value_read_path(struct config_reader *r, const struct option *o, const char *path,
                           struct json_object *value, char **out)
{
    char *text = NULL;
    int result = value_checked_text(r, o, path, value, &text);
    if (result == 0) {
        *out = value_beside(r->file, text);
    }
    free(text);
    return result;
}

/* Parses a text of the table, with its unit. These are valid. */
static int64_t value_parse_amount(enum option_type type, const char *text)
{
    int64_t amount = 0;
    bool good = type == OPTION_SIZE       ? units_parse_size(text, &amount)
                : type == OPTION_DURATION ? units_parse_duration(text, &amount)
                                          : units_parse_count(text, &amount);
    if (!good) {
        abort();
    }
    return amount;
}

static bool value_in_range(const struct option *o, int64_t amount)
{
    return amount >= value_parse_amount(o->type, o->least) &&
           amount <= value_parse_amount(o->type, o->most);
}

static int value_read_count(struct config_reader *r, const struct option *o, const char *path,
                            struct json_object *value, int64_t *out)
{
    if (json_object_is_type(value, json_type_double)) {
        return read_fail(r, path, SCAN_VALUE, "\"%s\" is not a whole number", path);
    }
    if (!json_object_is_type(value, json_type_int)) {
        return read_fail_kind(r, path, value, "a whole number");
    }
    int64_t count = json_object_get_int64(value);
    if (!value_in_range(o, count)) {
        return read_fail(r, path, SCAN_VALUE, "\"%s\" is %" PRId64 "; it must be from %s to %s",
                         path, count, o->least, o->most);
    }
    *out = count;
    return 0;
}

/* Returns an example for messages: the default, or the minimum if there is none. */
static const char *value_example_of(const struct option *o)
{
    return o->fallback != NULL ? o->fallback : o->least;
}

static int value_read_amount(struct config_reader *r, const struct option *o, const char *path,
                             struct json_object *value, int64_t *out)
{
    bool size = o->type == OPTION_SIZE;
    if (json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double)) {
        return read_fail(r, path, SCAN_VALUE,
                         "\"%s\" is a number; write it with its unit, like \"%s\"", path,
                         value_example_of(o));
    }
    char *text = NULL;
    int result = value_text(r, path, value, &text);
    if (result != 0) {
        return result;
    }
    int64_t amount = 0;
    if (!(size ? units_parse_size(text, &amount) : units_parse_duration(text, &amount))) {
        result = read_fail(
            r, path, SCAN_VALUE,
            "\"%s\" is \"%s\"; a whole number with its unit (%s) is expected, like \"%s\"", path,
            text, size ? "B, KiB, MiB, GiB" : "ms, s, m, h, d", value_example_of(o));
    } else if (!value_in_range(o, amount)) {
        result = read_fail(r, path, SCAN_VALUE, "\"%s\" is \"%s\"; it must be from %s to %s", path,
                           text, o->least, o->most);
    } else {
        *out = amount;
    }
    free(text);
    return result;
}

static int value_read_share(struct config_reader *r, const struct option *o, const char *path,
                            struct json_object *value, double *out)
{
    if (!json_object_is_type(value, json_type_int) &&
        !json_object_is_type(value, json_type_double)) {
        return read_fail_kind(r, path, value, "a number");
    }
    double share = json_object_get_double(value);
    if (!(share >= strtod(o->least, NULL) && share <= strtod(o->most, NULL))) {
        return read_fail(r, path, SCAN_VALUE, "\"%s\" is %g; it must be from %s to %s", path, share,
                         o->least, o->most);
    }
    *out = share;
    return 0;
}

int value_choice(const char *choices, const char *text)
{
    size_t len = strlen(text);
    for (int number = 0;; number++) {
        bool unavailable = *choices == '!';
        choices += unavailable;
        size_t word = strcspn(choices, "|");
        if (word == len && memcmp(choices, text, len) == 0) {
            return unavailable ? -2 : number;
        }
        if (choices[word] == '\0') {
            return -1;
        }
        choices += word + 1;
    }
}

char *value_choices(const char *choices)
{
    struct buf list;
    buf_init(&list, MAX_PATH_BYTES);
    for (;;) {
        size_t word = strcspn(choices, "|");
        if (*choices != '!') {
            buf_push_text(&list, list.len > 0 ? ", " : "");
            buf_push(&list, choices, word);
        }
        if (choices[word] == '\0') {
            return buf_detach(&list);
        }
        choices += word + 1;
    }
}

static int value_read_choice(struct config_reader *r, const struct option *o, const char *path,
                             struct json_object *value, int *out)
{
    char *text = NULL;
    int result = value_text(r, path, value, &text);
    if (result != 0) {
        return result;
    }
    int number = value_choice(o->choices, text);
    if (number == -2) {
        result = read_fail(r, path, SCAN_VALUE, "\"%s\": \"%s\" is not available in version %s",
                           path, text, ROWFERRY_VERSION);
    } else if (number < 0) {
        char *list = value_choices(o->choices);
        result = read_fail(r, path, SCAN_VALUE, "\"%s\" is \"%s\"; it must be one of %s", path,
                           text, list);
        free(list);
    } else {
        *out = number;
    }
    free(text);
    return result;
}

static int value_read_flag(struct config_reader *r, const char *path, struct json_object *value,
                           bool *out)
{
    if (!json_object_is_type(value, json_type_boolean)) {
        return read_fail_kind(r, path, value, "true or false");
    }
    *out = json_object_get_boolean(value) != 0;
    return 0;
}

static int value_read_json(struct config_reader *r, const struct option *o, const char *path,
                           struct json_object *value, char **out)
{
    if (!json_tree_is_object(value)) {
        return read_fail_kind(r, path, value, "an object");
    }
    const char *text =
        json_build_string(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    if (o->check != NULL && o->check(text, r->err) != 0) {
        return read_fail_again(r, path);
    }
    *out = text_copy(text);
    return 0;
}

/* A list's member is a pointer followed by its count. */
struct text_list {
    char **items;
    size_t count;
};

static int value_read_item(struct config_reader *r, const struct option *o, const char *path,
                           size_t index, struct json_object *value, char **out)
{
    struct buf item;
    buf_init(&item, MAX_PATH_BYTES);
    buf_printf(&item, "%s[%zu]", path, index);
    int result = value_checked_text(r, o, buf_text(&item), value, out);
    buf_release(&item);
    return result;
}

static int value_read_list(struct config_reader *r, const struct option *o, const char *path,
                           struct json_object *value, struct text_list *out)
{
    if (!json_tree_is_list(value)) {
        if (o->type == OPTION_LIST) {
            return read_fail_kind(r, path, value, "a list of strings");
        }
        out->items = mem_zero(1, sizeof(*out->items));
        out->count = 1;
        return value_checked_text(r, o, path, value, &out->items[0]);
    }
    size_t count = json_tree_length(value);
    if (count == 0) {
        return read_fail(r, path, SCAN_VALUE, "\"%s\" is an empty list", path);
    }
    out->items = mem_zero(count, sizeof(*out->items));
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        int result = value_read_item(r, o, path, i, json_tree_item(value, i), &out->items[i]);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

int value_read(struct config_reader *r, const struct option *o, const char *path,
               struct json_object *value, void *target)
{
    switch (o->type) {
    case OPTION_TEXT:
        return value_checked_text(r, o, path, value, target);
    case OPTION_PATH:
        return value_read_path(r, o, path, value, target);
    case OPTION_FLAG:
        return value_read_flag(r, path, value, target);
    case OPTION_COUNT:
        return value_read_count(r, o, path, value, target);
    case OPTION_SIZE:
    case OPTION_DURATION:
        return value_read_amount(r, o, path, value, target);
    case OPTION_SHARE:
        return value_read_share(r, o, path, value, target);
    case OPTION_CHOICE:
        return value_read_choice(r, o, path, value, target);
    case OPTION_SECRET:
        return value_secret(r, path, value, target);
    case OPTION_JSON:
        return value_read_json(r, o, path, value, target);
    case OPTION_LIST:
    case OPTION_TEXTS:
        return value_read_list(r, o, path, value, target);
    case OPTION_FIELDS:
        return value_fields(r, path, value, target);
    case OPTION_DEPENDS:
        return value_dependencies(r, path, value, target);
    case OPTION_QUERIES:
        return value_queries(r, path, value, target);
    case OPTION_GRADES:
        return value_judgements(r, path, value, target);
    case OPTION_UNREAD:
    case OPTION_PIPELINES:
    default:
        return 0;
    }
}

void value_default(const struct option *o, void *target)
{
    switch (o->type) {
    case OPTION_COUNT:
    case OPTION_SIZE:
    case OPTION_DURATION:
        *(int64_t *)target = value_parse_amount(o->type, o->fallback);
        break;
    case OPTION_SHARE:
        *(double *)target = strtod(o->fallback, NULL);
        break;
    case OPTION_CHOICE:
        *(int *)target = value_choice(o->choices, o->fallback);
        break;
    case OPTION_FLAG:
        *(bool *)target = strcmp(o->fallback, "true") == 0;
        break;
    default:
        abort(); /* other types have no default */
    }
}
