/* SPDX-License-Identifier: Apache-2.0 */
/* Parses argv into a command, its options and its operands. */
#include "arguments.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/source/sql/sqltext.h"

#define LIST_BYTES 1024

struct argument_scan {
    struct arguments *out;
    const char *const *argv;
    size_t at, count;
    size_t words;
    bool listing; /* the next words are more values of the last option */
};

/* --- options ------------------------------------------------------------------------------- */

static int arguments_unknown_option(const char *text, size_t len, struct err *err)
{
    const char *names[OPTION_COUNT + 1] = {NULL};
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        names[i] = option_rows[i].name;
    }
    char *name = text_copy_span(span_make(text, len));
    const char *nearest = text_nearest(name, names);
    if (nearest != NULL) {
        err_set(err, ERR_CONFIG, "unknown option \"%s\"; did you mean \"%s\"?", name, nearest);
    } else {
        err_set(err, ERR_CONFIG, "unknown option \"%s\"; see: rowferry --help", name);
    }
    free(name);
    return ERR_CONFIG;
}

static bool arguments_takes_several(const struct option_row *row)
{
    size_t len = row->argument != NULL ? strlen(row->argument) : 0;
    return len > 3 && strcmp(row->argument + len - 3, "...") == 0;
}

/* `value` is the text after "=" or the letter; null if none. */
static int arguments_take_option(struct argument_scan *s, enum option_id id, const char *value,
                                 struct err *err)
{
    const struct option_row *row = &option_rows[id];
    if (row->argument == NULL) {
        if (value != NULL) {
            return err_set(err, ERR_CONFIG, "option \"%s\" takes no value", row->name);
        }
        s->out->values[id] = "";
        return 0;
    }
    if (value == NULL && s->at < s->count) {
        value = s->argv[s->at++];
    }
    if (value == NULL || *value == '\0') {
        return err_set(err, ERR_CONFIG, "option \"%s\" needs a value: %s %s", row->name, row->name,
                       row->argument);
    }
    s->out->values[id] = value;
    if (arguments_takes_several(row)) {
        s->out->several[s->out->several_count++] = value;
        s->listing = s->words > 0;
    }
    return 0;
}

static int arguments_take_long(struct argument_scan *s, const char *text, struct err *err)
{
    size_t len = strcspn(text, "=");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (span_is(span_make(text, len), option_rows[i].name)) {
            return arguments_take_option(s, (enum option_id)i,
                                         text[len] == '=' ? text + len + 1 : NULL, err);
        }
    }
    return arguments_unknown_option(text, len, err);
}

static int arguments_take_letter(struct argument_scan *s, const char *text, struct err *err)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (option_rows[i].letter != 0 && option_rows[i].letter == text[1]) {
            return arguments_take_option(s, (enum option_id)i, text[2] != '\0' ? text + 2 : NULL,
                                         err);
        }
    }
    return arguments_unknown_option(text, strlen(text), err);
}

static void arguments_take_word(struct argument_scan *s, const char *text)
{
    if (s->listing) {
        s->out->several[s->out->several_count++] = text;
    } else {
        s->out->words[s->words++] = text;
    }
}

static int arguments_scan_all(struct argument_scan *s, struct err *err)
{
    bool options = true;
    while (s->at < s->count) {
        const char *text = s->argv[s->at++];
        bool option = options && text[0] == '-' && text[1] != '\0';
        int rc = 0;
        s->listing = s->listing && !option;
        if (option && strcmp(text, "--") == 0) {
            options = false;
        } else if (option && text[1] == '-') {
            rc = arguments_take_long(s, text, err);
        } else if (option) {
            rc = arguments_take_letter(s, text, err);
        } else {
            arguments_take_word(s, text);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* --- the command --------------------------------------------------------------------------- */

/* Returns how many of the words name the command; 0 if they do not. */
static size_t arguments_words_naming(const struct command *c, const char *const *words,
                                     size_t count)
{
    size_t first = strcspn(c->name, " ");
    if (count < 1 || !span_is(span_make(c->name, first), words[0])) {
        return 0;
    }
    if (c->name[first] == '\0') {
        return 1;
    }
    return count >= 2 && strcmp(c->name + first + 1, words[1]) == 0 ? 2 : 0;
}

/* Returns the length of the group's name if the word is one, else 0. */
static size_t arguments_group_len(const char *word)
{
    for (const struct command *c = commands; c->name != NULL; c++) {
        size_t first = strcspn(c->name, " ");
        if (c->name[first] == ' ' && span_is(span_make(c->name, first), word)) {
            return first;
        }
    }
    return 0;
}

/*
 * Returns the words that may follow `group` (null: that may be first), null-terminated. The caller
 * frees the array and its texts.
 */
static char **arguments_choices(const char *group)
{
    size_t skip = group != NULL ? strlen(group) + 1 : 0;
    char **words = NULL;
    size_t count = 0;
    for (const struct command *c = commands; c->name != NULL; c++) {
        if (group != NULL && (arguments_group_len(group) != strcspn(c->name, " ") ||
                              strncmp(c->name, group, skip - 1) != 0)) {
            continue;
        }
        const char *word = c->name + skip;
        words = mem_grow(words, count + 2, sizeof(*words));
        words[count++] = text_copy_span(span_make(word, strcspn(word, " ")));
        words[count] = NULL;
    }
    return words;
}

static void arguments_choices_free(char **words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        free(words[i]);
    }
    free(words);
}

static int arguments_unknown_command(const char *group, const char *word, struct err *err)
{
    char **words = arguments_choices(group);
    const char *nearest = text_nearest(word, (const char *const *)words);
    const char *space = group != NULL ? " " : "";
    const char *before = group != NULL ? group : "";
    if (nearest != NULL) {
        err_set(err, ERR_CONFIG, "unknown command \"%s%s%s\"; did you mean \"%s%s%s\"?", before,
                space, word, before, space, nearest);
    } else {
        err_set(err, ERR_CONFIG, "unknown command \"%s%s%s\"; see: rowferry %s%s--help", before,
                space, word, before, space);
    }
    arguments_choices_free(words);
    return ERR_CONFIG;
}

static int arguments_find_command(struct arguments *a, size_t words, struct err *err)
{
    for (const struct command *c = commands; c->name != NULL; c++) {
        size_t named = arguments_words_naming(c, a->words, words);
        if (named > 0) {
            a->command = c;
            a->operands = a->words + named;
            a->operand_count = words - named;
            return 0;
        }
    }
    if (arguments_group_len(a->words[0]) == 0) {
        return arguments_unknown_command(NULL, a->words[0], err);
    }
    a->group = a->words[0];
    return words > 1 ? arguments_unknown_command(a->group, a->words[1], err) : 0;
}

/* Checks that each given option belongs to the command. */
static int arguments_check_options(const struct arguments *a, struct err *err)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        uint64_t bit = OPTION_BIT(i);
        if (a->values[i] != NULL && (bit & (a->command->options | OPTIONS_GLOBAL)) == 0) {
            return err_set(err, ERR_CONFIG,
                           "command \"%s\" has no option \"%s\"; see: rowferry %s --help",
                           a->command->name, option_rows[i].name, a->command->name);
        }
    }
    return 0;
}

/* Refuses a --where that would disable the paging condition, because the listing would never
 * end. */
static int arguments_check_where(const struct arguments *a, struct err *err)
{
    const char *where = a->values[OPTION_WHERE];
    int rc = where != NULL ? sqltext_check(where, err) : 0;
    return rc < 0 ? err_context(err, "option \"--where\"") : 0;
}

static int arguments_incomplete_command(const char *group, struct err *err)
{
    struct buf list;
    char **words = arguments_choices(group);
    buf_init(&list, LIST_BYTES);
    for (size_t i = 0; words[i] != NULL; i++) {
        buf_printf(&list, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    err_set(err, ERR_CONFIG, "command \"%s\" needs one of: %s", group, buf_text(&list));
    arguments_choices_free(words);
    buf_release(&list);
    return ERR_CONFIG;
}

static int arguments_check_operands(const struct arguments *a, struct err *err)
{
    const struct command *c = a->command;
    if (a->operand_count < c->operands_least) {
        return err_set(err, ERR_CONFIG, "command \"%s\" needs %s; see: rowferry %s --help", c->name,
                       c->operands, c->name);
    }
    if (c->operands[0] == '\0' && a->operand_count > 0) {
        return err_set(err, ERR_CONFIG, "command \"%s\" takes no \"%s\"; see: rowferry %s --help",
                       c->name, a->operands[0], c->name);
    }
    if (c->operands_most > 0 && a->operand_count > c->operands_most) {
        return err_set(err, ERR_CONFIG, "command \"%s\" takes one %s; see: rowferry %s --help",
                       c->name, c->operands, c->name);
    }
    return 0;
}

static int arguments_check_whole(const struct arguments *a, size_t words, struct err *err)
{
    if (arguments_have(a, OPTION_HELP) || (words == 0 && arguments_have(a, OPTION_VERSION))) {
        return 0;
    }
    if (words == 0) {
        return err_set(err, ERR_CONFIG, "no command; see: rowferry --help");
    }
    if (a->command == NULL) {
        return arguments_incomplete_command(a->group, err);
    }
    return arguments_check_operands(a, err);
}

int arguments_parse(struct arguments *out, int argc, const char *const *argv, struct err *err)
{
    *out = (struct arguments){0};
    size_t count = argc > 0 ? (size_t)argc : 1;
    out->words = mem_zero(count, sizeof(*out->words));
    out->several = mem_zero(count, sizeof(*out->several));
    struct argument_scan s = {.out = out, .argv = argv, .at = 1, .count = count};
    int rc = arguments_scan_all(&s, err);
    if (rc == 0 && s.words > 0) {
        rc = arguments_find_command(out, s.words, err);
    }
    if (rc == 0 && out->command != NULL) {
        rc = arguments_check_options(out, err);
        rc = rc == 0 ? arguments_check_where(out, err) : rc;
    }
    return rc < 0 ? rc : arguments_check_whole(out, s.words, err);
}

void arguments_release(struct arguments *a)
{
    free(a->words);
    free(a->several);
}
