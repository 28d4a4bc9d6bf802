/* SPDX-License-Identifier: Apache-2.0 */
/* Within a page of the change log: the rows of a chunk, its keys without a row, a safepoint, and so
 * on. */
#include <stdlib.h>

#include "changelog/changelog_private.h"

#define ROW_BYTES 128 /* estimated size of a document beside its values */

/* Returns 1 if the row was requested, 0 if not, or an error if it was already read. */
static int changelog_page_wanted(struct changelog *c, struct span key, struct err *err)
{
    if (c->kind == PAGE_BLOCKS || c->kind == PAGE_KEYS) {
        return 1;
    }
    switch (keyset_mark(&c->keys, key, c->chunk.from, c->chunk.to)) {
    case KEYSET_FIRST:
        return 1;
    case KEYSET_STRANGER:           /* equal, but another text: requested separately */
        return c->kind == PAGE_FAN; /* the key texts of a query are unknown */
    default:
        if (c->reread) { /* already delivered */
            return 0;
        }
        err_set(err, ERR_REJECTED, "the key \"%.*s\" stands for two rows of %s%s",
                (int)(key.len < 200 ? key.len : 200), key.data,
                c->query != NULL ? "from.query, the keys being those of " : "", c->table->quoted);
        return err_hint(err, c->query != NULL ? "let the query give one row for each key"
                                              : "name columns as \"key\" that identify a row");
    }
}

static void changelog_page_count_bytes(struct changelog *c, const struct row *row)
{
    c->chunk.bytes += ROW_BYTES;
    for (size_t i = 0; i < row->count; i++) {
        c->chunk.bytes += row->values[i].len;
    }
}

static int changelog_page_give_row(struct changelog *c, struct row *row, struct change *change,
                                   struct err *err)
{
    const struct value *key = &row->values[0];
    int rc = 1;
    if (c->keys_only && c->presence.way == KEY_EXISTENCE_COUNT) {
        key_existence_take(&c->presence, row);
        return 0;
    }
    unreadable_take(c->unreadable, c->column_count + 1, row);
    *change = (struct change){.kind = CHANGE_UPSERT, .row = *row, .key_null = key->null};
    if (!key->null) {
        change->key = span_make(key->text, key->len);
        rc = changelog_page_wanted(c, change->key, err);
    }
    if (c->keys_only) {
        return rc < 0 ? rc : 0;
    }
    if (rc == 1) {
        c->page_rows_read++;
        changelog_page_count_bytes(c, row);
        if (c->kind == PAGE_KEYS && !key->null) {
            buf_reset(&c->last_key);
            buf_push(&c->last_key, key->text, key->len);
        }
    }
    return rc;
}

/* Delivers a row with only its key, which is too long: the receiver rejects the key before it uses
 * a column. */
static void changelog_page_give_cut(struct changelog *c, struct span key, struct change *change)
{
    c->cut_key = (struct value){.text = key.data, .len = key.len};
    *change = (struct change){
        .kind = CHANGE_UPSERT, .row = {.values = &c->cut_key, .count = 1}, .key = key};
}

/* Returns true if it filled `change`. */
static bool changelog_page_give_gone(struct changelog *c, struct change *change)
{
    while (c->gone < c->gone_end) {
        size_t i = c->gone++;
        if (c->keys.items[i].cut == KEYSET_CUT_ROW) {
            if (!c->keys_only) {
                changelog_page_give_cut(c, keyset_get(&c->keys, i), change);
                return true;
            }
        } else if (!c->keys.items[i].found) {
            bool foreseen = c->keys_only && c->kind != PAGE_ASKED;
            c->keys.items[i].found = true; /* delivered, in case that the page is read again */
            *change = (struct change){.kind = foreseen ? CHANGE_PRESCAN_DELETE : CHANGE_DELETE,
                                      .key = keyset_get(&c->keys, i)};
            return true;
        }
    }
    return false;
}

/* If the key of an entry cannot be read, its row cannot be found. It becomes a dead letter,
 * whatever the row is now. */
static bool changelog_page_give_unreadable(struct changelog *c, struct change *change)
{
    static const struct value null = {.null = true};
    if (!c->page.window.unreadable || c->keys_only) {
        return false;
    }
    c->page.window.unreadable = false;
    *change =
        (struct change){.kind = CHANGE_UPSERT,
                        .key_null = true,
                        .row = {.values = &null, .count = 1, .unreadable = c->unreadable->words}};
    return true;
}

/* Sets the change's position. */
static void changelog_page_report_position(struct changelog *c, const struct position *p,
                                           struct change *change)
{
    struct position told = *p;
    told.timeline = 0;
    buf_reset(&c->reached_text);
    position_print(&c->reached_text, &told);
    changelog_print_history(c, &c->reached_text);
    change->position = buf_text(&c->reached_text);
}

static bool changelog_page_give_mark(struct changelog *c, struct change *change)
{
    if (!c->marks) {
        return false;
    }
    c->marks = false;
    *change = (struct change){.kind = CHANGE_SAFEPOINT};
    changelog_page_report_position(c, &c->marked, change);
    return true;
}

/* Sets a safepoint within a page by key ranges. It is ordered by key, so that is possible after any
 * row. */
static bool changelog_page_cuts_range(struct changelog *c)
{
    if (c->kind != PAGE_KEYS || c->stage != STAGE_ROWS || c->at.range == KEY_RANGE_NULLS ||
        c->chunk.bytes < c->chunk_bytes) {
        return false;
    }
    position_copy(&c->marked, &c->at);
    free(c->marked.key);
    c->marked.range = KEY_RANGE_AFTER;
    c->marked.key = text_copy(buf_text(&c->last_key));
    c->chunk.bytes = 0;
    c->marks = true;
    return true;
}

static void changelog_page_end(struct changelog *c, struct change *change)
{
    bool asked = c->kind == PAGE_ASKED;
    c->stage = STAGE_CLOSED;
    if (c->tells_left) {
        *change = (struct change){.kind = CHANGE_PRESCAN_END, .left = true};
        return;
    }
    if (!asked && changelog_reports_sweep(c, change)) {
        return;
    }
    if (c->ahead.looking && !asked) {
        changelog_end_look(c, change);
        return;
    }
    bool copying = c->kind == PAGE_BLOCKS || c->kind == PAGE_KEYS || c->kind == PAGE_LISTED;
    *change = (struct change){.kind = CHANGE_PAGE, .copying = copying, .drained = c->drained};
    if (!asked) {
        changelog_page_report_position(c, &c->reached, change);
        position_copy(&c->at, &c->reached);
        change->whole = c->reached.target == NULL;
    }
    if (change->whole) {
        changelog_forget_look(c);
    }
    if (copying) {
        c->rows_read += (int64_t)c->page_rows_read;
    }
}

/* Reads the page again with another snapshot; missing rows are determined from that snapshot
 * only. */
static int changelog_page_ask_again(struct changelog *c, struct err *err)
{
    c->unsure = false;
    c->stage = STAGE_CLOSED;
    int rc = changelog_read_page(c, err);
    return rc == 0 ? changelog_send_query(c, err) : rc;
}

/* If a text is not a valid value of the key's type, the keys are looked up in the next way. After
 * an unreadable row, requested keys are read again here; other pages are read again from the last
 * safepoint. */
static int changelog_page_meet_error(struct changelog *c, struct err *err)
{
    if (c->kind == PAGE_ASKED && key_existence_again(&c->presence, &c->reader, &c->keys, err)) {
        return changelog_page_ask_again(c, err);
    }
    if (unreadable_end(c->unreadable, &c->reader, err)) {
        if (c->kind == PAGE_ASKED) {
            c->reread = true;
            return changelog_page_ask_again(c, err);
        }
        c->capture.wiser = true;
        err_set(err, ERR_TRANSIENT, "a row holds %s", c->unreadable->words);
    }
    return err_context(err, "could not read %s", c->table->quoted);
}

/* Makes one step. Returns 1 if `change` was filled, 0 to continue. */
static int changelog_page_step(struct changelog *c, struct change *change, struct err *err)
{
    struct row row;
    if (changelog_page_give_unreadable(c, change)) {
        return 1;
    }
    if (c->stage == STAGE_GONE) {
        if (changelog_page_give_gone(c, change) || changelog_page_give_mark(c, change)) {
            return 1;
        }
        c->stage = c->gone_then;
    } else if (changelog_page_cuts_range(c)) {
        return changelog_page_give_mark(c, change);
    }
    int rc = reader_next(&c->reader, &row, err);
    if (rc < 0) {
        return changelog_page_meet_error(c, err);
    }
    if (rc == READER_WAIT) {
        *change = (struct change){.kind = CHANGE_WAIT};
        return 1;
    }
    if (rc == READER_ROW) {
        return changelog_page_give_row(c, &row, change, err);
    }
    if (c->stage == STAGE_COMMIT && c->unsure) {
        return changelog_page_ask_again(c, err);
    }
    if (c->stage == STAGE_COMMIT) {
        changelog_page_end(c, change);
        return 1;
    }
    return changelog_send_next(c, err);
}

int changelog_next(struct capture *capture, struct change *change, struct err *err)
{
    struct changelog *c = (struct changelog *)capture;
    int rc = 0;
    if (c->stage == STAGE_CLOSED) {
        return err_set(err, ERR_INTERNAL, "next was called between pages");
    }
    while (rc == 0) {
        rc = changelog_page_step(c, change, err);
    }
    return rc < 0 ? rc : 0;
}
