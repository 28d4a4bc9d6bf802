/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL expression of a key's text. */
#include "rowferry/source/keytext.h"

#include <string.h>

#include "rowferry/base/buf.h"

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
