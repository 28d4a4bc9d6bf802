/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the dead letters of the pipeline's generation. */
#include "rowferry/state/deadletter.h"

#include <inttypes.h>
#include <string.h>

#include "database.h"

int deadletter_count(struct state *s, int64_t *count, struct err *err)
{
    sqlite3_stmt *row;
    *count = 0;
    int result = sql_statement(s, SQL_LETTERS_COUNT, &row, err);
    if (result == 0) {
        result = sql_step(s, row, err);
    }
    if (result > 0) {
        *count = sqlite3_column_int64(row, 0);
        sql_end(row);
        result = 0;
    }
    return result;
}

static struct dead_letter letter_of(sqlite3_stmt *row)
{
    struct dead_letter letter = {.key = sql_text(row, 0)};
    letter.key_len = (size_t)sqlite3_column_bytes(row, 0);
    letter.kind = (enum operation_kind)sqlite3_column_int(row, 1);
    letter.reason = sql_text(row, 2);
    letter.http_status = sqlite3_column_int(row, 3);
    letter.version = sqlite3_column_int64(row, 4);
    letter.first_us = sqlite3_column_int64(row, 5);
    letter.last_us = sqlite3_column_int64(row, 6);
    letter.attempts = sqlite3_column_int64(row, 7);
    return letter;
}

int deadletter_each(struct state *s, int (*each)(void *context, const struct dead_letter *letter),
                    void *context, struct err *err)
{
    sqlite3_stmt *rows;
    int result = sql_statement(s, SQL_LETTERS_EACH, &rows, err);
    if (result != 0) {
        return result;
    }
    while ((result = sql_step(s, rows, err)) > 0) {
        struct dead_letter letter = letter_of(rows);
        int verdict = each(context, &letter);
        if (verdict < 0) {
            sql_end(rows);
            return verdict;
        }
    }
    return result;
}

uint64_t deadletter_revision(const struct state *s)
{
    return s->letters_revision + 1;
}

/* The character at *at of valid UTF-8, which is not ASCII; *at moves behind it. */
static uint32_t next_character(const unsigned char **at)
{
    const unsigned char *bytes = *at;
    size_t len = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    uint32_t code = bytes[0] & (0x7fU >> len);
    for (size_t i = 1; i < len; i++) {
        code = code << 6 | (bytes[i] & 0x3fU);
    }
    *at += len;
    return code;
}

/* Only inside of JSON strings is anything else than ASCII. */
static void push_ascii(struct buf *out, const char *json)
{
    const unsigned char *at = (const unsigned char *)json;
    while (*at != '\0') {
        if (*at < 0x80) {
            buf_push_char(out, (char)*at++);
            continue;
        }
        uint32_t code = next_character(&at);
        if (code >= 0x10000) {
            buf_printf(out, "\\u%04" PRIx32, 0xd800 + ((code - 0x10000) >> 10));
            code = 0xdc00 + ((code - 0x10000) & 0x3ff);
        }
        buf_printf(out, "\\u%04" PRIx32, code);
    }
}

/* The source may keep its texts in an encoding that has not every character. */
static void push_letters(struct buf *out, const char *json)
{
    struct buf valid;
    buf_init(&valid, out->max_bytes);
    text_valid(&valid, json, strlen(json));
    push_ascii(out, buf_text(&valid));
    buf_release(&valid);
}

int deadletter_export(struct state *s, struct buf *out, struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(s, SQL_LETTERS_EXPORT, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(row, 2, DEADLETTER_EXPORT_MOST);
    result = sql_step(s, row, err);
    if (result > 0) {
        push_letters(out, sql_text(row, 0));
        sql_end(row);
        result = 0;
    }
    return result;
}
