/* SPDX-License-Identifier: Apache-2.0 */
/* Divides an initial load by key ranges. */
#include "copy/split.h"

#include <stdlib.h>
#include <string.h>

#include "pg/pg_private.h"
#include "pg/template.h"
#include "rowferry/base/embed.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/key.h"
#include "sql/sqlquote.h"

#define SQL_MAX_BYTES ((size_t)64 * 1024)
#define KEY_BYTES ((size_t)64 << 20)

static void split_fill(const struct table *t, const char *name, struct buf *sql)
{
    struct buf column, schema, table;
    buf_init(&column, SQL_MAX_BYTES);
    buf_init(&schema, SQL_MAX_BYTES);
    buf_init(&table, SQL_MAX_BYTES);
    buf_printf(&table, "%s%s", t->tree ? "" : "only ", t->quoted);
    sqlquote_identifier(&column, t->key[0]);
    sqlquote_identifier(&schema, t->key_operators[0]);
    const struct placeholder places[] = {{"column", buf_text(&column)},
                                         {"schema", buf_text(&schema)},
                                         {"table", buf_text(&table)},
                                         {"type", t->key_types[0]},
                                         {0}};
    template_fill(sql, embed_text(source_sql, name), places);
    buf_release(&column);
    buf_release(&schema);
    buf_release(&table);
}

/* Returns the value of the key's first part after which the load continues; null at its
 * beginning. */
static int split_first_part(struct buf *out, const struct table *t, const struct copy_range *range,
                            const char **part, struct err *err)
{
    size_t offsets[KEY_MAX_PARTS];
    *part = range->range == KEY_RANGE_BEYOND ? range->key : NULL;
    if (range->range != KEY_RANGE_AFTER) {
        return 0;
    }
    int rc = key_split(out, offsets, range->key, strlen(range->key), t->key_count, err);
    *part = rc == 0 ? buf_text(out) + offsets[0] : NULL;
    return rc;
}

static int split_ask(struct pg *pg, const struct table *t, const char *after, size_t parts,
                     struct pg_result **out, struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    split_fill(t, "copy_split", &sql);
    int rc = pg_query(
        pg, out, "any: text", buf_text(&sql),
        PG_PARAMS(PG_INT(t->oid), t->key[0], t->tree ? "t" : "f", after, PG_INT(parts)), err);
    buf_release(&sql);
    return rc;
}

int split_find(struct pg *pg, const struct table *t, const struct copy_range *range, size_t parts,
               char **values, size_t *count, struct err *err)
{
    struct pg_result *r = NULL;
    struct buf key;
    const char *after;
    *count = 0;
    if (catalog_key_is_users(t, 0)) { /* the texts of the statistics would need a cast */
        return 0;
    }
    buf_init(&key, KEY_BYTES);
    int rc = split_first_part(&key, t, range, &after, err);
    if (rc == 0) {
        rc = split_ask(pg, t, after, parts, &r, err);
    }
    for (size_t i = 0; rc == 0 && i < pg_rows(r) && i + 1 < parts; i++) {
        values[(*count)++] = text_copy(pg_text(r, i, 0));
    }
    pg_result_release(r);
    buf_release(&key);
    return rc;
}

static void split_push_item(struct buf *array, const char *text)
{
    buf_push_text(array, array->len > 1 ? "," : "");
    if (text == NULL) {
        buf_push_literal(array, "null");
    } else {
        sqlquote_item(array, text);
    }
}

static int split_push_ranges(const struct table *t, const struct snapshot_ranges *left,
                             struct buf *after, struct buf *until, struct err *err)
{
    int rc = 0;
    buf_push_char(after, '{');
    buf_push_char(until, '{');
    for (size_t i = 0; rc == 0 && i < left->count; i++) {
        struct buf key;
        const char *part = NULL;
        buf_init(&key, KEY_BYTES);
        rc = split_first_part(&key, t, &left->items[i].range, &part, err);
        split_push_item(after, part);
        split_push_item(until, left->items[i].range.until);
        buf_release(&key);
    }
    buf_push_char(after, '}');
    buf_push_char(until, '}');
    return rc;
}

static int split_ask_left(struct pg *pg, const struct table *t, const char *after,
                          const char *until, double *share, struct err *err)
{
    struct buf sql;
    struct pg_result *r = NULL;
    buf_init(&sql, SQL_MAX_BYTES);
    split_fill(t, "copy_left", &sql);
    int rc = pg_query(pg, &r, "one: text?", buf_text(&sql),
                      PG_PARAMS(PG_INT(t->oid), t->key[0], t->tree ? "t" : "f", after, until), err);
    const char *found = rc == 0 && pg_rows(r) > 0 ? pg_text(r, 0, 0) : NULL;
    *share = found != NULL ? strtod(found, NULL) : 1;
    pg_result_release(r);
    buf_release(&sql);
    return rc;
}

int split_left(struct pg *pg, const struct table *t, const struct snapshot_ranges *left,
               double *share, struct err *err)
{
    struct buf after;
    struct buf until;
    *share = 1;
    if (catalog_key_is_users(t, 0)) {
        return 0;
    }
    buf_init(&after, KEY_BYTES);
    buf_init(&until, KEY_BYTES);
    int rc = split_push_ranges(t, left, &after, &until, err);
    if (rc == 0) {
        rc = split_ask_left(pg, t, buf_text(&after), buf_text(&until), share, err);
    }
    buf_release(&after);
    buf_release(&until);
    return rc;
}
