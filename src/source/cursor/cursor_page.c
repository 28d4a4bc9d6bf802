/* SPDX-License-Identifier: Apache-2.0 */
/* Within a page of a cursor: rows below the horizon, then rows above it. */
#include <stdlib.h>

#include "cursor/cursor_private.h"
#include "rows/keyarrays.h"

/* --- statements ------------------------------------------------------------------------------ */

/* Key, columns, the cursor's value, and whether the row matches; or a count. */
static struct reader_form cursor_page_form_of(size_t columns, const struct cursor_range *range)
{
    return range->count ? (struct reader_form){1, 1}
                        : (struct reader_form){columns + 3, range->limit};
}

static int cursor_page_send_range(struct cursor *c, const struct cursor_range *range,
                                  enum cursor_stage stage, struct err *err)
{
    struct cursor_sql s;
    struct rowsql_input in = cursor_rows(c);
    int rc = cursor_sql_build(&s, &in, c->options.column, range, err);
    if (rc == 0) {
        const struct reader_form form = cursor_page_form_of(c->options.column_count, range);
        rc = range->count
                 ? reader_send(&c->reader, form, buf_text(&s.text), s.params, s.count, err)
                 : unreadable_send(&c->unreadable, &c->reader, form, c->options.column_count,
                                   buf_text(&s.text), s.params, s.count, err);
    }
    cursor_sql_release(&s);
    c->stage = stage;
    c->page.statement_rows = 0;
    return rc;
}

/* If guarded, deletes are counted before the first row is delivered, in the same snapshot. */
static int cursor_page_send_rows(struct cursor *c, struct cursor_range *range,
                                 enum cursor_stage stage, struct err *err)
{
    bool counts = c->capture.guarded && c->options.where != NULL;
    if (counts && c->prescan.state != CURSOR_PRESCAN_DONE && c->stage != CURSOR_COUNT) {
        range->count = true;
        c->prescan.after = stage;
        stage = CURSOR_COUNT;
    }
    return cursor_page_send_range(c, range, stage, err);
}

static int cursor_page_send_safe(struct cursor *c, struct err *err)
{
    const struct cursor_position *p = &c->position.reached;
    struct cursor_range range = {.nulls = p->nulls,
                                 .after_value = p->value,
                                 .after_key = p->key,
                                 .before = p->nulls ? NULL : c->horizon.value,
                                 .included = !c->horizon.timed,
                                 .until = p->until,
                                 .limit = c->options.page_rows};
    return cursor_page_send_rows(c, &range, p->nulls ? CURSOR_NULLS : CURSOR_SAFE, err);
}

/* Without a horizon all rows after the position are read ahead. */
static int cursor_page_send_ahead(struct cursor *c, struct err *err)
{
    const struct cursor_position *safe = &c->position.reached;
    const char *horizon = c->horizon.value;
    const struct cursor_position *after = c->position.ahead.value != NULL ? &c->position.ahead
                                          : horizon == NULL               ? safe
                                                                          : NULL;
    struct cursor_range range = {.after_value = after != NULL ? after->value : NULL,
                                 .after_key = after != NULL ? after->key : NULL,
                                 .from = horizon != NULL ? horizon : safe->value,
                                 .included = horizon != NULL && !c->horizon.timed,
                                 .until = safe->until,
                                 .limit = c->options.page_rows};
    return cursor_page_send_rows(c, &range, CURSOR_AHEAD, err);
}

/* A prescan leaves out rows without a value: they are delivered only if they match. */
int cursor_send_look(struct cursor *c, struct err *err)
{
    const struct cursor_position *after =
        c->prescan.looked.value != NULL ? &c->prescan.looked : &c->position.at;
    struct cursor_range range = {.after_value = after->nulls ? NULL : after->value,
                                 .after_key = after->nulls ? NULL : after->key,
                                 .until = c->position.at.until,
                                 .gone = true,
                                 .limit = c->options.page_rows};
    return cursor_page_send_range(c, &range, CURSOR_LOOK, err);
}

static int cursor_page_send_commit(struct cursor *c, struct err *err)
{
    c->stage = CURSOR_COMMIT;
    return reader_commit(&c->reader, err);
}

int cursor_send_first(struct cursor *c, struct err *err)
{
    cursor_position_copy(&c->position.reached, &c->position.at);
    c->page.copying = c->position.at.copy;
    return c->position.at.nulls || c->horizon.value != NULL ? cursor_page_send_safe(c, err)
                                                            : cursor_page_send_ahead(c, err);
}

int cursor_send_asked(struct cursor *c, struct err *err)
{
    struct keyarrays a;
    struct keyset *keys = &c->request.keys;
    c->stage = CURSOR_ASKED;
    if (c->request.only_gone) {
        return key_existence_send(&c->request.presence, &c->reader, &c->sql, keys,
                                  c->table->key_count, err);
    }
    int rc = keyarrays_make(&a, keys, 0, keys->count, c->table->key_count, err);
    const struct reader_form form = {c->options.column_count + 1, 2 * keys->count + 1};
    if (rc == 0) {
        rc = unreadable_send(&c->unreadable, &c->reader, form, c->options.column_count,
                             c->sql.again, a.params, a.count, err);
    }
    keyarrays_release(&a);
    return rc;
}

/* Sends the statement for the counted rows, or ends the page for a prescan if they are too many. */
static int cursor_page_send_counted(struct cursor *c, struct err *err)
{
    if (c->prescan.told_gone + c->prescan.more_gone > c->capture.harmless) {
        c->prescan.state = CURSOR_PRESCAN_DUE;
        return cursor_page_send_commit(c, err);
    }
    return c->prescan.after == CURSOR_AHEAD ? cursor_page_send_ahead(c, err)
                                            : cursor_page_send_safe(c, err);
}

/* Called after the last row of a statement. */
static int cursor_page_send_next(struct cursor *c, struct err *err)
{
    bool full = c->page.statement_rows == c->options.page_rows;
    switch (c->stage) {
    case CURSOR_NULLS:
        if (!full) {
            c->position.reached.nulls = false;
            cursor_position_move(&c->position.reached, NULL, NULL);
        }
        return cursor_page_send_commit(c, err);
    case CURSOR_SAFE:
        if (full) {
            return cursor_page_send_commit(c, err);
        }
        c->position.reached.copy = false; /* then `until` is no longer needed */
        free(c->position.reached.until);
        c->position.reached.until = NULL;
        return cursor_page_send_ahead(c, err);
    case CURSOR_AHEAD:
        c->page.drained = !full;
        return cursor_page_send_commit(c, err);
    case CURSOR_COUNT:
        return cursor_page_send_counted(c, err);
    case CURSOR_LOOK:
        c->prescan.state = full ? CURSOR_PRESCAN_DUE : CURSOR_PRESCAN_DONE;
        return cursor_page_send_commit(c, err);
    default:
        if (c->request.only_gone && !key_existence_end(&c->request.presence, &c->request.keys)) {
            return cursor_send_asked(c, err);
        }
        c->stage = CURSOR_GONE;
        return 0;
    }
}

/* --- rows ------------------------------------------------------------------------------------ */

static uint64_t cursor_page_hash_more(uint64_t hash, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

/* Hashes all data that the delivery of a row depends on. */
static uint64_t cursor_page_content_hash(const struct row *row)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < row->count; i++) {
        const struct value *v = &row->values[i];
        uint64_t shape = (uint64_t)v->len * 2 + (v->null ? 1 : 0);
        hash = cursor_page_hash_more(hash, (const char *)&shape, sizeof(shape));
        hash = cursor_page_hash_more(hash, v->text, v->null ? 0 : v->len);
    }
    return hash;
}

/* Moves the position to this row, except if its key is unreadable: reading cannot continue after
 * it. */
static void cursor_page_take_last(struct cursor *c, const struct row *row)
{
    if (row->values[0].null) {
        return;
    }
    const struct value *value = &row->values[row->count - 2];
    bool nulls = c->stage == CURSOR_NULLS;
    struct cursor_position *to = c->stage == CURSOR_AHEAD  ? &c->position.ahead
                                 : c->stage == CURSOR_LOOK ? &c->prescan.looked
                                                           : &c->position.reached;
    cursor_position_move(to, nulls ? NULL : value->text, row->values[0].text);
}

/* Returns true if the row has to be delivered. */
static bool cursor_page_is_news(struct cursor *c, const struct row *row)
{
    uint64_t key = text_hash(row->values[0].text, row->values[0].len);
    uint64_t content = cursor_page_content_hash(row);
    if (dedup_cache_same(&c->seen, key, content)) {
        return false;
    }
    if (c->stage == CURSOR_AHEAD) {
        dedup_cache_note(&c->seen, key, content);
    } else {
        dedup_cache_forget(&c->seen, key);
    }
    return true;
}

/* Returns 1 if it filled `change`, 0 if the row was delivered before. */
static int cursor_page_give_row(struct cursor *c, struct row *row, struct change *change)
{
    const struct value *key = &row->values[0];
    unreadable_take(&c->unreadable, c->options.column_count + 3, row);
    bool matches = row->values[row->count - 1].text[0] == 't';
    cursor_page_take_last(c, row);
    c->page.statement_rows++;
    c->rows_read += c->page.copying ? 1 : 0;
    for (size_t i = 0; i < row->count; i++) {
        c->page.chunk_read += row->values[i].len;
    }
    if (!cursor_page_is_news(c, row)) {
        return 0;
    }
    if (key->null && !matches) { /* it never was a document */
        return 0;
    }
    c->prescan.told_gone += matches ? 0 : 1;
    *change = (struct change){.kind = matches ? CHANGE_UPSERT : CHANGE_DELETE,
                              .key = span_make(key->text, key->len),
                              .key_null = key->null,
                              .row = {row->values, row->count - 2, row->unreadable}};
    return 1;
}

/* Leaves out rows that were already delivered as deletes. */
static int cursor_page_give_foreseen(struct cursor *c, struct row *row, struct change *change)
{
    struct span key = span_make(row->values[0].text, row->values[0].len);
    unreadable_take(&c->unreadable, c->options.column_count + 3, row);
    cursor_page_take_last(c, row);
    c->page.statement_rows++;
    *change = (struct change){.kind = CHANGE_PRESCAN_DELETE, .key = key};
    return row->values[0].null || dedup_cache_same(&c->seen, text_hash(key.data, key.len),
                                                   cursor_page_content_hash(row))
               ? 0
               : 1;
}

static int cursor_page_give_asked(struct cursor *c, struct row *row, struct change *change,
                                  struct err *err)
{
    struct span key = span_make(row->values[0].text, row->values[0].len);
    if (c->request.only_gone && c->request.presence.way == KEY_EXISTENCE_COUNT) {
        key_existence_take(&c->request.presence, row);
        return 0;
    }
    switch (keyset_mark(&c->request.keys, key, 0, c->request.keys.count)) {
    case KEYSET_FIRST:
        break;
    case KEYSET_STRANGER: /* equal for the table, but another text: it was not requested */
        return 0;
    default:
        if (c->request.reread) { /* already delivered */
            return 0;
        }
        return err_set(err, ERR_REJECTED, "the key \"%.*s\" identifies two rows of %s",
                       (int)(key.len < 200 ? key.len : 200), key.data, c->table->quoted);
    }
    if (c->request.only_gone) {
        return 0;
    }
    unreadable_take(&c->unreadable, c->options.column_count + 1, row);
    dedup_cache_forget(&c->seen, text_hash(key.data, key.len));
    *change = (struct change){.kind = CHANGE_UPSERT, .key = key, .row = *row};
    return 1;
}

/* Returns true if it filled `change`. */
static bool cursor_page_give_gone(struct cursor *c, struct change *change)
{
    while (c->request.gone < c->request.keys.count) {
        size_t i = c->request.gone++;
        if (!c->request.keys.items[i].found) {
            struct span key = keyset_get(&c->request.keys, i);
            dedup_cache_forget(&c->seen, text_hash(key.data, key.len));
            *change = (struct change){.kind = CHANGE_DELETE, .key = key};
            return true;
        }
    }
    return false;
}

static void cursor_page_report_reached(struct cursor_positions *p, struct change *change)
{
    buf_reset(&p->reached_text);
    cursor_position_print(&p->reached_text, &p->reached);
    change->position = buf_text(&p->reached_text);
}

/* Rows come in order, so a safepoint is possible after any row that advances the position. */
static bool cursor_page_give_mark(struct cursor *c, struct change *change)
{
    bool moves = c->stage == CURSOR_NULLS || c->stage == CURSOR_SAFE;
    if (!moves || c->page.chunk_read < c->options.chunk_bytes) {
        return false;
    }
    c->page.chunk_read = 0;
    *change = (struct change){.kind = CHANGE_SAFEPOINT};
    cursor_page_report_reached(&c->position, change);
    return true;
}

/* The rows that the prescan found are delivered with the next pages. */
static void cursor_page_end_prescan(struct cursor_prescan *s, struct change *change)
{
    *change = (struct change){.kind = CHANGE_PAGE, .ahead = true};
    if (s->state == CURSOR_PRESCAN_DONE) {
        *change = (struct change){.kind = CHANGE_PRESCAN_END};
        cursor_position_release(&s->looked);
    }
}

static void cursor_page_end_rows(struct cursor *c, struct change *change)
{
    bool asked = c->request.keys.count > 0;
    c->stage = CURSOR_CLOSED;
    if (c->prescan.looking) {
        cursor_page_end_prescan(&c->prescan, change);
        return;
    }
    *change = (struct change){.kind = CHANGE_PAGE,
                              .copying = !asked && c->page.copying,
                              .drained = c->page.drained,
                              .whole = !asked && c->page.drained};
    if (!asked) {
        cursor_page_report_reached(&c->position, change);
        cursor_position_copy(&c->position.at, &c->position.reached);
    }
    if (change->whole) {
        c->prescan.told_gone = 0;
        c->prescan.state = CURSOR_PRESCAN_NONE;
    }
}

static int cursor_page_take_row(struct cursor *c, struct row *row, struct change *change,
                                struct err *err)
{
    switch (c->stage) {
    case CURSOR_ASKED:
        return cursor_page_give_asked(c, row, change, err);
    case CURSOR_COUNT:
        c->prescan.more_gone = strtoull(row->values[0].text, NULL, 10);
        return 0;
    case CURSOR_LOOK:
        return cursor_page_give_foreseen(c, row, change);
    default:
        return cursor_page_give_row(c, row, change);
    }
}

/* If a text is not a valid value of the key's type, the keys are looked up in the next way. After
 * an unreadable row, requested keys are read again here; other pages are read again from the last
 * safepoint. */
static int cursor_page_meet_error(struct cursor *c, struct err *err)
{
    if (c->stage == CURSOR_ASKED &&
        key_existence_again(&c->request.presence, &c->reader, &c->request.keys, err)) {
        return cursor_ask(c, err);
    }
    if (unreadable_end(&c->unreadable, &c->reader, err)) {
        if (c->stage == CURSOR_ASKED) {
            c->request.reread = true;
            return cursor_ask(c, err);
        }
        c->capture.adapted = CAPTURE_ADAPTED_CHARACTER;
        err_set(err, ERR_TRANSIENT, "a row holds %s", c->unreadable.words);
    }
    return err_context(err, "could not read %s", c->table->quoted);
}

/* Makes one step. Returns 1 if `change` was filled, 0 to continue. */
static int cursor_page_step(struct cursor *c, struct change *change, struct err *err)
{
    struct row row;
    if (c->stage == CURSOR_GONE) {
        return cursor_page_give_gone(c, change) ? 1 : cursor_page_send_commit(c, err);
    }
    if (cursor_page_give_mark(c, change)) {
        return 1;
    }
    int rc = reader_next(&c->reader, &row, err);
    if (rc < 0) {
        return cursor_page_meet_error(c, err);
    }
    if (rc == READER_WAIT) {
        *change = (struct change){.kind = CHANGE_WAIT};
        return 1;
    }
    if (rc == READER_ROW) {
        return cursor_page_take_row(c, &row, change, err);
    }
    if (c->stage == CURSOR_COMMIT) {
        cursor_page_end_rows(c, change);
        return 1;
    }
    return cursor_page_send_next(c, err);
}

int cursor_next(struct capture *capture, struct change *change, struct err *err)
{
    struct cursor *c = (struct cursor *)capture;
    int rc = 0;
    if (c->stage == CURSOR_CLOSED) {
        return err_set(err, ERR_INTERNAL, "next was called between pages");
    }
    while (rc == 0) {
        rc = cursor_page_step(c, change, err);
    }
    return rc < 0 ? rc : 0;
}
