/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL expression of a key's text, and whether a text is a key. */
#include "rowferry/source/keytext.h"

#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/document/key.h"

#define SQL_MAX_BYTES ((size_t)1 << 20)
#define PARTS_MAX_BYTES ((size_t)16 << 20)

static int push_column(struct pg *pg, struct buf *out, const char *alias, const char *column,
                       struct err *err)
{
    buf_push_text(out, alias);
    buf_push_literal(out, ".");
    int rc = pg_push_identifier(pg, out, column, err);
    buf_push_literal(out, "::text");
    return rc;
}

/* Strings are written with E'', so that no setting of a writer's session changes what they mean. */
static int push_part(struct pg *pg, struct buf *out, const char *alias, const char *column,
                     struct err *err)
{
    buf_push_literal(out, "replace(replace(");
    int rc = push_column(pg, out, alias, column, err);
    buf_push_literal(out, ", E'\\\\', E'\\\\\\\\'), ':', E'\\\\:')");
    return rc;
}

int keytext_push(struct pg *pg, struct buf *out, const char *alias, const char *const *key,
                 size_t key_count, struct err *err)
{
    int rc = 0;
    buf_push_literal(out, "((");
    for (size_t i = 0; i < key_count && rc == 0; i++) {
        buf_push_text(out, i > 0 ? " || ':' || " : "");
        rc = key_count == 1 ? push_column(pg, out, alias, key[i], err)
                            : push_part(pg, out, alias, key[i], err);
    }
    buf_push_literal(out, ") collate \"C\")");
    return rc;
}

int keytext_expect_later(const char *after, const char *key, struct err *err)
{
    if (key == NULL || strcmp(after, key) != 0) {
        return 0;
    }
    err_set(err, ERR_REJECTED, "the listing of keys went back: the key \"%s\" came twice", key);
    return err_hint(err, "the condition or query has rows come that were not asked for: see that "
                         "from.where, --where or from.query depends on the row alone");
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
        buf_printf(&sql, "%s$%zu::text::%s", i > 0 ? ", " : "select ", i + 1, t->key_types[i]);
    }
    int rc = *possible ? pg_query(pg, NULL, buf_text(&sql), params, t->key_count, err) : 0;
    if (rc == ERR_REJECTED && strncmp(err->sqlstate, "22", 2) == 0) {
        *possible = false;
        rc = 0;
    }
    buf_release(&sql);
    buf_release(&parts);
    return rc;
}
