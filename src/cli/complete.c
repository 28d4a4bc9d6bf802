/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the words that may continue an unfinished command line. */
#include "complete.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/cli/command.h"

/* The words before the one to complete. */
struct scene {
    const char *config;
    const char *group;
    const struct command *command;
    enum option_id wants; /* the next word is its value; OPTION_COUNT if none */
    bool ended;           /* "--" was given */
    size_t operands;
};

void complete_candidate(struct buf *out, const char *prefix, const char *name, const char *help)
{
    if (strncmp(name, prefix, strlen(prefix)) == 0) {
        buf_printf(out, "%s%s%s\n", name, help != NULL ? "\t" : "", help != NULL ? help : "");
    }
}

/* --- the words so far ------------------------------------------------------------------------- */

static bool complete_is_group(const char *word)
{
    size_t len = strlen(word);
    for (const struct command *c = commands; c->name != NULL; c++) {
        if (strncmp(c->name, word, len) == 0 && c->name[len] == ' ') {
            return true;
        }
    }
    return false;
}

static const struct command *complete_find(const char *group, const char *word)
{
    size_t skip = group != NULL ? strlen(group) + 1 : 0;
    for (const struct command *c = commands; c->name != NULL; c++) {
        bool in =
            group == NULL || (strncmp(c->name, group, skip - 1) == 0 && c->name[skip - 1] == ' ');
        if (in && strcmp(c->name + skip, word) == 0) {
            return c;
        }
    }
    return NULL;
}

static enum option_id complete_option_of(const char *word)
{
    size_t len = strcspn(word, "=");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        bool letter = word[1] != '-' && row->letter != 0 && row->letter == word[1];
        if (letter || span_is(span_make(word, len), row->name)) {
            return (enum option_id)i;
        }
    }
    return OPTION_COUNT;
}

static void complete_take_option(struct scene *s, const char *word)
{
    enum option_id id = complete_option_of(word);
    if (id == OPTION_COUNT || option_rows[id].argument == NULL) {
        return;
    }
    const char *value = word[1] == '-' ? strchr(word, '=') : NULL;
    value = value != NULL ? value + 1 : word[1] != '-' && word[2] != '\0' ? word + 2 : NULL;
    s->wants = value == NULL ? id : OPTION_COUNT;
    s->config = id == OPTION_CONFIG && value != NULL ? value : s->config;
}

static void complete_take_word(struct scene *s, const char *word)
{
    if (s->command != NULL) {
        s->operands++;
    } else if (s->group == NULL && complete_is_group(word)) {
        s->group = word;
    } else {
        s->command = complete_find(s->group, word);
    }
}

static void complete_look(struct scene *s, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (s->wants != OPTION_COUNT && strcmp(words[i], "=") != 0) {
            s->config = s->wants == OPTION_CONFIG ? words[i] : s->config;
            s->wants = OPTION_COUNT;
        } else if (s->wants != OPTION_COUNT) {
            continue;
        } else if (!s->ended && strcmp(words[i], "--") == 0) {
            s->ended = true;
        } else if (!s->ended && words[i][0] == '-' && words[i][1] != '\0') {
            complete_take_option(s, words[i]);
        } else {
            complete_take_word(s, words[i]);
        }
    }
}

/* --- candidates ------------------------------------------------------------------------------- */

static void complete_push_value(struct buf *out, const struct scene *s, enum option_id id,
                                const char *prefix, complete_pipelines pipelines)
{
    if (id == OPTION_PIPELINE) {
        pipelines(out, s->config, prefix);
    } else if (strcmp(option_rows[id].argument, "FILE") == 0) {
        buf_push_literal(out, COMPLETE_FILES "\n");
    }
}

static void complete_push_options(struct buf *out, const struct scene *s, const char *prefix)
{
    uint64_t bits = OPTIONS_GLOBAL | (s->command != NULL ? s->command->options : 0);
    for (int i = 0; i < OPTION_COUNT; i++) {
        if ((bits & OPTION_BIT(i)) != 0) {
            complete_candidate(out, prefix, option_rows[i].name, option_rows[i].help);
        }
    }
}

/* Completes "--pipeline=art" as one word, because zsh and fish replace all of it. */
static void complete_push_joined(struct buf *out, const struct scene *s, const char *word,
                                 complete_pipelines pipelines)
{
    struct buf values;
    enum option_id id = complete_option_of(word);
    if (id == OPTION_COUNT || option_rows[id].argument == NULL) {
        return;
    }
    size_t head = strcspn(word, "=") + 1;
    buf_init(&values, out->max_bytes);
    complete_push_value(&values, s, id, word + head, pipelines);
    for (const char *at = buf_text(&values); *at != '\0';) {
        size_t len = strcspn(at, "\n") + 1;
        if (at[0] != ':') {
            buf_push(out, word, head);
        }
        buf_push(out, at, len);
        at += len;
    }
    buf_release(&values);
}

static const char *complete_rest_of(const struct command *c, const char *group)
{
    size_t len = group != NULL ? strlen(group) : 0;
    if (len > 0 && (strncmp(c->name, group, len) != 0 || c->name[len] != ' ')) {
        return NULL;
    }
    return len > 0 ? c->name + len + 1 : c->name;
}

/* Offers a group once, although each of its commands begins with it. */
static void complete_push_commands(struct buf *out, const char *group, const char *prefix)
{
    struct span before = {NULL, 0};
    for (const struct command *c = commands; c->name != NULL; c++) {
        const char *name = complete_rest_of(c, group);
        if (name == NULL) {
            continue;
        }
        struct span word = span_make(name, strcspn(name, " "));
        bool whole = name[word.len] == '\0';
        if (whole || before.data == NULL || !span_equal(before, word)) {
            char *text = text_copy_span(word);
            complete_candidate(out, prefix, text, whole ? c->summary : "a group of commands");
            free(text);
        }
        before = word;
    }
}

static void complete_push_operands(struct buf *out, const struct scene *s, const char *prefix,
                                   complete_pipelines pipelines)
{
    const char *operands = s->command->operands;
    if (strcmp(operands, "[PIPELINE...]") == 0) {
        pipelines(out, s->config, prefix);
    } else if (strcmp(operands, "SHELL") == 0 && s->operands == 0) {
        complete_candidate(out, prefix, "bash", NULL);
        complete_candidate(out, prefix, "zsh", NULL);
        complete_candidate(out, prefix, "fish", NULL);
    }
}

void complete_push(struct buf *out, const char *const *words, size_t count,
                   complete_pipelines pipelines)
{
    struct scene s = {.wants = OPTION_COUNT};
    if (count == 0) {
        return;
    }
    const char *word = words[count - 1];
    complete_look(&s, words, count - 1);
    if (s.wants != OPTION_COUNT) {
        complete_push_value(out, &s, s.wants, strcmp(word, "=") == 0 ? "" : word, pipelines);
    } else if (!s.ended && word[0] == '-' && strchr(word, '=') != NULL) {
        complete_push_joined(out, &s, word, pipelines);
    } else if (!s.ended && word[0] == '-') {
        complete_push_options(out, &s, word);
    } else if (s.command == NULL) {
        complete_push_commands(out, s.group, word);
    } else {
        complete_push_operands(out, &s, word, pipelines);
    }
}
