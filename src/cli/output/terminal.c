/* SPDX-License-Identifier: Apache-2.0 */
/* Writes results and errors for people. */
#include "output/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/advice.h"
#include "rowferry/base/file.h"
#include "rowferry/base/log.h"
#include "rowferry/base/text.h"

#define BLOCK_BYTES (64 * 1024)
#define SHOWN_MAX_BYTES ((size_t)1 << 30)

/* Returns the length of one of terminal_push's own sequences at the start, or 0. */
static size_t terminal_colour_len(const char *bytes, size_t len)
{
    static const char *const own[] = {"\033[0m", "\033[1m", "\033[31m", "\033[32m", "\033[33m"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        size_t n = strlen(own[i]);
        if (len >= n && memcmp(bytes, own[i], n) == 0) {
            return n;
        }
    }
    return 0;
}

void terminal_push_shown(struct buf *out, const char *bytes, size_t len)
{
    for (size_t used; len > 0; bytes += used, len -= used) {
        unsigned char c = (unsigned char)bytes[0];
        unsigned hidden = text_hidden(bytes, len, &used);
        size_t colour = terminal_colour_len(bytes, len);
        size_t whole = text_character(bytes, len);
        bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
        if (hidden != 0) {
            buf_printf(out, "\\u%04x", hidden);
        } else if (colour > 0) {
            buf_push(out, bytes, used = colour);
        } else if (whole == 0) {
            buf_push_literal(out, "\xef\xbf\xbd");
            used = 1;
        } else if (control) {
            buf_printf(out, "\\u%04x", (unsigned)c);
            used = 1;
        } else {
            buf_push(out, bytes, used = whole);
        }
    }
}

int terminal_screen(const struct buf *out, struct err *err)
{
    if (out->failed) {
        return err_set(err, ERR_TRANSIENT, "not enough memory for the result");
    }
    if (!file_write_all(STDOUT_FILENO, buf_text(out), out->len)) {
        return err_set(err, ERR_TRANSIENT, "could not write to standard output: %s",
                       strerror(errno));
    }
    return 0;
}

int terminal_result(const struct buf *out, struct err *err)
{
    if (out->failed || isatty(STDOUT_FILENO) != 1) {
        return terminal_screen(out, err);
    }
    struct buf shown;
    buf_init(&shown, SHOWN_MAX_BYTES);
    buf_push_text(&shown, log_erasing());
    terminal_push_shown(&shown, buf_text(out), out->len);
    int rc = terminal_screen(&shown, err);
    buf_release(&shown);
    return rc;
}

bool terminal_colours(int fd)
{
    const char *none = getenv("NO_COLOR");
    const char *force = getenv("CLICOLOR_FORCE");
    const char *kind = getenv("TERM");
    if (force != NULL && *force != '\0' && strcmp(force, "0") != 0) {
        return true;
    }
    return (none == NULL || *none == '\0') && kind != NULL && strcmp(kind, "dumb") != 0 &&
           isatty(fd) == 1;
}

void terminal_push(struct buf *out, bool colours, enum colour colour, const char *text)
{
    static const char *const codes[] = {
        [COLOUR_GREEN] = "32", [COLOUR_YELLOW] = "33", [COLOUR_RED] = "31", [COLOUR_BOLD] = "1"};
    if (colours) {
        buf_printf(out, "\033[%sm%s\033[0m", codes[colour], text);
    } else {
        buf_push_text(out, text);
    }
}

void terminal_push_safe(struct buf *out, const char *bytes, size_t len)
{
    char escaped[TEXT_ESCAPED_BYTES];
    for (size_t used; len > 0; bytes += used, len -= used) {
        size_t n = text_escape_character(escaped, bytes, len, &used);
        buf_push(out, bytes[0] == '\\' ? bytes : escaped, bytes[0] == '\\' ? 1 : n);
    }
}

static void terminal_push_line(struct buf *out, const char *before, const char *text)
{
    buf_push_text(out, before);
    terminal_push_safe(out, text, strlen(text));
    buf_push_char(out, '\n');
}

static void terminal_write_block(struct buf *block)
{
    log_write(buf_text(block), block->len);
    buf_release(block);
}

void terminal_error(const char *pipeline, const struct err *e)
{
    struct buf block;
    struct err named = *e;
    buf_init(&block, BLOCK_BYTES);
    terminal_push(&block, terminal_colours(STDERR_FILENO), COLOUR_RED, "rowferry:");
    if (pipeline != NULL) {
        err_name_pipeline(&named, pipeline);
        buf_printf(&block, " pipeline \"%s\":", pipeline);
    }
    terminal_push_line(&block, " ", e->message);
    if (e->detail[0] != '\0') {
        terminal_push_line(&block, "detail: ", e->detail);
    }
    if (named.hint[0] != '\0') {
        struct buf hint;
        buf_init(&hint, BLOCK_BYTES);
        advice_push(&hint, named.hint);
        terminal_push_line(&block, "hint: ", buf_text(&hint));
        buf_release(&hint);
    }
    terminal_write_block(&block);
}

void terminal_print(const char *format, ...)
{
    struct buf block;
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0) {
        return;
    }
    buf_init(&block, BLOCK_BYTES);
    terminal_push_line(&block, "rowferry: ", text);
    free(text);
    terminal_write_block(&block);
}
