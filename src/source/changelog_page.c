/* SPDX-License-Identifier: Apache-2.0 */
/* Within a page of the change log: rows, then keys without a row, then the end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "changelog_private.h"
#include "rowferry/document/key.h"

#define ARRAY_MAX_BYTES ((size_t)256 << 20)

static int send(struct changelog *c, const char *sql, const char *const *params, size_t count,
                struct err *err)
{
    c->stage = STAGE_ROWS;
    c->page_rows_read = 0;
    return reader_send(&c->reader, sql, params, count, err);
}

static int send_commit(struct changelog *c, struct err *err)
{
    c->stage = STAGE_GONE;
    c->gone = 0;
    return reader_send(&c->reader, "commit", NULL, 0, err);
}

int changelog_send_blocks(struct changelog *c, uint64_t from, uint64_t to, struct err *err)
{
    char first[32];
    char end[32];
    const char *const params[] = {first, end};
    if (from >= to) {
        return send_commit(c, err);
    }
    snprintf(first, sizeof(first), "(%" PRIu64 ",0)", from);
    snprintf(end, sizeof(end), "(%" PRIu64 ",0)", to);
    return send(c, c->sql.blocks, params, 2, err);
}

static int send_after(struct changelog *c, const char *limit, struct err *err)
{
    struct buf parts;
    size_t offsets[KEY_MAX_PARTS];
    const char *params[KEY_MAX_PARTS + 1];
    const char *key = c->at.key;
    size_t count = c->table->key_count;
    buf_init(&parts, ARRAY_MAX_BYTES);
    int rc = key_split(&parts, offsets, key, strlen(key), count, err);
    if (rc == 0) {
        for (size_t i = 0; i < count; i++) {
            params[i] = buf_text(&parts) + offsets[i];
        }
        params[count] = limit;
        rc = send(c, c->sql.after, params, count + 1, err);
    }
    buf_release(&parts);
    return rc;
}

int changelog_send_range(struct changelog *c, struct err *err)
{
    char limit[24];
    const char *const params[] = {limit};
    snprintf(limit, sizeof(limit), "%zu", c->page_rows);
    buf_reset(&c->last_key);
    switch (c->at.range) {
    case KEY_RANGE_NULLS:
        return send(c, c->sql.nulls, NULL, 0, err);
    case KEY_RANGE_FIRST:
        return send(c, c->sql.first, params, 1, err);
    default:
        return send_after(c, limit, err);
    }
}

/* One array of texts for each part of the key. */
static int push_arrays(struct changelog *c, struct buf *arrays, struct err *err)
{
    struct buf parts;
    size_t offsets[KEY_MAX_PARTS];
    size_t count = c->table->key_count;
    int rc = 0;
    buf_init(&parts, ARRAY_MAX_BYTES);
    for (size_t i = 0; i < count; i++) {
        buf_init(&arrays[i], ARRAY_MAX_BYTES);
        buf_push_literal(&arrays[i], "{");
    }
    for (size_t i = 0; i < c->keys.count && rc == 0; i++) {
        struct span key = keyset_get(&c->keys, i);
        buf_reset(&parts);
        rc = key_split(&parts, offsets, key.data, key.len, count, err);
        for (size_t p = 0; p < count && rc == 0; p++) {
            buf_push_text(&arrays[p], i > 0 ? "," : "");
            pg_push_array_item(&arrays[p], buf_text(&parts) + offsets[p]);
        }
    }
    buf_release(&parts);
    return rc;
}

int changelog_send_keys(struct changelog *c, struct err *err)
{
    struct buf arrays[KEY_MAX_PARTS];
    const char *params[KEY_MAX_PARTS];
    size_t count = c->table->key_count;
    if (c->keys.count == 0 && !c->page.window.null_keys) {
        return send_commit(c, err);
    }
    int rc = push_arrays(c, arrays, err);
    for (size_t i = 0; i < count; i++) {
        buf_push_literal(&arrays[i], "}");
        params[i] = buf_text(&arrays[i]);
        if (rc == 0 && arrays[i].failed) {
            rc = err_set(err, ERR_REJECTED, "the keys of one page are too long");
        }
    }
    if (rc == 0) {
        rc = send(c, c->sql.again, params, count, err);
    }
    for (size_t i = 0; i < count; i++) {
        buf_release(&arrays[i]);
    }
    return rc;
}

/* Whether a row that came is one that was asked for: 1, 0, or an error where it came before. */
static int wanted(struct changelog *c, struct span key, struct err *err)
{
    if (c->kind != PAGE_LOG && c->kind != PAGE_ASKED) {
        return 1;
    }
    switch (keyset_mark(&c->keys, key)) {
    case KEYSET_FIRST:
        return 1;
    case KEYSET_STRANGER: /* equal for the table, another text: has an entry of its own */
        return 0;
    default:
        err_set(err, ERR_REJECTED, "the key \"%.*s\" stands for two rows of %s",
                (int)(key.len < 200 ? key.len : 200), key.data, c->table->quoted);
        return err_hint(err, "name columns as \"key\" that identify a row");
    }
}

static int give_row(struct changelog *c, const struct row *row, struct change *change,
                    struct err *err)
{
    const struct value *key = &row->values[0];
    int rc = 1;
    *change = (struct change){.kind = CHANGE_ROW, .row = *row, .key_null = key->null};
    if (!key->null) {
        change->key = span_make(key->text, key->len);
        rc = wanted(c, change->key, err);
    }
    if (rc == 1) {
        c->page_rows_read++;
        if (c->kind == PAGE_KEYS && !key->null) {
            buf_reset(&c->last_key);
            buf_push(&c->last_key, key->text, key->len);
        }
    }
    return rc;
}

/* The position after a page by key ranges is known at its end only. */
static void reach_range(struct changelog *c)
{
    struct position *p = &c->reached;
    if (c->kind != PAGE_KEYS) {
        return;
    }
    if (c->at.range == KEY_RANGE_NULLS) {
        p->range = KEY_RANGE_FIRST;
    } else if (c->page_rows_read == c->page_rows) {
        free(p->key);
        p->range = KEY_RANGE_AFTER;
        p->key = text_copy(buf_text(&c->last_key));
    } else {
        char *last = p->last;
        p->last = NULL;
        position_release(p);
        p->kind = POSITION_LOG;
        p->last = last;
    }
}

/* After the last row: rows without a key where the log has some, else the end. */
static int after_rows(struct changelog *c, struct err *err)
{
    if (c->stage == STAGE_ROWS && c->kind == PAGE_LOG && c->page.window.null_keys) {
        int rc = send(c, c->sql.nulls, NULL, 0, err);
        c->stage = STAGE_NULL_ROWS;
        return rc;
    }
    reach_range(c);
    return send_commit(c, err);
}

/* True where it gave one. */
static bool give_gone(struct changelog *c, struct change *change)
{
    while (c->gone < c->keys.count) {
        size_t i = c->gone++;
        if (!c->keys.items[i].found) {
            *change = (struct change){.kind = CHANGE_GONE, .key = keyset_get(&c->keys, i)};
            return true;
        }
    }
    return false;
}

static void end_page(struct changelog *c, struct change *change)
{
    bool asked = c->kind == PAGE_ASKED;
    bool copying = c->kind == PAGE_BLOCKS || c->kind == PAGE_KEYS;
    *change = (struct change){.kind = CHANGE_PAGE, .copying = copying, .drained = c->drained};
    if (!asked) {
        buf_reset(&c->reached_text);
        position_print(&c->reached_text, &c->reached);
        change->position = buf_text(&c->reached_text);
        position_copy(&c->at, &c->reached);
    }
    if (copying) {
        c->rows_read += (int64_t)c->page_rows_read;
    }
    c->stage = STAGE_CLOSED;
}

/* One step: 1 where `change` was filled, 0 to go on. */
static int step(struct changelog *c, struct change *change, struct err *err)
{
    struct row row;
    if (c->stage == STAGE_GONE) {
        bool gave = (c->kind == PAGE_LOG || c->kind == PAGE_ASKED) && give_gone(c, change);
        c->stage = gave ? STAGE_GONE : STAGE_COMMIT;
        return gave;
    }
    int rc = reader_next(&c->reader, &row, err);
    if (rc < 0) {
        return err_context(err, "could not read %s", c->table->quoted);
    }
    if (rc == READER_WAIT) {
        *change = (struct change){.kind = CHANGE_WAIT};
        return 1;
    }
    if (rc == READER_ROW) {
        return give_row(c, &row, change, err);
    }
    if (c->stage == STAGE_COMMIT) {
        end_page(c, change);
        return 1;
    }
    return after_rows(c, err);
}

int changelog_next(struct capture *capture, struct change *change, struct err *err)
{
    struct changelog *c = (struct changelog *)capture;
    int rc = 0;
    if (c->stage == STAGE_CLOSED) {
        return err_set(err, ERR_INTERNAL, "next was called between pages");
    }
    while (rc == 0) {
        rc = step(c, change, err);
    }
    return rc < 0 ? rc : 0;
}
