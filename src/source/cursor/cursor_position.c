/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of a cursor as text. */
#include "cursor/cursor_position.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"

static char *cursor_position_copy_of(const char *text)
{
    return text != NULL ? text_copy(text) : NULL;
}

void cursor_position_release(struct cursor_position *p)
{
    free(p->until);
    free(p->value);
    free(p->key);
    *p = (struct cursor_position){0};
}

void cursor_position_copy(struct cursor_position *to, const struct cursor_position *from)
{
    struct cursor_position copy = *from;
    copy.until = cursor_position_copy_of(from->until);
    copy.value = cursor_position_copy_of(from->value);
    copy.key = cursor_position_copy_of(from->key);
    cursor_position_release(to);
    *to = copy;
}

void cursor_position_move(struct cursor_position *p, const char *value, const char *key)
{
    char *new_value = cursor_position_copy_of(value);
    char *new_key = cursor_position_copy_of(key);
    free(p->value);
    free(p->key);
    p->value = new_value;
    p->key = new_key;
}

static bool cursor_position_take(const char **at, const char *word)
{
    size_t len = strlen(word);
    bool found = strncmp(*at, word, len) == 0;
    *at += found ? len : 0;
    return found;
}

/* Reads up to the closing quote; returns null if the quote is missing or the value is empty. */
static char *cursor_position_take_value(const char **at)
{
    const char *end = strchr(*at, '"');
    if (end == NULL || end == *at) {
        return NULL;
    }
    char *value = text_copy_span(span_make(*at, (size_t)(end - *at)));
    *at = end + 1;
    return value;
}

/* Rejects 0, which is not a valid oid. */
static bool cursor_position_take_table(const char **at, struct cursor_position *p)
{
    char *end;
    unsigned long long oid = strtoull(*at, &end, 10);
    bool found = **at >= '1' && **at <= '9' && oid <= UINT32_MAX;
    p->table = found ? (uint32_t)oid : 0;
    *at = end;
    return found;
}

static bool cursor_position_take_key(const char **at, struct cursor_position *p)
{
    if (!cursor_position_take(at, " after ")) {
        return false;
    }
    p->key = text_copy(*at);
    *at += strlen(*at);
    return true;
}

static bool cursor_position_parse_fields(struct cursor_position *p, const char *at)
{
    if (!cursor_position_take(&at, "cursor")) {
        return false;
    }
    p->copy = cursor_position_take(&at, " copy");
    if (cursor_position_take(&at, " in ") && !cursor_position_take_table(&at, p)) {
        return false;
    }
    if (p->copy && cursor_position_take(&at, " until \"")) {
        p->until = cursor_position_take_value(&at);
        if (p->until == NULL) {
            return false;
        }
    }
    p->nulls = p->copy && cursor_position_take(&at, " null");
    if (p->nulls) {
        (void)!cursor_position_take_key(&at, p);
    } else if (cursor_position_take(&at, " \"")) {
        p->value = cursor_position_take_value(&at);
        if (p->value == NULL || !cursor_position_take_key(&at, p)) {
            return false;
        }
    }
    return *at == '\0';
}

int cursor_position_parse(struct cursor_position *out, const char *text, struct err *err)
{
    struct cursor_position p = {0};
    if (!cursor_position_parse_fields(&p, text)) {
        cursor_position_release(&p);
        return err_set(err, ERR_STATE, "\"%s\" is not a position of capture mode cursor", text);
    }
    cursor_position_release(out);
    *out = p;
    return 0;
}

void cursor_position_print(struct buf *out, const struct cursor_position *p)
{
    buf_push_text(out, p->copy ? "cursor copy" : "cursor");
    if (p->table != 0) {
        buf_printf(out, " in %" PRIu32, p->table);
    }
    if (p->until != NULL) {
        buf_printf(out, " until \"%s\"", p->until);
    }
    if (p->nulls) {
        buf_push_literal(out, " null");
    } else if (p->value != NULL) {
        buf_printf(out, " \"%s\"", p->value);
    }
    if (p->key != NULL) {
        buf_push_literal(out, " after ");
        buf_push_text(out, p->key);
    }
}
