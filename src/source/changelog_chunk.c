/* SPDX-License-Identifier: Apache-2.0 */
/* The statements of a page, chunk by chunk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "changelog_private.h"
#include "keyarrays.h"

#define ARRAY_MAX_BYTES ((size_t)256 << 20)
#define AIM_GROWTH 4 /* at most, from one chunk to the next: rows differ */

static int send_commit(struct changelog *c, struct err *err)
{
    c->stage = STAGE_COMMIT;
    return reader_send(&c->reader, "commit", NULL, 0, err);
}

static int send(struct changelog *c, const char *sql, const char *const *params, size_t count,
                struct err *err)
{
    c->stage = STAGE_ROWS;
    return reader_send(&c->reader, sql, params, count, err);
}

static bool by_blocks(const struct changelog *c)
{
    return c->kind == PAGE_BLOCKS;
}

/* --- chunks -------------------------------------------------------------------------------- */

static uint64_t *aim_of(struct changelog *c)
{
    return by_blocks(c) ? &c->blocks_aim : &c->keys_aim;
}

/* As many as would have held chunk_bytes, after what the last chunk showed. */
static void adjust_aim(struct changelog *c)
{
    uint64_t *aim = aim_of(c);
    uint64_t units = c->chunk.to - c->chunk.from;
    double ratio =
        c->chunk.bytes > 0 ? (double)c->chunk_bytes / (double)c->chunk.bytes : AIM_GROWTH;
    double most = (double)*aim * AIM_GROWTH;
    double wanted = (double)units * ratio;
    wanted = wanted < most ? wanted : most;
    *aim = wanted < 1 ? 1 : (uint64_t)wanted;
}

/* Moves to the next chunk; false where the page has no more. */
static bool next_chunk(struct changelog *c)
{
    struct chunk *chunk = &c->chunk;
    uint64_t left = chunk->end - chunk->to;
    uint64_t aim = c->keys_only ? left : *aim_of(c);
    chunk->from = chunk->to;
    chunk->to += left < aim ? left : aim;
    chunk->bytes = 0;
    return left > 0;
}

static int send_blocks(struct changelog *c, struct err *err)
{
    char first[32];
    char end[32];
    const char *const params[] = {first, end};
    snprintf(first, sizeof(first), "(%" PRIu64 ",0)", c->chunk.from);
    snprintf(end, sizeof(end), "(%" PRIu64 ",0)", c->chunk.to);
    return send(c, c->sql.blocks, params, 2, err);
}

static int send_keys(struct changelog *c, struct err *err)
{
    struct keyarrays a;
    int rc = keyarrays_make(&a, &c->keys, c->chunk.from, c->chunk.to, c->table->key_count, err);
    if (rc == 0) {
        rc = send(c, c->keys_only ? c->sql.present : c->sql.again, a.params, a.count, err);
    }
    keyarrays_release(&a);
    return rc;
}

static int send_nulls(struct changelog *c, struct err *err)
{
    int rc = send(c, c->sql.nulls, NULL, 0, err);
    c->stage = STAGE_NULL_ROWS;
    return rc;
}

/* The next chunk, else rows without a key where the log has entries of some, else the end. */
static int send_more(struct changelog *c, struct err *err)
{
    bool nulls_wait = c->stage != STAGE_NULL_ROWS && c->page.window.null_keys && !c->keys_only;
    if (next_chunk(c)) {
        return by_blocks(c) ? send_blocks(c, err) : send_keys(c, err);
    }
    return nulls_wait ? send_nulls(c, err) : send_commit(c, err);
}

int changelog_send_blocks(struct changelog *c, uint64_t from, uint64_t end, struct err *err)
{
    c->chunk = (struct chunk){.from = from, .to = from, .end = end};
    return send_more(c, err);
}

int changelog_send_nothing(struct changelog *c, struct err *err)
{
    return send_commit(c, err);
}

int changelog_send_keys(struct changelog *c, struct err *err)
{
    c->chunk = (struct chunk){.end = c->keys.count};
    return send_more(c, err);
}

/* --- key ranges ---------------------------------------------------------------------------- */

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

/* The position after a page by key ranges is known at its end only. */
static void reach_range(struct changelog *c)
{
    struct position *p = &c->reached;
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

/* --- between two statements ---------------------------------------------------------------- */

/* Where reading would go on after the chunk. Rows without a key are read at the page's end only, so
 * no position may pass their entries before. */
static void mark_chunk(struct changelog *c)
{
    struct position *m = &c->marked;
    if (by_blocks(c)) {
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

int changelog_send_next(struct changelog *c, struct err *err)
{
    int rc = 0;
    if (c->kind == PAGE_KEYS) {
        reach_range(c);
        rc = send_commit(c, err);
    } else {
        if (c->stage == STAGE_ROWS) {
            bool deletes = !by_blocks(c) && c->kind != PAGE_LISTED;
            c->gone = deletes ? c->chunk.from : 0;
            c->gone_end = deletes ? c->chunk.to : 0;
            if (!c->keys_only) {
                adjust_aim(c);
            }
            if (c->chunk.to < c->chunk.end) {
                mark_chunk(c);
            }
        }
        rc = send_more(c, err);
    }
    c->gone_then = c->stage;
    c->stage = STAGE_GONE;
    return rc;
}
