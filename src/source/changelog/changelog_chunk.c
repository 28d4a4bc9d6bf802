/* SPDX-License-Identifier: Apache-2.0 */
/* The statements of a page, chunk by chunk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changelog/changelog_private.h"
#include "rowferry/source/catalog/keytext.h"
#include "rows/keyarrays.h"

#define ARRAY_MAX_BYTES ((size_t)256 << 20)
#define BLOCK_ROWS 1200 /* of a block of 32 KiB, at most */
#define AIM_GROWTH 4    /* at most, from one chunk to the next, because row sizes vary */

static int changelog_chunk_send_commit(struct changelog *c, struct err *err)
{
    c->next_stage = STAGE_COMMIT;
    return reader_commit(&c->reader, err);
}

/* most_rows: 0 = any number. */
static int changelog_chunk_send(struct changelog *c, size_t most_rows, const char *sql,
                                const char *const *params, size_t count, struct err *err)
{
    const struct reader_form form = {c->column_count + 1, most_rows};
    c->next_stage = STAGE_ROWS;
    return unreadable_send(c->unreadable, &c->reader, form, c->column_count, sql, params, count,
                           err);
}

static bool changelog_chunk_by_blocks(const struct changelog *c)
{
    return c->kind == PAGE_BLOCKS;
}

/* --- chunks -------------------------------------------------------------------------------- */

static uint64_t *changelog_chunk_aim_of(struct changelog *c)
{
    return changelog_chunk_by_blocks(c) ? &c->blocks_aim : &c->keys_aim;
}

/* Adjusts the target so that the last chunk would have had chunk_bytes. */
static void changelog_chunk_adjust_aim(struct changelog *c)
{
    uint64_t *aim = changelog_chunk_aim_of(c);
    uint64_t units = c->chunk.to - c->chunk.from;
    double ratio =
        c->chunk.bytes > 0 ? (double)c->chunk_bytes / (double)c->chunk.bytes : AIM_GROWTH;
    double most = (double)*aim * AIM_GROWTH;
    double wanted = (double)units * ratio;
    wanted = wanted < most ? wanted : most;
    *aim = wanted < 1 ? 1 : (uint64_t)wanted;
}

/* Sets the next chunk to send; returns false at the end of the page. */
static bool changelog_chunk_next(struct changelog *c)
{
    struct chunk *chunk = &c->next_chunk;
    uint64_t left = chunk->end - chunk->to;
    uint64_t aim = c->keys_only ? left : *changelog_chunk_aim_of(c);
    chunk->from = chunk->to;
    chunk->to += left < aim ? left : aim;
    return left > 0;
}

static int changelog_chunk_send_blocks(struct changelog *c, struct err *err)
{
    char first[32];
    char end[32];
    const char *const params[] = {first, end};
    size_t rows = BLOCK_ROWS * (size_t)(c->next_chunk.to - c->next_chunk.from);
    snprintf(first, sizeof(first), "(%" PRIu64 ",0)", c->next_chunk.from);
    snprintf(end, sizeof(end), "(%" PRIu64 ",0)", c->next_chunk.to);
    return changelog_chunk_send(c, rows, c->sql.blocks, params, 2, err);
}

static int changelog_chunk_send_keys(struct changelog *c, struct err *err)
{
    struct keyarrays a;
    if (c->keys_only) {
        c->next_stage = STAGE_ROWS;
        return key_existence_send(&c->presence, &c->reader, &c->sql, &c->keys, c->table->key_count,
                                  err);
    }
    const struct chunk *chunk = &c->next_chunk;
    int rc = keyarrays_make(&a, &c->keys, chunk->from, chunk->to, c->table->key_count, err);
    if (rc == 0) {
        rc = changelog_chunk_send(c, 2 * (size_t)(chunk->to - chunk->from) + 1, c->sql.again,
                                  a.params, a.count, err);
    }
    keyarrays_release(&a);
    return rc;
}

static int changelog_chunk_send_nulls(struct changelog *c, struct err *err)
{
    int rc = changelog_chunk_send(c, 0, c->sql.nulls, NULL, 0, err);
    c->next_stage = STAGE_NULL_ROWS;
    return rc;
}

/* Sends the next chunk, else rows without a key if the log has entries for them, else the
 * commit. */
static int changelog_chunk_send_more(struct changelog *c, struct err *err)
{
    bool nulls_wait = c->next_stage != STAGE_NULL_ROWS && c->page.window.null_keys && !c->keys_only;
    if (changelog_chunk_next(c)) {
        return changelog_chunk_by_blocks(c) ? changelog_chunk_send_blocks(c, err)
                                            : changelog_chunk_send_keys(c, err);
    }
    return nulls_wait ? changelog_chunk_send_nulls(c, err) : changelog_chunk_send_commit(c, err);
}

/* Turns to the statement that was sent, and sends the next one, so that the server does not
 * pause. */
static int changelog_chunk_go_on(struct changelog *c, struct err *err)
{
    c->chunk = c->next_chunk;
    c->stage = c->next_stage;
    return c->stage == STAGE_COMMIT ? 0 : changelog_chunk_send_more(c, err);
}

static int changelog_chunk_send_chunks(struct changelog *c, uint64_t from, uint64_t end,
                                       struct err *err)
{
    c->next_chunk = (struct chunk){.from = from, .to = from, .end = end};
    c->next_stage = STAGE_CLOSED;
    int rc = changelog_chunk_send_more(c, err);
    return rc == 0 ? changelog_chunk_go_on(c, err) : rc;
}

int changelog_send_blocks(struct changelog *c, uint64_t from, uint64_t end, struct err *err)
{
    return changelog_chunk_send_chunks(c, from, end, err);
}

int changelog_send_nothing(struct changelog *c, struct err *err)
{
    int rc = changelog_chunk_send_commit(c, err);
    return rc == 0 ? changelog_chunk_go_on(c, err) : rc;
}

int changelog_send_keys(struct changelog *c, struct err *err)
{
    return changelog_chunk_send_chunks(c, 0, c->keys.count, err);
}

/* --- key ranges ---------------------------------------------------------------------------- */

/* Adds the range's own parameters: none, its key's parts or its value. */
static int changelog_chunk_range_begins(struct range_query *q, const struct position *at,
                                        size_t key_parts, struct err *err)
{
    size_t offsets[KEY_MAX_PARTS];
    switch (at->range) {
    case KEY_RANGE_AFTER:
        break;
    case KEY_RANGE_BEYOND:
        q->from = ROWSQL_BEYOND;
        q->params[q->count++] = at->key;
        return 0;
    default:
        q->from = ROWSQL_FIRST;
        return 0;
    }
    int rc = key_split(&q->parts, offsets, at->key, strlen(at->key), key_parts, err);
    for (size_t i = 0; i < key_parts && rc == 0; i++) {
        q->params[q->count++] = buf_text(&q->parts) + offsets[i];
    }
    q->from = ROWSQL_AFTER;
    return rc;
}

int changelog_range_query(struct range_query *q, const struct changelog *c, struct err *err)
{
    *q = (struct range_query){.count = 0};
    buf_init(&q->parts, ARRAY_MAX_BYTES);
    int rc = changelog_chunk_range_begins(q, &c->at, c->table->key_count, err);
    snprintf(q->limit, sizeof(q->limit), "%zu", c->page_rows);
    q->params[q->count++] = q->limit;
    if (c->at.until != NULL) {
        q->params[q->count++] = c->at.until;
    }
    q->sql = c->sql.range[q->from][c->at.until != NULL];
    return rc;
}

static int changelog_chunk_send_range(struct changelog *c, struct err *err)
{
    struct range_query q;
    if (c->at.range == KEY_RANGE_NULLS) {
        return changelog_chunk_send(c, 0, c->sql.nulls, NULL, 0, err);
    }
    int rc = changelog_range_query(&q, c, err);
    if (rc == 0) {
        rc = changelog_chunk_send(c, c->page_rows, q.sql, q.params, q.count, err);
    }
    buf_release(&q.parts);
    return rc;
}

int changelog_send_range(struct changelog *c, struct err *err)
{
    buf_reset(&c->last_key);
    c->next_chunk = (struct chunk){0};
    int rc = changelog_chunk_send_range(c, err);
    return rc == 0 ? changelog_chunk_go_on(c, err) : rc;
}

int changelog_expect_later(const struct position *at, const char *last, struct err *err)
{
    return at->range == KEY_RANGE_AFTER ? keytext_expect_later(at->key, last, err) : 0;
}

/* The position after a page by key ranges is known only at its end. */
static int changelog_chunk_reach_range(struct changelog *c, struct err *err)
{
    struct position *p = &c->reached;
    if (c->at.range == KEY_RANGE_NULLS) {
        p->range = KEY_RANGE_FIRST;
    } else if (c->page_rows_read == c->page_rows) {
        int rc = changelog_expect_later(&c->at, buf_text(&c->last_key), err);
        if (rc < 0) {
            return rc;
        }
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
    return 0;
}

/* --- between two statements ---------------------------------------------------------------- */

/* Sets the safepoint after the chunk. Rows without a key are read only at the page's end, so no
 * safepoint may pass their entries. */
static void changelog_chunk_mark(struct changelog *c)
{
    struct position *m = &c->marked;
    if (changelog_chunk_by_blocks(c)) {
        position_copy(m, &c->at);
        m->block = c->chunk.to;
    } else if (c->kind == PAGE_LOG && !c->page.window.null_keys) {
        const struct place *before = &c->befores.items[c->chunk.to];
        const char *target = c->at.target != NULL ? c->at.target : c->page.look.snapshot;
        position_release(m);
        *m = (struct position){.kind = POSITION_LOG,
                               .last = text_copy(c->at.last),
                               .target = text_copy(target),
                               .part = before->part,
                               .after_xid = before->xid,
                               .after_seq = before->seq};
    } else {
        return;
    }
    c->marks = true;
}

/* Prepares what follows the rows of the chunk. */
static void changelog_chunk_end(struct changelog *c)
{
    c->unsure = c->keys_only && !key_existence_end(&c->presence, &c->keys);
    bool deletes = !changelog_chunk_by_blocks(c) && c->kind != PAGE_LISTED && !c->unsure;
    c->gone = deletes ? c->chunk.from : 0;
    c->gone_end = deletes ? c->chunk.to : 0;
    if (!c->keys_only) {
        changelog_chunk_adjust_aim(c);
    }
    if (c->chunk.to < c->chunk.end) {
        changelog_chunk_mark(c);
    }
}

int changelog_send_next(struct changelog *c, struct err *err)
{
    int rc = 0;
    if (c->kind == PAGE_KEYS) {
        rc = changelog_chunk_reach_range(c, err);
    } else if (c->stage == STAGE_ROWS) {
        changelog_chunk_end(c);
    }
    rc = rc == 0 ? changelog_chunk_go_on(c, err) : rc;
    c->gone_then = c->stage;
    c->stage = STAGE_GONE;
    return rc;
}
