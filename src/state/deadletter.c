/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the dead letters of the pipeline's generation. */
#include "rowferry/state/deadletter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"

#define PAGE_LETTERS 200

int deadletter_count(struct state *s, int64_t *count, struct err *err)
{
    return sql_number(s, SQL_LETTERS_COUNT, NULL, count, err);
}

/* Copies all texts of the row. */
static struct dead_letter deadletter_letter_of(sqlite3_stmt *row)
{
    struct dead_letter letter = {.key_len = 0};
    const char *key = sql_text(row, 0);
    letter.key_len = (size_t)sqlite3_column_bytes(row, 0);
    letter.key = text_copy_span(span_make(key, letter.key_len));
    letter.kind = (enum operation_kind)sqlite3_column_int(row, 1);
    letter.reason = text_copy(sql_text(row, 2));
    letter.http_status = sqlite3_column_int(row, 3);
    letter.version = sqlite3_column_int64(row, 4);
    letter.first_us = sqlite3_column_int64(row, 5);
    letter.last_us = sqlite3_column_int64(row, 6);
    letter.attempts = sqlite3_column_int64(row, 7);
    letter.error_type = text_copy(sql_text(row, 8));
    return letter;
}

struct letter_page {
    struct dead_letter letters[PAGE_LETTERS];
    size_t count;
};

static void deadletter_free_text(const char *text)
{
    free((void *)(uintptr_t)text);
}

static void deadletter_page_drop(struct letter_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        deadletter_free_text(page->letters[i].key);
        deadletter_free_text(page->letters[i].reason);
        deadletter_free_text(page->letters[i].error_type);
    }
    page->count = 0;
}

/* Reads the next letters after `after` (null: from the beginning). */
static int deadletter_page_read(struct state *s, const struct dead_letter_filter *f,
                                const struct dead_letter *after, struct letter_page *page,
                                struct err *err)
{
    bool limited = f->limit > 0 && f->limit <= PAGE_LETTERS;
    struct sql_value from = INTEGER(f->since_us - 1);
    struct sql_value key = {.type = SQL_EMPTY_BLOB}; /* sorts after every text */
    if (after != NULL) {
        from = (struct sql_value)INTEGER(after->first_us);
        key = (struct sql_value)SPAN(span_make(after->key, after->key_len));
    }
    sqlite3_stmt *rows;
    int result =
        sql_query(s, SQL_LETTERS_EACH,
                  BIND(INTEGER(f->until_us != 0 ? f->until_us : INT64_MAX), STRING(f->reason),
                       STRING(f->key), INTEGER(limited ? f->limit : PAGE_LETTERS), from, key),
                  &rows, err);
    for (; result > 0; result = sql_step(s, rows, err)) {
        page->letters[page->count++] = deadletter_letter_of(rows);
    }
    return result;
}

/* Calls the callback for the page's letters and returns its last result. */
static int deadletter_page_report(const struct letter_page *page,
                                  int (*each)(void *context, const struct dead_letter *letter),
                                  void *context)
{
    int verdict = 0;
    for (size_t i = 0; verdict >= 0 && i < page->count; i++) {
        verdict = each(context, &page->letters[i]);
    }
    return verdict < 0 ? verdict : 0;
}

int deadletter_select(struct state *s, const struct dead_letter_filter *filter,
                      int (*each)(void *context, const struct dead_letter *letter), void *context,
                      struct err *err)
{
    struct dead_letter_filter left = *filter;
    struct letter_page *pages =
        mem_zero(2, sizeof(*pages)); /* the next page needs the last letter */
    struct letter_page *page = &pages[0];
    struct letter_page *last = &pages[1];
    bool limited = left.limit > 0;
    int result;
    do {
        struct letter_page *freed = last;
        last = page;
        page = freed;
        deadletter_page_drop(page);
        result = deadletter_page_read(
            s, &left, last->count > 0 ? &last->letters[last->count - 1] : NULL, page, err);
        result = result == 0 ? deadletter_page_report(page, each, context) : result;
        left.limit -= limited ? (int64_t)page->count : 0;
    } while (result == 0 && page->count == PAGE_LETTERS && (!limited || left.limit > 0));
    deadletter_page_drop(page);
    deadletter_page_drop(last);
    free(pages);
    return result;
}

int deadletter_each(struct state *s, int (*each)(void *context, const struct dead_letter *letter),
                    void *context, struct err *err)
{
    return deadletter_select(s, &(struct dead_letter_filter){0}, each, context, err);
}

int deadletter_groups(struct state *s, const struct dead_letter_filter *f,
                      int (*each)(void *context, const struct dead_letter_group *group),
                      void *context, struct err *err)
{
    sqlite3_stmt *rows;
    const struct sql_value *values =
        BIND(INTEGER(f->until_us != 0 ? f->until_us : INT64_MAX), STRING(f->reason), STRING(f->key),
             INTEGER(f->limit > 0 ? f->limit : -1), INTEGER(f->since_us));
    int result = sql_query(s, SQL_LETTERS_GROUPS, values, &rows, err);
    for (; result > 0; result = sql_step(s, rows, err)) {
        struct dead_letter_group group = {.error_type = sql_text(rows, 0),
                                          .never_sent = sqlite3_column_int(rows, 1) != 0,
                                          .count = sqlite3_column_int64(rows, 2),
                                          .first_us = sqlite3_column_int64(rows, 3),
                                          .last_us = sqlite3_column_int64(rows, 4)};
        int verdict = each(context, &group);
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

/* Escapes non-ASCII characters of valid UTF-8, which occur only inside JSON strings. */
static void deadletter_push_ascii(struct buf *out, struct span json)
{
    for (size_t at = 0, len; at < json.len; at += len) {
        len = text_character(json.data + at, json.len - at);
        uint32_t code = text_code_point(json.data + at, len);
        if (code < 0x80) {
            buf_push_char(out, (char)code);
            continue;
        }
        if (code >= 0x10000) {
            buf_printf(out, "\\u%04" PRIx32, 0xd800 + ((code - 0x10000) >> 10));
            code = 0xdc00 + ((code - 0x10000) & 0x3ff);
        }
        buf_printf(out, "\\u%04" PRIx32, code);
    }
}

/* The source may use an encoding that lacks some characters, so the text is ASCII. */
static void deadletter_push_letters(struct buf *out, const char *json)
{
    struct buf valid;
    buf_init(&valid, out->max_bytes);
    text_valid(&valid, json, strlen(json));
    deadletter_push_ascii(out, span_make(buf_text(&valid), valid.len));
    out->failed = out->failed || valid.failed;
    buf_release(&valid);
}

int deadletter_export(struct state *s, struct buf *out, struct err *err)
{
    sqlite3_stmt *row;
    int64_t total;
    size_t before = out->len;
    int result = deadletter_count(s, &total, err);
    if (result != 0) {
        return result;
    }
    result = sql_query(s, SQL_LETTERS_EXPORT, BIND(INTEGER(DEADLETTER_EXPORT_MOST)), &row, err);
    if (result > 0) {
        deadletter_push_letters(out, sql_text(row, 0));
        sql_end(row);
        result = 0;
    }
    if (out->failed) { /* store at least their number */
        buf_truncate(out, before);
        buf_printf(out, "{\"total\":%" PRId64 "}", total);
    }
    return result;
}
