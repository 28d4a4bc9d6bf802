/* SPDX-License-Identifier: Apache-2.0 */
/* Only what is a command gets the file, because "rowferry" also begins sentences. */
#include "output/advice.h"

#include <string.h>

#include "output/terminal.h"
#include "rowferry/document/json/record.h"

#define ADVICE_BYTES ((size_t)64 * 1024)
#define PROGRAM "rowferry "
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+,:@%"

static const char *advice_config; /* null: none */
static bool (*advice_is_command)(const char *text);

void advice_use_config(const char *path, bool (*is_command)(const char *text))
{
    advice_config = path;
    advice_is_command = is_command;
}

static void advice_push_quoted(struct buf *out, const char *text)
{
    if (text[strspn(text, PLAIN)] == '\0') {
        buf_push_text(out, text);
        return;
    }
    buf_push_char(out, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            buf_push_text(out, "'\\''");
        } else {
            buf_push_char(out, *text);
        }
    }
    buf_push_char(out, '\'');
}

bool advice_push_command(struct buf *out, const char *hint)
{
    bool run = strncmp(hint, "run: ", strlen("run: ")) == 0;
    const char *colon = run ? hint + strlen("run") : strstr(hint, ": " PROGRAM);
    if (colon == NULL) {
        return false;
    }
    const char *command = colon + strlen(": ");
    terminal_push_safe(out, command, strcspn(command, ";"));
    return true;
}

void advice_push(struct buf *out, const char *text)
{
    const char *at = text;
    while (advice_config != NULL && (at = strstr(at, PROGRAM)) != NULL) {
        at += strlen(PROGRAM);
        if (advice_is_command(at)) {
            buf_push(out, text, (size_t)(at - text));
            buf_push_literal(out, "-c ");
            advice_push_quoted(out, advice_config);
            buf_push_char(out, ' ');
            text = at;
        }
    }
    buf_push_text(out, text);
}

void advice_record(struct buf *out, const char *name, const char *text)
{
    struct buf typed;
    buf_init(&typed, ADVICE_BYTES);
    advice_push(&typed, text != NULL ? text : "");
    record_text(out, name, text != NULL ? buf_text(&typed) : NULL);
    buf_release(&typed);
}
