/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: filling a struct err, and the mapping from class to exit code. */
#include "rowferry/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rowferry/base/text.h"

#define DETAIL_KEPT 1024
#define CUT "..."

/* Makes the text a single line: messages of libraries may contain newlines. */
static void err_one_line(char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) {
            text[i] = ' ';
        }
    }
    while (len > 0 && text[len - 1] == ' ') {
        text[--len] = '\0';
    }
}

/* Marks a truncated text with "..." without splitting a character. */
static void err_mark_cut(char *text, size_t size)
{
    size_t kept = text_cut(text, size - 1, size - sizeof(CUT));
    memcpy(text + kept, CUT, sizeof(CUT));
}

__attribute__((format(printf, 3, 0))) static void err_format_line(char *out, size_t size,
                                                                  const char *format, va_list args)
{
    int n = vsnprintf(out, size, format, args);
    if (n < 0) {
        out[0] = '\0';
    } else if ((size_t)n >= size) {
        err_mark_cut(out, size);
    }
    err_one_line(out);
}

int err_set(struct err *e, enum err_class class, const char *format, ...)
{
    if (e != NULL) {
        memset(e, 0, sizeof(*e));
        e->class = class;
        va_list args;
        va_start(args, format);
        err_format_line(e->message, sizeof(e->message), format, args);
        va_end(args);
    }
    return class;
}

int err_hint(struct err *e, const char *format, ...)
{
    if (e == NULL) {
        return ERR_INTERNAL;
    }
    va_list args;
    va_start(args, format);
    err_format_line(e->hint, sizeof(e->hint), format, args);
    va_end(args);
    return e->class;
}

void err_name_pipeline(struct err *e, const char *pipeline)
{
    char hint[sizeof(e->hint)];
    const char *at = strstr(e->hint, ERR_PIPELINE);
    if (at != NULL) {
        memcpy(hint, e->hint, sizeof(hint));
        err_hint(e, "%.*s%s%s", (int)(at - e->hint), hint, pipeline,
                 hint + (at - e->hint) + strlen(ERR_PIPELINE));
    }
}

void err_drop_guess(struct err *e)
{
    if (e->guess) {
        err_hint(e, "restore it under this name, or name another one in the configuration");
    }
}

int err_drift(struct err *e)
{
    if (e == NULL) {
        return ERR_INTERNAL;
    }
    e->drift = true;
    return e->class;
}

void err_detail(struct err *e, const char *bytes, size_t len)
{
    if (e == NULL) {
        return;
    }
    size_t out = 0;
    size_t in = 0;
    for (size_t used; in < len && out + TEXT_ESCAPED_BYTES <= DETAIL_KEPT; in += used) {
        out += text_escape_character(e->detail + out, bytes + in, len - in, &used);
    }
    e->detail[out] = '\0';
    if (in < len) {
        out = text_cut(e->detail, out, out - 1);
        memcpy(e->detail + out, CUT, sizeof(CUT));
    }
}

int err_context(struct err *e, const char *format, ...)
{
    if (e == NULL) {
        return ERR_INTERNAL;
    }
    char context[sizeof(e->message)];
    va_list args;
    va_start(args, format);
    err_format_line(context, sizeof(context), format, args);
    va_end(args);
    char message[sizeof(e->message)];
    memcpy(message, e->message, sizeof(message));
    e->place = 0;
    int n = snprintf(e->message, sizeof(e->message), "%s: %s", context, message);
    if (n < 0 || (size_t)n >= sizeof(e->message)) {
        err_mark_cut(e->message, sizeof(e->message));
    }
    return e->class;
}

static const struct class_row {
    enum err_class class;
    const char *name;
    enum exit_code exit_code;
} classes[] = {
    {ERR_NONE, "none", EXIT_DONE},           {ERR_TRANSIENT, "transient", EXIT_TEMPORARY},
    {ERR_REJECTED, "rejected", EXIT_FAILED}, {ERR_CONFIG, "config", EXIT_USAGE},
    {ERR_STATE, "state", EXIT_FAILED},       {ERR_HELD, "held", EXIT_HELD},
    {ERR_INTERNAL, "internal", EXIT_FAILED},
};

#define CLASSES (sizeof(classes) / sizeof(classes[0]))

static const struct class_row *err_class_row(enum err_class class)
{
    for (size_t i = 0; i < CLASSES; i++) {
        if (classes[i].class == class) {
            return &classes[i];
        }
    }
    return &classes[CLASSES - 1];
}

const char *err_class_name(enum err_class class)
{
    return err_class_row(class)->name;
}

enum exit_code err_exit_code(enum err_class class)
{
    return err_class_row(class)->exit_code;
}

enum exit_code err_exit_code_worse(enum exit_code a, enum exit_code b)
{
    static const enum exit_code order[] = {
        EXIT_USAGE,       EXIT_FAILED,       EXIT_HELD, EXIT_TEMPORARY,
        EXIT_DIFFERENCES, EXIT_DEAD_LETTERS, EXIT_DONE,
    };
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (a == order[i] || b == order[i]) {
            return order[i];
        }
    }
    return EXIT_FAILED;
}
