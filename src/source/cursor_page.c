/* SPDX-License-Identifier: Apache-2.0 */
/* Within a page of a cursor: rows below the horizon, then those beyond it. */
#include <stdlib.h>

#include "cursor_private.h"
#include "keyarrays.h"

/* --- statements ------------------------------------------------------------------------------ */

static int send_range(struct cursor *c, const struct cursor_range *range, enum cursor_stage stage,
                      struct err *err)
{
    struct cursor_sql s;
    struct rowsql_input in = cursor_rows(c);
    int rc = cursor_sql_build(&s, c->pg, &in, c->column, range, err);
    if (rc == 0) {
        rc = reader_send(&c->reader, buf_text(&s.text), s.params, s.count, err);
    }
    cursor_sql_release(&s);
    c->stage = stage;
    c->statement_rows = 0;
    return rc;
}

static int send_safe(struct cursor *c, struct err *err)
{
    const struct cursor_position *p = &c->reached;
    struct cursor_range range = {.nulls = p->nulls,
                                 .after_value = p->value,
                                 .after_key = p->key,
                                 .before = p->nulls ? NULL : c->horizon.value,
                                 .included = !c->horizon.timed,
                                 .until = p->until,
                                 .limit = c->page_rows};
    return send_range(c, &range, p->nulls ? CURSOR_NULLS : CURSOR_SAFE, err);
}

/* Without a horizon everything behind the position lies ahead. */
static int send_ahead(struct cursor *c, struct err *err)
{
    const struct cursor_position *safe = &c->reached;
    const char *horizon = c->horizon.value;
    const struct cursor_position *after = c->ahead.value != NULL ? &c->ahead
                                          : horizon == NULL      ? safe
                                                                 : NULL;
    struct cursor_range range = {.after_value = after != NULL ? after->value : NULL,
                                 .after_key = after != NULL ? after->key : NULL,
                                 .from = horizon != NULL ? horizon : safe->value,
                                 .included = horizon != NULL && !c->horizon.timed,
                                 .until = safe->until,
                                 .limit = c->page_rows};
    return send_range(c, &range, CURSOR_AHEAD, err);
}

static int send_commit(struct cursor *c, struct err *err)
{
    c->stage = CURSOR_COMMIT;
    return reader_send(&c->reader, "commit", NULL, 0, err);
}

int cursor_send_first(struct cursor *c, struct err *err)
{
    cursor_position_copy(&c->reached, &c->at);
    c->copying = c->at.copy;
    return c->at.nulls || c->horizon.value != NULL ? send_safe(c, err) : send_ahead(c, err);
}

int cursor_send_asked(struct cursor *c, struct err *err)
{
    struct keyarrays a;
    int rc = keyarrays_make(&a, &c->keys, 0, c->keys.count, c->table->key_count, err);
    if (rc == 0) {
        rc = reader_send(&c->reader, c->keys_only ? c->sql.present : c->sql.again, a.params,
                         a.count, err);
    }
    keyarrays_release(&a);
    c->stage = CURSOR_ASKED;
    return rc;
}

/* All of a statement's rows are read. */
static int send_next(struct cursor *c, struct err *err)
{
    bool full = c->statement_rows == c->page_rows;
    switch (c->stage) {
    case CURSOR_NULLS:
        if (!full) {
            c->reached.nulls = false;
            cursor_position_move(&c->reached, NULL, NULL);
        }
        return send_commit(c, err);
    case CURSOR_SAFE:
        if (full) {
            return send_commit(c, err);
        }
        c->reached.copy = false; /* and with it the value below which nothing was delivered */
        free(c->reached.until);
        c->reached.until = NULL;
        return send_ahead(c, err);
    case CURSOR_AHEAD:
        c->drained = !full;
        return send_commit(c, err);
    default:
        c->stage = CURSOR_GONE;
        return 0;
    }
}

/* --- rows ------------------------------------------------------------------------------------ */

static uint64_t hash_more(uint64_t hash, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

/* Of all that decides what is delivered. */
static uint64_t content_hash(const struct row *row)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < row->count; i++) {
        const struct value *v = &row->values[i];
        uint64_t shape = (uint64_t)v->len * 2 + (v->null ? 1 : 0);
        hash = hash_more(hash, (const char *)&shape, sizeof(shape));
        hash = hash_more(hash, v->text, v->null ? 0 : v->len);
    }
    return hash;
}

static void take_last(struct cursor *c, const struct row *row)
{
    const struct value *value = &row->values[row->count - 2];
    bool nulls = c->stage == CURSOR_NULLS;
    struct cursor_position *to = c->stage == CURSOR_AHEAD ? &c->ahead : &c->reached;
    cursor_position_move(to, nulls ? NULL : value->text, row->values[0].text);
}

/* Whether it has to be delivered. */
static bool is_news(struct cursor *c, const struct row *row)
{
    uint64_t key = text_hash(row->values[0].text, row->values[0].len);
    uint64_t content = content_hash(row);
    if (seen_same(&c->seen, key, content)) {
        return false;
    }
    if (c->stage == CURSOR_AHEAD) {
        seen_note(&c->seen, key, content);
    } else {
        seen_forget(&c->seen, key);
    }
    return true;
}

/* 1 where it gave one, 0 where the row was delivered before. */
static int give_row(struct cursor *c, const struct row *row, struct change *change)
{
    const struct value *key = &row->values[0];
    bool matches = row->values[row->count - 1].text[0] == 't';
    take_last(c, row);
    c->statement_rows++;
    c->rows_read += c->copying ? 1 : 0;
    for (size_t i = 0; i < row->count; i++) {
        c->chunk_read += row->values[i].len;
    }
    if (!is_news(c, row)) {
        return 0;
    }
    *change = (struct change){.kind = matches ? CHANGE_ROW : CHANGE_GONE,
                              .key = span_make(key->text, key->len),
                              .row = {row->values, row->count - 2}};
    return 1;
}

static int give_asked(struct cursor *c, const struct row *row, struct change *change,
                      struct err *err)
{
    struct span key = span_make(row->values[0].text, row->values[0].len);
    switch (keyset_mark(&c->keys, key, 0, c->keys.count)) {
    case KEYSET_FIRST:
        break;
    case KEYSET_STRANGER: /* equal for the table, another text: nobody asked for it */
        return 0;
    default:
        return err_set(err, ERR_REJECTED, "the key \"%.*s\" stands for two rows of %s",
                       (int)(key.len < 200 ? key.len : 200), key.data, c->table->quoted);
    }
    if (c->keys_only) {
        return 0;
    }
    seen_forget(&c->seen, text_hash(key.data, key.len));
    *change = (struct change){.kind = CHANGE_ROW, .key = key, .row = *row};
    return 1;
}

/* True where it gave one. */
static bool give_gone(struct cursor *c, struct change *change)
{
    while (c->gone < c->keys.count) {
        size_t i = c->gone++;
        if (!c->keys.items[i].found) {
            struct span key = keyset_get(&c->keys, i);
            seen_forget(&c->seen, text_hash(key.data, key.len));
            *change = (struct change){.kind = CHANGE_GONE, .key = key};
            return true;
        }
    }
    return false;
}

static void tell_reached(struct cursor *c, struct change *change)
{
    buf_reset(&c->reached_text);
    cursor_position_print(&c->reached_text, &c->reached);
    change->position = buf_text(&c->reached_text);
}

/* The rows come in order, so the page may be cut after any that moves the position. */
static bool give_mark(struct cursor *c, struct change *change)
{
    bool moves = c->stage == CURSOR_NULLS || c->stage == CURSOR_SAFE;
    if (!moves || c->chunk_read < c->chunk_bytes) {
        return false;
    }
    c->chunk_read = 0;
    *change = (struct change){.kind = CHANGE_MARK};
    tell_reached(c, change);
    return true;
}

static void end_page(struct cursor *c, struct change *change)
{
    bool asked = c->keys.count > 0;
    *change = (struct change){.kind = CHANGE_PAGE,
                              .copying = !asked && c->copying,
                              .drained = c->drained,
                              .whole = !asked};
    if (!asked) {
        tell_reached(c, change);
        cursor_position_copy(&c->at, &c->reached);
    }
    c->stage = CURSOR_CLOSED;
}

/* One step: 1 where `change` was filled, 0 to go on. */
static int step(struct cursor *c, struct change *change, struct err *err)
{
    struct row row;
    if (c->stage == CURSOR_GONE) {
        return give_gone(c, change) ? 1 : send_commit(c, err);
    }
    if (give_mark(c, change)) {
        return 1;
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
        return c->stage == CURSOR_ASKED ? give_asked(c, &row, change, err)
                                        : give_row(c, &row, change);
    }
    if (c->stage == CURSOR_COMMIT) {
        end_page(c, change);
        return 1;
    }
    return send_next(c, err);
}

int cursor_next(struct capture *capture, struct change *change, struct err *err)
{
    struct cursor *c = (struct cursor *)capture;
    int rc = 0;
    if (c->stage == CURSOR_CLOSED) {
        return err_set(err, ERR_INTERNAL, "next was called between pages");
    }
    while (rc == 0) {
        rc = step(c, change, err);
    }
    return rc < 0 ? rc : 0;
}
