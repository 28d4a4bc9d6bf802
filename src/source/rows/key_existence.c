/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to look up rows by their keys. */
#include "rows/key_existence.h"

#include <stdlib.h>
#include <string.h>

#include "rows/keyarrays.h"
#include "rows/keyruns.h"
#include "sql/sqlquote.h"

#define ARRAY_MAX_BYTES ((size_t)256 << 20)
#define KEYS_PER_RUN 2 /* on average; if runs are shorter, a list is cheaper */

int key_existence_plan(struct pg *pg, struct err *err)
{
    return pg_script(
        pg, "set local enable_seqscan = off; set local max_parallel_workers_per_gather = 0", err);
}

#define KEYS_TWICE 2 /* more rows mean a broken answer; the caller reports a repeated key */

/* A column of keys. */
static struct reader_form key_existence_keys_form(const struct keyset *keys)
{
    return (struct reader_form){1, KEYS_TWICE * keys->count + 1};
}

static int key_existence_send_runs(struct key_existence *p, struct reader *r,
                                   const struct rowsql *sql, struct keyset *keys, struct err *err)
{
    struct keyruns runs;
    int rc = 0;
    keyruns_make(&runs, keys);
    p->asked = runs.keys;
    p->found = 0;
    if (runs.runs * KEYS_PER_RUN > runs.keys || runs.first.failed || runs.last.failed) {
        p->way = KEY_EXISTENCE_LIST;
    } else {
        const char *const params[] = {buf_text(&runs.first), buf_text(&runs.last)};
        bool count = p->way == KEY_EXISTENCE_COUNT;
        rc = reader_send(r, count ? (struct reader_form){1, 1} : key_existence_keys_form(keys),
                         count ? sql->runs_count : sql->runs, params, 2, err);
    }
    keyruns_release(&runs);
    return rc;
}

/* If a text does not have the key's parts, the next way is used. */
static int key_existence_send_list(struct key_existence *p, struct reader *r,
                                   const struct rowsql *sql, const struct keyset *keys,
                                   size_t parts, struct err *err)
{
    struct keyarrays a;
    int rc = keyarrays_make(&a, keys, 0, keys->count, parts, err);
    if (rc == 0) {
        rc = reader_send(r, key_existence_keys_form(keys), sql->present, a.params, a.count, err);
    } else if (rc == ERR_REJECTED) {
        p->way = KEY_EXISTENCE_TEXT;
        rc = 0;
    }
    keyarrays_release(&a);
    return rc;
}

static int key_existence_send_texts(struct reader *r, const struct rowsql *sql,
                                    const struct keyset *keys, struct err *err)
{
    struct buf array;
    buf_init(&array, ARRAY_MAX_BYTES);
    buf_push_char(&array, '{');
    for (size_t i = 0; i < keys->count; i++) {
        buf_push_text(&array, i > 0 ? "," : "");
        sqlquote_item(&array, keyset_get(keys, i).data);
    }
    buf_push_char(&array, '}');
    const char *const params[] = {buf_text(&array)};
    int rc = array.failed
                 ? err_set(err, ERR_REJECTED, "the keys of one page are too long")
                 : reader_send(r, key_existence_keys_form(keys), sql->texts, params, 1, err);
    buf_release(&array);
    return rc;
}

int key_existence_send(struct key_existence *p, struct reader *r, const struct rowsql *sql,
                       struct keyset *keys, size_t parts, struct err *err)
{
    int rc = 0;
    if (p->way == KEY_EXISTENCE_COUNT && sql->runs_count == NULL) {
        p->way = KEY_EXISTENCE_LIST;
    }
    if (p->way == KEY_EXISTENCE_COUNT || p->way == KEY_EXISTENCE_RUNS) {
        rc = key_existence_send_runs(p, r, sql, keys, err);
    }
    if (rc == 0 && p->way == KEY_EXISTENCE_LIST) {
        rc = key_existence_send_list(p, r, sql, keys, parts, err);
    }
    if (rc == 0 && p->way == KEY_EXISTENCE_TEXT) {
        rc = key_existence_send_texts(r, sql, keys, err);
    }
    return rc;
}

void key_existence_take(struct key_existence *p, const struct row *row)
{
    p->found = strtoull(row->values[0].text, NULL, 10);
}

bool key_existence_end(struct key_existence *p, struct keyset *keys)
{
    if (p->way != KEY_EXISTENCE_COUNT) {
        return true;
    }
    if (p->found != p->asked) {
        p->way = KEY_EXISTENCE_RUNS;
        return false;
    }
    for (size_t i = 0; i < keys->count; i++) {
        keys->items[i].found = !keys->items[i].strange;
    }
    return true;
}

/* Class 22: a text that is invalid for the type, or a number out of range. */
bool key_existence_again(struct key_existence *p, struct reader *r, struct keyset *keys,
                         const struct err *err)
{
    struct err ignored;
    if (p->way != KEY_EXISTENCE_LIST || strncmp(err->sqlstate, "22", 2) != 0 ||
        reader_give_up(r, &ignored) < 0) {
        return false;
    }
    for (size_t i = 0; i < keys->count; i++) {
        keys->items[i].found = false;
    }
    p->way = KEY_EXISTENCE_TEXT;
    return true;
}
