/* SPDX-License-Identifier: Apache-2.0 */
/* The change log as a capture: moves from page to page. */
#include "rowferry/source/changelog/changelog.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "changelog/changelog_private.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "rowferry/source/pg/consumer_lock.h"
#include "sql/sqlquote.h"

#define POSITION_MAX_BYTES ((size_t)1 << 20)
#define KEYS_MAX_BYTES ((size_t)64 << 20)
#define PAGE_ROWS 5000
#define PAGE_BLOCKS_COUNT 1024
#define CHUNK_BYTES ((size_t)1 << 20)
#define ROW_GUESS_BYTES 2048 /* for the first chunk; later ones use the measured size */
#define BLOCK_GUESS_BYTES 32768
#define MIRROR_EVERY_MS 1000
#define PRUNE_AT_START_MS 2000 /* a scheduled run has no other time to prune after a large one */

static struct changelog *changelog_of(struct capture *capture)
{
    return (struct changelog *)capture;
}

int changelog_prepare(struct changelog *c, struct err *err)
{
    int rc = pg_recover(c->pg, err);
    c->stage = STAGE_CLOSED;
    changelog_forget_look(c);
    reader_release(&c->reader);
    c->reader.pg = c->pg;
    position_release(&c->pending);
    catalog_table_free(c->table);
    c->table = NULL;
    if (rc == 0) {
        rc = catalog_table(c->pg, &c->table, c->table_name, (const char *const *)c->key,
                           c->key_count, err);
    }
    if (rc == 0) {
        rc = catalog_capturable(c->table, err);
    }
    if (rc == 0 && c->query != NULL) {
        rc = query_describe_columns(c->pg, c->table, c->query, err);
    }
    if (rc == 0 && c->fingerprint != NULL && strcmp(c->fingerprint, c->table->fingerprint) != 0) {
        rc = err_set(err, ERR_TRANSIENT, "the definition of %s was changed just now",
                     c->table->quoted);
    }
    if (rc == 0) {
        rc = installed_require(c->pg, c->table, &c->installed, err);
    }
    if (rc == 0) {
        struct rowsql_input in = {c->table, (const char *const *)c->columns, c->column_count,
                                  c->where};
        rc = rowsql_build(&c->sql, &in, err);
    }
    if (rc == 0) {
        rc = changelog_prepare_query(c, err);
    }
    if (rc == 0) {
        changelog_name_watched(c);
    }
    c->consumer.name = c->name;
    c->consumer.capture = c->installed.capture;
    return rc == 0 ? consumer_connect(&c->consumer, c->pg, err) : rc;
}

/* Begins by blocks if rows can be found by their place without reading the table, else by keys. A
 * query may return rows without a key, whatever the table's constraints are. */
static void changelog_copy_begins(const struct changelog *c, const struct page_look *l,
                                  struct position *p)
{
    bool query = c->query != NULL;
    bool blocks = !query && c->table->is_heap && PQserverVersion(c->pg->conn) >= 140000;
    *p = (struct position){.kind = blocks ? POSITION_BLOCKS : POSITION_KEYS,
                           .last = text_copy(l->snapshot),
                           .filenode = l->filenode,
                           .blocks = l->blocks,
                           .range = c->table->key_not_null && !query ? KEY_RANGE_FIRST
                                                                     : KEY_RANGE_NULLS};
}

/* The row is committed before the position is taken, so all later entries are kept. */
int changelog_note_position(struct changelog *c, struct err *err)
{
    struct page_look look = {0};
    consumer_forget(&c->consumer);
    for (size_t i = 0; i < c->depends.count; i++) {
        consumer_forget(&c->depends.items[i].consumer);
    }
    int rc = changelog_look_now(c, &look, err);
    if (rc == 0) {
        rc = consumer_register(&c->consumer, &look, err);
    }
    if (rc == 0) {
        rc = depend_register(&c->depends, err);
    }
    if (rc == 0) {
        rc = changelog_look_now(c, &look, err);
    }
    if (rc == 0) {
        rc = changelog_check_first(c, &look, err);
    }
    if (rc == 0) {
        position_release(&c->at);
        changelog_copy_begins(c, &look, &c->at);
        c->at.timeline = c->consumer.timeline;
        c->at.since = c->consumer.since;
        c->at.table = c->table->oid;
        c->at.database = c->consumer.database;
        c->at.life = c->consumer.life;
    }
    page_look_release(&look);
    return rc;
}

static int changelog_start(struct capture *capture, struct buf *position, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    int rc = changelog_prepare(c, err);
    if (rc == 0) {
        position_release(&c->at);
        rc = changelog_note_position(c, err);
    }
    if (rc == 0) {
        c->rows_read = 0;
        position_print(position, &c->at);
    }
    return rc;
}

static void changelog_note_unpruned(struct changelog *c)
{
    const char *why = c->consumer.unpruned;
    for (size_t i = 0; i < c->depends.count && why == NULL; i++) {
        why = c->depends.items[i].consumer.unpruned;
    }
    c->capture.unpruned = why;
}

static int changelog_resume(struct capture *capture, const char *position, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    bool expired = false;
    c->capture.again = NULL;
    c->capture.unpruned = NULL;
    int rc = position_parse(&c->at, position, err);
    if (rc == 0) {
        rc = changelog_prepare(c, err);
    }
    if (rc == 0) {
        rc = consumer_attend(&c->consumer, &expired, err);
    }
    if (rc == 0) {
        rc = consumer_look(&c->consumer, err);
    }
    if (rc == 0) {
        rc = c->query != NULL ? depend_look(&c->depends, c->pg, c->name, err) : 0;
    }
    if (rc == 0) {
        rc = changelog_go_on(c, expired, err);
    }
    if (rc == 0 && c->consumer.more) {
        rc = consumer_prune(&c->consumer, PRUNE_AT_START_MS, err);
    }
    if (rc == 0) {
        rc = depend_prune(&c->depends, PRUNE_AT_START_MS, err);
    }
    changelog_note_unpruned(c);
    if (rc == 0) {
        rc = changelog_listen(c, err);
    }
    if (rc == 0 && c->at.kind == POSITION_BLOCKS && c->at.blocks > 0 && c->rows_read == 0 &&
        c->table->estimated_rows > 0) {
        c->rows_read = (int64_t)(position_share(&c->at) * (double)c->table->estimated_rows);
    }
    return rc;
}

/* Writes a released position to the source, at most once per interval. */
int changelog_mirror_pending(struct changelog *c, bool at_once, struct err *err)
{
    int64_t now = pg_now_ms();
    bool pending = c->pending.last != NULL;
    if ((!pending && !c->consumer.more && !depend_more(&c->depends)) ||
        (!at_once && c->mirrored && now - c->mirrored_ms < MIRROR_EVERY_MS)) {
        return 0;
    }
    int rc = pending ? consumer_mirror(&c->consumer, &c->pending, c->pending_clock,
                                       c->pending_letters, err)
                     : consumer_prune(&c->consumer, CONSUMER_PRUNE_MS, err);
    if (rc == 0) { /* after the table's own, so that they never keep fewer entries */
        rc = pending ? depend_mirror(&c->depends, &c->pending, err)
                     : depend_prune(&c->depends, CONSUMER_PRUNE_MS, err);
    }
    changelog_note_unpruned(c);
    if (rc == 0) {
        position_release(&c->pending);
        free(c->pending_letters);
        c->pending_letters = NULL;
        c->mirrored = true;
        c->mirrored_ms = now;
    }
    return rc;
}

static int changelog_forget(struct capture *capture, const char *consumer, struct err *err)
{
    return consumer_lock_forget(changelog_of(capture)->pg, consumer, err);
}

static int changelog_begin_blocks(struct changelog *c, struct err *err)
{
    const struct page_look *l = &c->page.look;
    struct position *p = &c->at;
    if (p->filenode != l->filenode) { /* rewritten: rows have moved to other blocks */
        p->filenode = l->filenode;
        p->block = 0;
        p->blocks = l->blocks;
        c->rows_read = 0;
    }
    uint64_t end = p->blocks - p->block > c->page_blocks ? p->block + c->page_blocks : p->blocks;
    position_copy(&c->reached, p);
    c->reached.block = end;
    if (end >= p->blocks) {
        c->reached.kind = POSITION_LOG;
    }
    return changelog_send_blocks(c, p->block, end, err);
}

/* A window without entries moves the position only if the source can then prune entries. Otherwise
 * every idle poll would be a new checkpoint, and its backup a new transaction to be read. */
static bool changelog_moves(const struct changelog *c)
{
    struct snapshot last;
    struct snapshot target;
    if (c->page.window.taken > 0 || c->at.target != NULL) {
        return true;
    }
    position_snapshot_parse(&last, c->at.last);
    position_snapshot_parse(&target, c->page.look.snapshot);
    return (c->consumer.keeps || depend_keep(&c->depends)) && target.xmin > last.xmin;
}

static void changelog_reach_log(struct changelog *c)
{
    const struct page_window *w = &c->page.window;
    const char *target = c->at.target != NULL ? c->at.target : c->page.look.snapshot;
    struct position p = {.kind = POSITION_LOG};
    if (w->full) {
        p.last = text_copy(c->at.last);
        p.target = text_copy(target);
        p.part = w->part;
        p.after_xid = w->after_xid;
        p.after_seq = w->after_seq;
    } else if (w->due > 0 || changelog_moves(c)) {
        changelog_leave_capture(c, &p, target);
    } else {
        p.last = text_copy(c->at.last);
    }
    c->drained = !w->full && c->at.target == NULL && w->due == 0;
    c->consumer.keeps = c->consumer.keeps || w->taken > 0;
    position_release(&c->reached);
    c->reached = p;
}

static int changelog_begin_log(struct changelog *c, struct err *err)
{
    if (changelog_begins_sweep(c) || changelog_ends_look(c)) {
        return changelog_send_nothing(c, err);
    }
    c->keys_only = changelog_looks_ahead(c);
    changelog_reach_log(c);
    return changelog_send_query(c, err);
}

static enum page_kind changelog_kind_of(const struct changelog *c)
{
    const struct position *at = &c->at;
    switch (at->kind) {
    case POSITION_BLOCKS:
        return PAGE_BLOCKS;
    case POSITION_KEYS:
        return c->query != NULL && at->range != KEY_RANGE_NULLS ? PAGE_LISTED : PAGE_KEYS;
    case POSITION_LOG:
    default:
        return at->target != NULL && at->of > 0 ? PAGE_FAN : PAGE_LOG;
    }
}

/* Sends the statements of an open page. */
int changelog_send_page(struct changelog *c, struct err *err)
{
    switch (c->kind) {
    case PAGE_BLOCKS:
        return changelog_begin_blocks(c, err);
    case PAGE_KEYS:
        position_copy(&c->reached, &c->at);
        return changelog_send_range(c, err);
    case PAGE_LISTED:
        return changelog_begin_listed(c, err);
    case PAGE_FAN:
        return changelog_begin_fan(c, err);
    default:
        return changelog_begin_log(c, err);
    }
}

void changelog_clear(struct changelog *c)
{
    assert(c->stage == STAGE_CLOSED);
    c->kind = changelog_kind_of(c);
    pg_forget_calls(c->pg);
    changelog_clear_page(c);
}

static int changelog_begin_page(struct changelog *c, struct err *err)
{
    changelog_clear(c);
    int rc = changelog_attend(c, err);
    if (rc == 0) {
        rc = changelog_mirror_pending(c, false, err);
    }
    if (rc == 0) {
        rc = changelog_open_page(c, err);
    }
    if (rc == 0 && c->left && (c->kind == PAGE_LOG || c->kind == PAGE_FAN)) {
        rc = changelog_meet_left(c, err);
    }
    if (rc == 0 && c->tells_left) {
        return changelog_send_nothing(c, err);
    }
    return rc == 0 ? changelog_send_page(c, err) : rc;
}

/* If reading on would be wrong, the checkpoint backup would be wrong too. If only an entry shows
 * that, just the next page notices it; so the consumer is removed, and the next resume makes a
 * re-snapshot. */
static int changelog_begin(struct capture *capture, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    struct err ignored;
    int rc = changelog_begin_page(c, err);
    if ((rc == ERR_STATE || (rc < 0 && c->lost)) && pg_recover(c->pg, &ignored) == 0) {
        (void)!(rc != ERR_STATE && c->page.window.anything
                    ? consumer_drop(&c->consumer, &ignored)
                    : consumer_spoil(&c->consumer, &ignored));
    }
    return rc;
}

static int changelog_begin_keys(struct capture *capture, const struct span *keys, size_t count,
                                bool only_gone, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    assert(c->stage == STAGE_CLOSED);
    c->kind = PAGE_ASKED;
    changelog_clear_page(c);
    c->keys_only = only_gone;
    c->presence.way = KEY_EXISTENCE_COUNT;
    for (size_t i = 0; i < count; i++) {
        if (keyset_add(&c->keys, keys[i]) == KEYSET_FULL) {
            return err_set(err, ERR_REJECTED, "the keys to be read again are too long");
        }
    }
    int rc = c->table == NULL ? changelog_prepare(c, err) : 0;
    if (rc == 0) {
        rc = changelog_read_page(c, err);
    }
    return rc == 0 ? changelog_send_query(c, err) : rc;
}

static int changelog_fd(const struct capture *capture)
{
    return PQsocket(((const struct changelog *)capture)->pg->conn);
}

static void changelog_progress(const struct capture *capture, struct capture_progress *out)
{
    const struct changelog *c = (const struct changelog *)capture;
    int64_t rows = c->table != NULL ? c->table->estimated_rows : -1;
    *out = (struct capture_progress){rows, c->rows_read, 1};
    if (c->at.kind == POSITION_BLOCKS) {
        out->share = position_share(&c->at);
    } else if (c->at.kind == POSITION_KEYS) {
        out->share = rows > c->rows_read ? (double)c->rows_read / (double)rows : 0;
    }
}

static void changelog_free(struct capture *capture)
{
    struct changelog *c = changelog_of(capture);
    reader_release(&c->reader);
    rowsql_release(&c->sql);
    consumer_release(&c->consumer);
    keyset_release(&c->keys);
    free(c->befores.items);
    page_look_release(&c->page.look);
    position_release(&c->at);
    position_release(&c->reached);
    position_release(&c->marked);
    position_release(&c->pending);
    position_release(&c->ahead.from);
    buf_release(&c->ahead.from_after);
    free(c->pending_letters);
    free(c->left_told);
    buf_release(&c->reached_text);
    buf_release(&c->last_key);
    buf_release(&c->watched);
    buf_release(&c->types);
    catalog_table_free(c->table);
    changelog_release_query(c);
    text_free_list(c->key, c->key_count);
    text_free_list(c->columns, c->column_count);
    free(c->name);
    free(c->table_name);
    free(c->where);
    free(c->fingerprint);
    if (!c->helps) {
        free(c->unreadable);
    }
    pg_close(c->pg);
    free(c);
}

struct changelog *changelog_new(struct pg *pg, const struct changelog_options *o)
{
    static const struct capture_ops ops = {
        changelog_start,  changelog_resume, changelog_begin,    changelog_begin_keys,
        changelog_next,   changelog_fd,     changelog_progress, changelog_release,
        changelog_forget, changelog_free,   changelog_news,     changelog_waiting,
        changelog_hold};
    struct changelog *c = mem_zero(1, sizeof(*c));
    c->capture.ops = &ops;
    c->pg = pg;
    c->name = text_copy(o->consumer);
    c->table_name = text_copy(o->table);
    c->key = text_copy_list(o->key, o->key_count);
    c->key_count = o->key_count;
    c->where = o->where != NULL ? text_copy(o->where) : NULL;
    c->query = o->query != NULL ? text_copy(o->query) : NULL;
    c->dependencies = depend_copy_all(o->dependencies, o->dependency_count);
    c->dependency_count = o->dependency_count;
    c->columns = text_copy_list(o->columns, o->column_count);
    c->column_count = o->column_count;
    c->unreadable = mem_zero(1, sizeof(*c->unreadable));
    c->fingerprint = o->fingerprint != NULL ? text_copy(o->fingerprint) : NULL;
    c->page_rows = o->page_rows > 0 ? o->page_rows : PAGE_ROWS;
    c->page_blocks = o->page_blocks > 0 ? o->page_blocks : PAGE_BLOCKS_COUNT;
    c->retain = (struct retain){o->retain_age_ms, o->retain_size};
    c->chunk_bytes = o->chunk_bytes > 0 ? o->chunk_bytes : CHUNK_BYTES;
    c->blocks_aim = 1 + c->chunk_bytes / BLOCK_GUESS_BYTES;
    c->keys_aim = 1 + c->chunk_bytes / ROW_GUESS_BYTES;
    keyset_init(&c->keys, KEYS_MAX_BYTES);
    buf_init(&c->reached_text, POSITION_MAX_BYTES);
    buf_init(&c->last_key, KEYS_MAX_BYTES);
    buf_init(&c->watched, POSITION_MAX_BYTES);
    buf_init(&c->types, POSITION_MAX_BYTES);
    buf_init(&c->lock, POSITION_MAX_BYTES);
    buf_init(&c->due, POSITION_MAX_BYTES);
    buf_init(&c->fan_after, POSITION_MAX_BYTES);
    buf_init(&c->ahead.from_after, POSITION_MAX_BYTES);
    keyset_init(&c->changed, KEYS_MAX_BYTES);
    return c;
}

int changelog_pending(struct pg *pg, const char *const *tables, size_t count, const char *position,
                      int64_t *entries, struct err *err)
{
    struct position p = {0};
    struct pg_result *r = NULL;
    struct buf names;
    *entries = -1;
    buf_init(&names, POSITION_MAX_BYTES);
    sqlquote_array(&names, tables, count);
    int rc = position_parse(&p, position, err);
    if (rc == 0) {
        const char *const params[] = {buf_text(&names), p.last};
        rc = pg_ask(pg, &r, "look_pending", params, 2, err);
    }
    if (rc == 0) {
        *entries = pg_int(r, 0, 0);
    }
    pg_result_release(r);
    position_release(&p);
    buf_release(&names);
    return rc;
}
