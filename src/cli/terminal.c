/* SPDX-License-Identifier: Apache-2.0 */
/* Writing to people. */
#include "terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/text.h"

#define BLOCK_BYTES (16 * 1024)

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        }
    }
    return true;
}

int terminal_result(const struct buf *out, struct err *err)
{
    if (out->failed) {
        return err_set(err, ERR_TRANSIENT, "the result is too large for the memory");
    }
    if (!write_all(STDOUT_FILENO, buf_text(out), out->len)) {
        return err_set(err, ERR_TRANSIENT, "could not write to standard output: %s",
                       strerror(errno));
    }
    return 0;
}

bool terminal_colours(int fd)
{
    const char *none = getenv("NO_COLOR");
    const char *kind = getenv("TERM");
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
    for (size_t i = 0; i < len; i++) {
        char escaped[TEXT_ESCAPED_BYTES];
        size_t used;
        unsigned hidden = text_hidden(bytes + i, len - i, &used);
        if (hidden != 0) {
            buf_printf(out, "\\u%04x", hidden);
            i += used - 1;
        } else if (bytes[i] == '\\') {
            buf_push_char(out, '\\');
        } else {
            buf_push(out, escaped, text_escape_byte(escaped, bytes[i]));
        }
    }
}

static void write_block(struct buf *block)
{
    /* nobody is left to be told that standard error cannot be written */
    (void)write_all(STDERR_FILENO, buf_text(block), block->len);
    buf_release(block);
}

void terminal_error(const char *pipeline, const struct err *e)
{
    struct buf block;
    buf_init(&block, BLOCK_BYTES);
    terminal_push(&block, terminal_colours(STDERR_FILENO), COLOUR_RED, "rowferry:");
    /* some errors are about the pipeline and name it themselves */
    if (pipeline != NULL && strncmp(e->message, "pipeline \"", 10) != 0) {
        buf_printf(&block, " pipeline \"%s\":", pipeline);
    }
    buf_push_char(&block, ' ');
    terminal_push_safe(&block, e->message, strlen(e->message));
    buf_push_char(&block, '\n');
    if (e->detail[0] != '\0') {
        buf_printf(&block, "    %s\n", e->detail);
    }
    if (e->hint[0] != '\0') {
        buf_printf(&block, "hint: %s\n", e->hint);
    }
    write_block(&block);
}

void terminal_say(const char *format, ...)
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
    buf_printf(&block, "rowferry: %s\n", text);
    free(text);
    write_block(&block);
}
