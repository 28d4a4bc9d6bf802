/* SPDX-License-Identifier: Apache-2.0 */
/* Adds newly mapped columns to those that a consumer's index relies on. */
#include <inttypes.h>
#include <stdio.h>

#include "catalog/catalog_private.h"
#include "catalog/installed.h"
#include "changelog/consumer.h"
#include "pg/pg_private.h"
#include "rowferry/source/changelog/changelog.h"
#include "sql/sqlquote.h"

#define TEXT_MAX_BYTES ((size_t)1 << 20)

/* Looks up the types of the columns, one line per field and label. */
static int extend_look_up_types(struct pg *pg, const struct table *t, const char *const *columns,
                                size_t count, struct buf *out, struct err *err)
{
    struct buf types;
    struct pg_result *r = NULL;
    int rc = 0;
    buf_init(&types, TEXT_MAX_BYTES);
    for (size_t i = 0; i < count; i++) {
        const struct column *column = row_columns_find(&t->columns, columns[i]);
        if (column != NULL) {
            column_push_types(&types, column);
        }
    }
    if (types.len > 0) {
        buf_push_char(&types, '}');
        rc = pg_ask(pg, &r, "table_types", PG_PARAMS(buf_text(&types)), err);
    }
    if (rc == 0 && r != NULL) {
        buf_push_text(out, pg_text(r, 0, 0));
    }
    pg_result_release(r);
    buf_release(&types);
    return rc;
}

/* All other recorded facts stay, so that their drift is still noticed. */
int extend_changelog(struct pg *pg, const struct table *t, const char *consumer,
                     const char *const *columns, size_t count, struct err *err)
{
    struct buf names;
    struct buf types;
    struct installed installed = {0};
    struct consumer c = {.name = consumer};
    buf_init(&names, TEXT_MAX_BYTES);
    buf_init(&types, 16 * TEXT_MAX_BYTES);
    sqlquote_array(&names, columns, count);
    int rc = installed_require(pg, t, &installed, err);
    c.capture = installed.capture;
    if (rc == 0) {
        rc = extend_look_up_types(pg, t, columns, count, &types, err);
    }
    if (rc == 0) {
        rc = consumer_connect(&c, pg, err);
    }
    if (rc == 0) {
        rc = consumer_extend(&c, t->oid, buf_text(&names), buf_text(&types), err);
    }
    consumer_release(&c);
    buf_release(&names);
    buf_release(&types);
    return rc;
}
