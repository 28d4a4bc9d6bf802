/* SPDX-License-Identifier: Apache-2.0 */
/* Commands, options and configurations on a page. */
#include "mentions.h"

#include <check.h>
#include <ctype.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/config/config.h"
#include "server.h"

#define WORDS_MOST 40
#define LINE_MAX_BYTES ((size_t)64 * 1024)
#define BY_HAND "rowferry_by_hand " /* docs/systemd.md: with the units' account and secrets */

/* --- the program is asked ----------------------------------------------------------------------
 */

struct words {
    char *text; /* split into words */
    const char *argv[WORDS_MOST];
    size_t count;
};

/* Splits the command line, up to the shell's own syntax. Brackets mark optional parts. */
static void split(struct words *w, const char *line)
{
    char quote = '\0';
    bool inside = false;
    char *out = w->text = mem_zero(strlen(line) + 2, 1);
    w->argv[0] = getenv("ROWFERRY_PROGRAM");
    w->count = 1;
    for (; *line != '\0' && (quote != '\0' || strchr("|;&><#)", *line) == NULL); line++) {
        if (quote == '\0' && isspace((unsigned char)*line)) {
            *out++ = '\0';
            inside = false;
        } else if (quote == *line) {
            quote = '\0';
        } else if (strchr("[]\\", *line) == NULL || quote != '\0') {
            ck_assert_uint_lt(w->count, WORDS_MOST - 2);
            if (!inside) {
                w->argv[w->count++] = out;
                inside = true;
            }
            if (quote == '\0' && (*line == '"' || *line == '\'')) {
                quote = *line;
            } else {
                *out++ = *line;
            }
        }
    }
    w->argv[w->count] = "--help";
    w->argv[w->count + 1] = NULL;
}

static bool line_beginning(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* Returns the program's error message for this line, or null if it knows the command. */
static char *ask(const char *line)
{
    struct words words;
    struct program program;
    struct program_result result;
    char *fault = NULL;
    split(&words, line);
    program_start(&program, words.argv, NULL);
    program_finish(&program, WAIT_MS, &result);
    if (result.exit_code != 0) {
        ck_assert_int_ge(asprintf(&fault, "%s: %s", line, result.err), 0);
    }
    program_result_release(&result);
    free(words.text);
    return fault;
}

/* --- options by themselves ---------------------------------------------------------------------
 */

/* Options of other programs that a page mentions. */
static const char *const of_others[] = {"--opensearch", "--keep", "--pipe", "--pty", NULL};

static const char *known_options(void)
{
    static char *known = NULL;
    if (known == NULL) {
        struct program program;
        struct program_result result;
        static const char script[] = "sed 's/Fl -/--/g' \"${ROWFERRY_PROGRAM%/*}/rowferry.1\" && "
                                     "\"$DEVSEARCH_PROGRAM\" --help";
        program_start(&program, (const char *const[]){"/bin/sh", "-c", script, NULL}, NULL);
        program_finish(&program, WAIT_MS, &result);
        ck_assert_int_eq(result.exit_code, 0);
        known = text_copy(result.out);
        program_result_release(&result);
    }
    return known;
}

static bool knows_option(const char *option, size_t len)
{
    for (const char *const *other = of_others; *other != NULL; other++) {
        if (strlen(*other) == len && strncmp(*other, option, len) == 0) {
            return true;
        }
    }
    char *word = text_copy_span(span_make(option, len));
    bool found = false;
    const char *at = strstr(known_options(), word);
    for (; at != NULL && !found; at = strstr(at + 1, word)) {
        found = !isalnum((unsigned char)at[len]) && at[len] != '-';
    }
    free(word);
    return found;
}

static char *options_fault(const char *span)
{
    for (const char *at = span; (at = strstr(at, "--")) != NULL;) {
        size_t len = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
        if (len > 2 && !knows_option(at, len)) {
            char *fault = NULL;
            ck_assert_int_ge(asprintf(&fault, "no program has this option: %s", at), 0);
            return fault;
        }
        at += len;
    }
    return NULL;
}

/* --- places on a page ---------------------------------------------------------------------- */

/* Checks a text between backticks. */
static char *span_fault(const char *span)
{
    if (line_beginning(span, "rowferry ")) {
        return ask(span + strlen("rowferry "));
    }
    if (line_beginning(span, "--")) {
        return options_fault(span);
    }
    if (strstr(span, " --") == NULL || !islower((unsigned char)span[0])) {
        return NULL;
    }
    char *command = text_copy_span(span_make(span, strcspn(span, " ")));
    char *of_another = ask(command);
    char *fault = of_another == NULL ? ask(span) : NULL;
    free(of_another);
    free(command);
    return fault;
}

/* Returns true if the word is a program and not an argument. */
static bool is_program(const char *command, const char *word)
{
    static const char *const before[] = {"| ", "; ",   "&& ",          "-- ",
                                         "(",  "bin/", "-u rowferry ", "exec rowferry "};
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        size_t len = strlen(before[i]);
        if ((size_t)(word - command) >= len && strncmp(word - len, before[i], len) == 0) {
            return true;
        }
    }
    return word == command;
}

static char *command_fault(const char *command)
{
    char *fault = NULL;
    if (line_beginning(command, BY_HAND)) {
        return ask(command + strlen(BY_HAND));
    }
    for (const char *at = command; fault == NULL && (at = strstr(at, "rowferry ")) != NULL;) {
        bool program = is_program(command, at);
        at += strlen("rowferry ");
        fault = program ? ask(at) : NULL;
    }
    return fault;
}

/* Returns one line of a block with its continuation lines, and steps *at behind them. The caller
 * frees it. */
static char *joined_line(const char **at)
{
    struct buf line;
    bool more = true;
    buf_init(&line, LINE_MAX_BYTES);
    while (more && **at != '\0') {
        size_t len = strcspn(*at, "\n");
        more = len > 0 && (*at)[len - 1] == '\\';
        buf_push(&line, *at, more ? len - 1 : len);
        *at += len + ((*at)[len] == '\n' ? 1 : 0);
    }
    return buf_detach(&line);
}

/* Starts behind the fence; *at becomes the position behind the block. */
static char *block_fault(const char **at, bool shell)
{
    char *fault = NULL;
    for (bool open = true; open && **at != '\0';) {
        char *line = joined_line(at);
        open = !line_beginning(line, "```");
        const char *command = line + (line_beginning(line, "$ ") ? 2 : 0);
        if (open && fault == NULL && (shell || command != line)) {
            fault = command_fault(command);
        }
        free(line);
    }
    return fault;
}

/* Starts at a backtick; *at becomes the position behind the closing one. */
static char *backtick_fault(const char **at)
{
    size_t ticks = strspn(*at, "`");
    const char *begin = *at + ticks;
    const char *end = strchr(begin, '`');
    if (end == NULL || ticks != 1) {
        *at = begin;
        return NULL;
    }
    char *span = text_copy_span(span_make(begin, (size_t)(end - begin)));
    for (char *c = span; *c != '\0'; c++) {
        *c = *c == '\n' ? ' ' : *c;
    }
    *at = end + 1;
    char *fault = span_fault(span);
    free(span);
    return fault;
}

char *mentions_fault(const char *text)
{
    char *fault = NULL;
    bool begins = true; /* of a line */
    for (const char *at = text; *at != '\0' && fault == NULL;) {
        if (begins && line_beginning(at, "```")) {
            bool shell = line_beginning(at, "```sh\n");
            at += strcspn(at, "\n") + 1;
            fault = block_fault(&at, shell);
        } else if (begins && line_beginning(at, "    rowferry ")) {
            char *line = joined_line(&at);
            fault = command_fault(line + 4);
            free(line);
        } else if (*at == '`') {
            fault = backtick_fault(&at);
            begins = false;
        } else {
            begins = *at++ == '\n';
        }
    }
    return fault;
}

void mentions_expect(const char *page, const char *text)
{
    char *fault = mentions_fault(text);
    ck_assert_msg(fault == NULL, "%s: %s", page, fault);
}

/* --- the configuration -------------------------------------------------------------------------
 */

static const char right[] =
    "{\"accept_admin\": true, \"source\":{\"uri\":\"postgresql://reader@localhost/shop\"},"
    "\"service\":{\"url\":\"http://127.0.0.1:9200\"},"
    "\"pipelines\":[{\"name\":\"articles\",\"from\":{\"table\":\"public.articles\"},"
    "\"to\":{\"index\":\"shop-articles\",\"mappings\":{\"properties\":{\"title\":{\"type\":"
    "\"text\"}}}}}]}";

/* The object to which a single member belongs; all others belong to the top level. */
static const struct {
    const char *name, *within; /* null: the pipeline itself */
} places[] = {
    {"from", NULL},     {"to", NULL},           {"fields", NULL},           {"verify", NULL},
    {"validate", NULL}, {"capacity", NULL},     {"on_schema_change", NULL}, {"limits", NULL},
    {"name", NULL},     {"delete_guard", NULL}, {"table", "from"},          {"key", "from"},
    {"where", "from"},  {"query", "from"},      {"depends_on", "from"},     {"capture", "from"},
    {"index", "to"},    {"kind", "to"},         {"mappings", "to"},         {"settings", "to"},
    {"keep", "to"},     {"routing", "to"},      {"ingest_pipeline", "to"},
};

static struct json_object *member(struct json_object *object, const char *name)
{
    return json_object_object_get(object, name);
}

static struct json_object *place_of(struct json_object *whole, const char *name)
{
    struct json_object *pipeline = json_object_array_get_idx(member(whole, "pipelines"), 0);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (strcmp(places[i].name, name) == 0) {
            return places[i].within == NULL ? pipeline : member(pipeline, places[i].within);
        }
    }
    return whole;
}

/* Merges objects; any other value replaces the existing one. */
static void put(struct json_object *into, const char *name, struct json_object *value)
{
    struct json_object *there = member(into, name);
    if (json_object_is_type(there, json_type_object) &&
        json_object_is_type(value, json_type_object)) {
        json_object_object_foreach(value, inner, inner_value)
        {
            put(there, inner, inner_value);
        }
    } else {
        json_object_object_add(into, name, json_object_get(value));
    }
}

/* Completes the members to a whole configuration, or returns null if they are not JSON. The caller
 * frees it. */
static char *complete(const char *text)
{
    char *braced = NULL;
    bool whole = text[strspn(text, " \n")] == '{' || text[0] == '/';
    ck_assert_int_ge(asprintf(&braced, whole ? "%s" : "{%s}", text), 0);
    struct json_object *members = json_tokener_parse(braced);
    struct json_object *tree = json_tokener_parse(right);
    char *out = NULL;
    if (json_object_is_type(members, json_type_object)) {
        json_object_object_foreach(members, name, value)
        {
            put(place_of(tree, name), name, value);
        }
        out = text_copy(json_object_to_json_string(tree));
    }
    json_object_put(tree);
    json_object_put(members);
    free(braced);
    return out;
}

char *mentions_load(const char *dir, const char *text)
{
    struct err err = {0};
    struct config *config = NULL;
    bool whole = strstr(text, "\"pipelines\"") != NULL;
    char *all = whole ? text_copy(text) : complete(text);
    if (all == NULL) {
        return text_copy("no JSON");
    }
    char *path = scratch_write(dir, "page.json", all);
    char *error = config_load(&config, path, &err) == 0 ? NULL : text_copy(err.message);
    config_free(config);
    free(path);
    free(all);
    return error;
}
