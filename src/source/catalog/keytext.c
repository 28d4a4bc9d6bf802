/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL expression of a key's text, and the check that a text is a possible key. */
#include "rowferry/source/catalog/keytext.h"

#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/document/model/key.h"
#include "sql/sqlquote.h"

#define SQL_MAX_BYTES ((size_t)1 << 20)
#define PARTS_MAX_BYTES ((size_t)16 << 20)

/* The oids of the built-in types whose cast to text differs from their output function. */
enum { BOOL = 16, INET = 869, BPCHAR = 1042 };

/* Pushes `column` as its output function writes it, and NULL for NULL. concat() calls that function
 * for any type, and only a superuser can define one. num_nulls() only looks at the value itself;
 * "is null" would look into a composite. */
static void keytext_push_output(struct buf *out, const char *column)
{
    buf_printf(out, "case when num_nulls(%s) = 0 then concat(%s) end", column, column);
}

/* Pushes the same text as `column::text` without the cast. The type's owner can define a cast,
 * which would run with the rights of the evaluating role. Three built-in types have a cast that
 * differs from the output function. */
static void keytext_push_without_cast(struct buf *out, const char *column, uint32_t type)
{
    if (type == BOOL) {
        buf_printf(out, "case concat(%s) when 't' then 'true' when 'f' then 'false' end", column);
    } else if (type == BPCHAR) {
        buf_push_literal(out, "rtrim(");
        keytext_push_output(out, column);
        buf_push_literal(out, ", ' ')");
    } else if (type == INET) {
        keytext_push_output(out, column);
        buf_printf(out,
                   " || case when concat(%s) like '%%/%%' then '' "
                   "when concat(%s) like '%%:%%' then '/128' else '/32' end",
                   column, column);
    } else {
        keytext_push_output(out, column);
    }
}

/* recorded: the column's type may have changed since the expression was written. */
static void keytext_push_column(struct buf *out, const char *alias, const struct table *t,
                                size_t part, bool recorded)
{
    struct buf column;
    const struct column *c = row_columns_find(&t->columns, t->key[part]);
    buf_init(&column, SQL_MAX_BYTES);
    buf_printf(&column, "%s.", alias);
    sqlquote_identifier(&column, t->key[part]);
    if (recorded || catalog_key_is_users(t, part)) {
        keytext_push_without_cast(out, buf_text(&column), c != NULL ? c->oid : 0);
    } else {
        buf_printf(out, "%s::text", buf_text(&column));
    }
    buf_release(&column);
}

/* Strings are written as E'', so that no setting of a writer's session changes their meaning. */
static void keytext_push_key(struct buf *out, const char *alias, const struct table *t,
                             bool recorded)
{
    bool several = t->key_count > 1;
    buf_push_literal(out, "((");
    for (size_t i = 0; i < t->key_count; i++) {
        buf_push_text(out, i > 0 ? " || ':' || " : "");
        buf_push_text(out, several ? "replace(replace(" : "");
        keytext_push_column(out, alias, t, i, recorded);
        buf_push_text(out, several ? ", E'\\\\', E'\\\\\\\\'), ':', E'\\\\:')" : "");
    }
    buf_push_literal(out, ") collate \"C\")");
}

void keytext_push(struct buf *out, const char *alias, const struct table *t)
{
    keytext_push_key(out, alias, t, false);
}

void keytext_push_recorded(struct buf *out, const char *alias, const struct table *t)
{
    keytext_push_key(out, alias, t, true);
}

void keytext_push_columns(struct buf *out, const struct table *t, const char *behind,
                          const char *between)
{
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(out, "%st.", i > 0 ? between : "");
        sqlquote_identifier(out, t->key[i]);
        buf_push_text(out, behind);
    }
}

int keytext_expect_later(const char *after, const char *key, struct err *err)
{
    if (key == NULL || strcmp(after, key) != 0) {
        return 0;
    }
    err_set(err, ERR_REJECTED, "the listing of keys went back: the key \"%s\" came twice", key);
    return err_hint(err, "the condition or query returned rows that were not requested: "
                         "from.where, --where and from.query must depend on the row alone");
}

int keytext_possible(struct pg *pg, const struct table *t, struct span key, bool *possible,
                     struct err *err)
{
    struct buf sql;
    struct buf parts;
    struct err why;
    size_t offsets[KEY_MAX_PARTS];
    const char *params[KEY_MAX_PARTS];
    buf_init(&sql, SQL_MAX_BYTES);
    buf_init(&parts, PARTS_MAX_BYTES);
    *possible = key_split(&parts, offsets, key.data, key.len, t->key_count, &why) == 0;
    for (size_t i = 0; i < t->key_count && *possible; i++) {
        params[i] = buf_text(&parts) + offsets[i];
        buf_printf(&sql, "%s$%zu::%s", i > 0 ? ", " : "select ", i + 1, t->key_types[i]);
    }
    int rc = *possible ? pg_query(pg, NULL, NULL, buf_text(&sql), params, t->key_count, err) : 0;
    if (rc == ERR_REJECTED && strncmp(err->sqlstate, "22", 2) == 0) {
        *possible = false;
        rc = 0;
    }
    buf_release(&sql);
    buf_release(&parts);
    return rc;
}
