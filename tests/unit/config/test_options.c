/* SPDX-License-Identifier: Apache-2.0 */
/* The option table: consistent, and equal to the manual and the JSON Schema. */
#include "options.h"

#include <json-c/json.h>

#include "configfile.h"
#include "read.h"
#include "rowferry/base/units.h"

/* Reads a file of docs/; the caller frees it. */
static char *read_docs(const char *name)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_printf(&text, "%s/%s", TEST_DOCS, name);
    FILE *file = fopen(buf_text(&text), "r");
    ck_assert_msg(file != NULL, "%s", buf_text(&text));
    buf_reset(&text);
    char part[4096];
    size_t got;
    while ((got = fread(part, 1, sizeof(part), file)) > 0) {
        buf_push(&text, part, got);
    }
    fclose(file);
    ck_assert(!text.failed);
    return buf_detach(&text);
}

static void push_range(struct buf *row, const struct option *o)
{
    if (o->least != NULL) {
        buf_printf(row, "%s to %s", o->least, o->most);
    }
    if (o->choices != NULL) {
        char *list = value_choices(o->choices);
        for (const char *at = list; *at != '\0'; at += strspn(at, ", ")) {
            size_t len = strcspn(at, ",");
            buf_printf(row, "%s`%.*s`", at == list ? "" : ", ", (int)len, at);
            at += len;
        }
        free(list);
    }
}

static void push_row(struct buf *out, const struct option *o)
{
    static const char *const values[] = {
        [OPTION_TEXT] = "string",
        [OPTION_PATH] = "path",
        [OPTION_FLAG] = "true or false",
        [OPTION_COUNT] = "whole number",
        [OPTION_SIZE] = "size",
        [OPTION_DURATION] = "duration",
        [OPTION_SHARE] = "number",
        [OPTION_CHOICE] = "choice",
        [OPTION_SECRET] = "secret",
        [OPTION_JSON] = "object",
        [OPTION_LIST] = "list of strings",
        [OPTION_TEXTS] = "string or list",
        [OPTION_FIELDS] = "object",
        [OPTION_DEPENDS] = "list of objects",
        [OPTION_QUERIES] = "list of objects",
        [OPTION_PIPELINES] = "list of objects",
        [OPTION_UNREAD] = "any",
    };
    buf_printf(out, "| `%s` | %s | ", o->path, values[o->type]);
    buf_push_text(out, o->required ? "required" : "");
    if (o->fallback != NULL) {
        buf_printf(out, "`%s`", o->fallback);
    }
    buf_push_text(out, " | ");
    push_range(out, o);
    buf_printf(out, " | %s |\n", o->help);
}

/* Writes the manual's table for the options of a scope. */
static void push_table(struct buf *out, int scope)
{
    buf_push_literal(out, "\n| key | value | default | range | what it is |\n"
                          "| --- | --- | --- | --- | --- |\n");
    for (const struct option *o = options; o->path != NULL; o++) {
        if ((int)o->scope == scope) {
            push_row(out, o);
        }
    }
    buf_push_literal(out, "\n");
}

START_TEST(the_manuals_tables_are_what_the_options_give)
{
    static const int scopes[] = {SCOPE_FILE, SCOPE_BOTH, SCOPE_PIPELINE};
    char *manual = read_docs("configuration.md");
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        struct buf table;
        buf_init(&table, 64 * 1024);
        push_table(&table, scopes[i]);
        bool same = strstr(manual, buf_text(&table)) != NULL;
        if (!same) {
            fputs(buf_text(&table), stderr);
        }
        ck_assert_msg(same, "docs/configuration.md has not the table above: put it there");
        buf_release(&table);
    }
    free(manual);
}
END_TEST

START_TEST(the_manual_names_what_is_not_in_this_version)
{
    char *manual = read_docs("configuration.md");
    for (const struct option *o = options; o->path != NULL; o++) {
        const char *choice = o->choices != NULL ? strchr(o->choices, '!') : NULL;
        for (; choice != NULL; choice = strchr(choice + 1, '!')) {
            struct buf row;
            buf_init(&row, 4096);
            buf_printf(&row, "| `%s%s`: `%.*s` | ",
                       o->scope == SCOPE_PIPELINE ? "pipelines[]." : "", o->path,
                       (int)strcspn(choice + 1, "|"), choice + 1);
            ck_assert_msg(strstr(manual, buf_text(&row)) != NULL, "missing: %s", buf_text(&row));
            buf_release(&row);
        }
    }
    free(manual);
}
END_TEST

/* Returns the schema of a path within a group's schema, or null. */
static struct json_object *schema_at(struct json_object *group, const char *path)
{
    while (*path != '\0' && group != NULL) {
        size_t len = strcspn(path, ".");
        char *key = text_copy_span(span_make(path, len));
        struct json_object *properties = json_object_object_get(group, "properties");
        group = properties != NULL ? json_object_object_get(properties, key) : NULL;
        free(key);
        path += len + (path[len] == '.');
    }
    return group;
}

static int count_leaves(struct json_object *group)
{
    int count = 0;
    json_object_object_foreach(json_object_object_get(group, "properties"), key, value)
    {
        (void)key;
        bool is_group = json_object_object_get(value, "properties") != NULL;
        count += is_group ? count_leaves(value) : 1;
        if (is_group) {
            ck_assert(
                !json_object_get_boolean(json_object_object_get(value, "additionalProperties")));
        }
    }
    return count;
}

static void assert_same_keys(struct json_object *group, bool in_pipeline)
{
    int expected = 0;
    for (const struct option *o = options; o->path != NULL; o++) {
        if (!options_belongs(o, in_pipeline)) {
            continue;
        }
        struct json_object *leaf = schema_at(group, o->path);
        ck_assert_msg(leaf != NULL, "%s", o->path);
        expected++;
        struct json_object *fallback = json_object_object_get(leaf, "default");
        ck_assert_msg((fallback != NULL) == (o->fallback != NULL), "%s", o->path);
        if (fallback != NULL) {
            ck_assert_str_eq(json_object_get_string(fallback), o->fallback);
        }
    }
    ck_assert_int_eq(count_leaves(group), expected);
}

START_TEST(the_schema_has_exactly_the_options_that_are_available)
{
    char *text = read_docs("rowferry.schema.json");
    struct json_object *schema = json_tokener_parse(text);
    ck_assert_ptr_nonnull(schema);
    assert_same_keys(schema, false);
    assert_same_keys(
        json_object_object_get(json_object_object_get(schema, "definitions"), "pipeline"), true);
    json_object_put(schema);
    free(text);
}
END_TEST

START_TEST(the_manuals_example_is_accepted)
{
    char *manual = read_docs("configuration.md");
    char *start = strstr(manual, "```jsonc\n");
    ck_assert_ptr_nonnull(start);
    start += strlen("```jsonc\n");
    char *end = strstr(start, "```");
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    configfile_enter();
    struct err err;
    struct config *c = configfile_load(start, &err);
    ck_assert_msg(c != NULL, "%s", err.message);
    config_free(c);
    configfile_leave();
    free(manual);
}
END_TEST

START_TEST(paths_are_unique_and_no_option_is_a_group)
{
    for (const struct option *o = options; o->path != NULL; o++) {
        for (int in_pipeline = 0; in_pipeline < 2; in_pipeline++) {
            if (options_belongs(o, in_pipeline != 0)) {
                ck_assert_ptr_eq(options_find(in_pipeline != 0, o->path), o);
                ck_assert(!options_is_group(in_pipeline != 0, o->path));
            }
        }
        ck_assert_ptr_nonnull(o->help);
    }
    ck_assert(options_is_group(false, "service.auth"));
    ck_assert(!options_is_group(false, "service.aut"));
    ck_assert(!options_is_group(true, "service"));
}
END_TEST

START_TEST(defaults_lie_in_their_ranges)
{
    configfile_enter();
    struct err err;
    for (const struct option *o = options; o->path != NULL; o++) {
        if (o->fallback == NULL || o->scope != SCOPE_BOTH || strchr(o->path, '.') == NULL) {
            continue;
        }
        bool quoted = o->type == OPTION_SIZE || o->type == OPTION_DURATION;
        size_t group = strcspn(o->path, ".");
        char text[1024];
        snprintf(text, sizeof(text),
                 "{\"%.*s\": {\"%s\": %s%s%s}," SOURCE "," SERVICE "," PIPELINES "}", (int)group,
                 o->path, o->path + group + 1, quoted ? "\"" : "", o->fallback, quoted ? "\"" : "");
        struct config *c = configfile_load(text, &err);
        ck_assert_msg(c != NULL, "%s", err.message);
        config_free(c);
    }
    configfile_leave();
}
END_TEST

/* A bound that cannot be parsed would end the process at the first value. */
START_TEST(bounds_are_amounts_of_their_type)
{
    for (const struct option *o = options; o->path != NULL; o++) {
        const char *const bounds[] = {o->least, o->most};
        for (size_t i = 0; i < 2; i++) {
            int64_t amount;
            bool size = o->type == OPTION_SIZE;
            if (bounds[i] == NULL || (!size && o->type != OPTION_DURATION)) {
                continue;
            }
            ck_assert_msg(size ? units_parse_size(bounds[i], &amount)
                               : units_parse_duration(bounds[i], &amount),
                          "%s: %s", o->path, bounds[i]);
        }
    }
}
END_TEST

SUITE_MAIN("config/options", the_manuals_tables_are_what_the_options_give,
           the_manual_names_what_is_not_in_this_version,
           the_schema_has_exactly_the_options_that_are_available, the_manuals_example_is_accepted,
           paths_are_unique_and_no_option_is_a_group, defaults_lie_in_their_ranges,
           bounds_are_amounts_of_their_type)
