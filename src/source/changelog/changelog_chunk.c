/* SPDX-License-Identifier: Apache-2.0 */
/* The statements of a page, chunk by chunk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changelog/changelog_page.h"
#include "rowferry/base/text.h"
#include "rowferry/source/catalog/keytext.h"
#include "rows/keyarrays.h"

#define ARRAY_MAX_BYTES ((size_t)256 << 20)
#define BLOCK_ROWS 1200 /* of a block of 32 KiB, at most */
#define TARGET_GROWTH 4 /* at most, from one chunk to the next, because row sizes vary */

static int changelog_chunk_send_commit(struct changelog_page *p, struct err *err)
{
    p->chunks.next_stage = STAGE_COMMIT;
    return reader_commit(&p->reader, err);
}

/* most_rows: 0 = any number. */
static int changelog_chunk_send(struct changelog_page *p, size_t most_rows, const char *sql,
                                const char *const *params, size_t count, struct err *err)
{
    const struct reader_form form = {p->options->column_count + 1, most_rows};
    p->chunks.next_stage = STAGE_ROWS;
    return unreadable_send(p->unreadable, &p->reader, form, p->options->column_count, sql, params,
                           count, err);
}

static bool changelog_chunk_by_blocks(const struct changelog_page *p)
{
    return p->kind == PAGE_BLOCKS;
}

/* --- chunks -------------------------------------------------------------------------------- */

static uint64_t *changelog_chunk_target_of(struct changelog_page *p)
{
    return changelog_chunk_by_blocks(p) ? &p->chunks.block_target : &p->chunks.key_target;
}

uint64_t changelog_chunk_target(uint64_t target, uint64_t units, size_t bytes, size_t chunk_bytes)
{
    double ratio = bytes > 0 ? (double)chunk_bytes / (double)bytes : TARGET_GROWTH;
    double most = (double)target * TARGET_GROWTH;
    double wanted = (double)units * ratio;
    wanted = wanted < most ? wanted : most;
    return wanted < 1 ? 1 : (uint64_t)wanted;
}

/* Sets the next chunk to send; returns false at the end of the page. */
static bool changelog_chunk_next(struct changelog_page *p)
{
    struct chunk *chunk = &p->chunks.next;
    uint64_t left = chunk->end - chunk->to;
    uint64_t target = p->content == CONTENT_GONE ? left : *changelog_chunk_target_of(p);
    chunk->from = chunk->to;
    chunk->to += left < target ? left : target;
    return left > 0;
}

static int changelog_chunk_send_blocks(struct changelog_page *p, struct err *err)
{
    char first[32];
    char end[32];
    const char *const params[] = {first, end};
    size_t rows = BLOCK_ROWS * (size_t)(p->chunks.next.to - p->chunks.next.from);
    snprintf(first, sizeof(first), "(%" PRIu64 ",0)", p->chunks.next.from);
    snprintf(end, sizeof(end), "(%" PRIu64 ",0)", p->chunks.next.to);
    return changelog_chunk_send(p, rows, p->catalogue->sql.blocks, params, 2, err);
}

static int changelog_chunk_send_keys(struct changelog_page *p, struct err *err)
{
    struct keyarrays a;
    if (p->content == CONTENT_GONE) {
        p->chunks.next_stage = STAGE_ROWS;
        return key_existence_send(&p->existence, &p->reader, &p->catalogue->sql, &p->keys.set,
                                  p->catalogue->table->key_count, err);
    }
    const struct chunk *chunk = &p->chunks.next;
    int rc = keyarrays_make(&a, &p->keys.set, chunk->from, chunk->to,
                            p->catalogue->table->key_count, err);
    if (rc == 0) {
        rc = changelog_chunk_send(p, 2 * (size_t)(chunk->to - chunk->from) + 1,
                                  p->catalogue->sql.again, a.params, a.count, err);
    }
    keyarrays_release(&a);
    return rc;
}

/* Sends the next chunk, else rows without a key if the log has entries for them, else the
 * commit. */
static int changelog_chunk_send_more(struct changelog_page *p, struct err *err)
{
    bool nulls_wait = p->chunks.next_stage != STAGE_NULL_ROWS && p->page.stretch.null_keys &&
                      p->content != CONTENT_GONE;
    if (changelog_chunk_next(p)) {
        return changelog_chunk_by_blocks(p) ? changelog_chunk_send_blocks(p, err)
                                            : changelog_chunk_send_keys(p, err);
    }
    if (!nulls_wait) {
        return changelog_chunk_send_commit(p, err);
    }
    int rc = changelog_chunk_send(p, 0, p->catalogue->sql.nulls, NULL, 0, err);
    p->chunks.next_stage = STAGE_NULL_ROWS;
    return rc;
}

/* Turns to the statement that was sent, and sends the next one, so that the server does not
 * pause. */
static int changelog_chunk_go_on(struct changelog_page *p, struct err *err)
{
    p->chunks.now = p->chunks.next;
    p->stage = p->chunks.next_stage;
    return p->stage == STAGE_COMMIT ? 0 : changelog_chunk_send_more(p, err);
}

static int changelog_chunk_send_chunks(struct changelog_page *p, uint64_t from, uint64_t end,
                                       struct err *err)
{
    p->chunks.next = (struct chunk){.from = from, .to = from, .end = end};
    p->chunks.next_stage = STAGE_CLOSED;
    int rc = changelog_chunk_send_more(p, err);
    return rc == 0 ? changelog_chunk_go_on(p, err) : rc;
}

/* If the table was rewritten, rows have moved to other blocks: begins again. */
int changelog_chunk_begin_blocks(struct changelog_page *p, struct err *err)
{
    const struct page_look *l = &p->page.look;
    struct position *at = &p->position->at;
    if (at->filenode != l->filenode) {
        at->filenode = l->filenode;
        at->block = 0;
        at->blocks = l->blocks;
        p->position->rows_read = 0;
    }
    uint64_t left = at->blocks - at->block;
    position_copy(&p->end, at);
    p->end.block += left < p->options->page_blocks ? left : p->options->page_blocks;
    if (p->end.block >= at->blocks) {
        p->end.kind = POSITION_LOG;
    }
    return changelog_chunk_send_chunks(p, at->block, p->end.block, err);
}

int changelog_chunk_begin_nothing(struct changelog_page *p, struct err *err)
{
    int rc = changelog_chunk_send_commit(p, err);
    return rc == 0 ? changelog_chunk_go_on(p, err) : rc;
}

int changelog_chunk_begin_keys(struct changelog_page *p, struct err *err)
{
    return changelog_chunk_send_chunks(p, 0, p->keys.set.count, err);
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

int changelog_chunk_range_query(struct range_query *q, const struct changelog_page *p,
                                struct err *err)
{
    *q = (struct range_query){.count = 0};
    buf_init(&q->parts, ARRAY_MAX_BYTES);
    int rc = changelog_chunk_range_begins(q, &p->position->at, p->catalogue->table->key_count, err);
    snprintf(q->limit, sizeof(q->limit), "%zu", p->options->page_rows);
    q->params[q->count++] = q->limit;
    if (p->position->at.until != NULL) {
        q->params[q->count++] = p->position->at.until;
    }
    q->sql = p->catalogue->sql.range[q->from][p->position->at.until != NULL];
    return rc;
}

static int changelog_chunk_send_range(struct changelog_page *p, struct err *err)
{
    struct range_query q;
    if (p->position->at.range == KEY_RANGE_NULLS) {
        return changelog_chunk_send(p, 0, p->catalogue->sql.nulls, NULL, 0, err);
    }
    int rc = changelog_chunk_range_query(&q, p, err);
    if (rc == 0) {
        rc = changelog_chunk_send(p, p->options->page_rows, q.sql, q.params, q.count, err);
    }
    buf_release(&q.parts);
    return rc;
}

int changelog_chunk_begin_range(struct changelog_page *p, struct err *err)
{
    position_copy(&p->end, &p->position->at);
    buf_reset(&p->last_key);
    p->chunks.next = (struct chunk){0};
    int rc = changelog_chunk_send_range(p, err);
    return rc == 0 ? changelog_chunk_go_on(p, err) : rc;
}

void changelog_chunk_set_key(struct position *out, const struct position *at, const char *last)
{
    position_copy(out, at);
    free(out->key);
    out->range = KEY_RANGE_AFTER;
    out->key = text_copy(last);
}

int changelog_chunk_reach_key(struct changelog_page *p, const char *last, struct err *err)
{
    const struct position *at = &p->position->at;
    int rc = at->range == KEY_RANGE_AFTER ? keytext_expect_later(at->key, last, err) : 0;
    if (rc == 0) {
        changelog_chunk_set_key(&p->end, at, last);
    }
    return rc;
}

void changelog_chunk_reach_log(struct changelog_page *p)
{
    position_release(&p->end);
    p->end.kind = POSITION_LOG;
    p->end.last = text_copy(p->position->at.last);
}

/* The position after a page by key ranges is known only at its end. */
static int changelog_chunk_reach_range(struct changelog_page *p, struct err *err)
{
    struct position *end = &p->end;
    if (end->range == KEY_RANGE_NULLS) {
        end->range = KEY_RANGE_FIRST;
    } else if (p->rows == p->options->page_rows) {
        return changelog_chunk_reach_key(p, buf_text(&p->last_key), err);
    } else {
        changelog_chunk_reach_log(p);
    }
    return 0;
}

/* --- between two statements ---------------------------------------------------------------- */

/* Sets the safepoint after the chunk. Rows without a key are read only at the page's end, so no
 * safepoint may pass their entries. */
static void changelog_chunk_mark(struct changelog_page *p)
{
    struct position *m = &p->safepoint.position;
    if (changelog_chunk_by_blocks(p)) {
        position_copy(m, &p->position->at);
        m->block = p->chunks.now.to;
    } else if (p->kind == PAGE_LOG && !p->page.stretch.null_keys) {
        changelog_list_place(p, p->keys.places.items[p->chunks.now.to], m);
    } else {
        return;
    }
    p->safepoint.due = true;
}

/* Prepares what follows the rows of the chunk. */
static void changelog_chunk_end(struct changelog_page *p)
{
    const struct chunk *done = &p->chunks.now;
    p->unfinished = p->content == CONTENT_GONE && !key_existence_end(&p->existence, &p->keys.set);
    bool deletes = !changelog_chunk_by_blocks(p) && p->kind != PAGE_LISTED && !p->unfinished;
    p->keys.gone = deletes ? done->from : 0;
    p->keys.gone_end = deletes ? done->to : 0;
    if (p->content != CONTENT_GONE) {
        uint64_t *target = changelog_chunk_target_of(p);
        *target = changelog_chunk_target(*target, done->to - done->from, done->bytes,
                                         p->options->chunk_bytes);
    }
    if (done->to < done->end) {
        changelog_chunk_mark(p);
    }
}

int changelog_chunk_send_next(struct changelog_page *p, struct err *err)
{
    int rc = 0;
    if (p->kind == PAGE_RANGE) {
        rc = changelog_chunk_reach_range(p, err);
    } else if (p->stage == STAGE_ROWS) {
        changelog_chunk_end(p);
    }
    rc = rc == 0 ? changelog_chunk_go_on(p, err) : rc;
    p->keys.then = p->stage;
    p->stage = STAGE_GONE;
    return rc;
}
