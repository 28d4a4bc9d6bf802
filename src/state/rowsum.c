/* SPDX-License-Identifier: Apache-2.0 */
/* row_sum: a hash of types and texts of all values. */
#include "rowsum.h"

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

#define ROW_MAX_BYTES ((size_t)64 << 20)

static void rowsum(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct buf row;
    bool exhausted = false;
    buf_init(&row, ROW_MAX_BYTES);
    for (int i = 0; i < count; i++) {
        int type = sqlite3_value_type(values[i]); /* before the conversion to text */
        const void *text = sqlite3_value_text(values[i]);
        buf_printf(&row, "%d:%d:", type, sqlite3_value_bytes(values[i]));
        buf_push(&row, text, (size_t)sqlite3_value_bytes(values[i]));
        exhausted = exhausted || (text == NULL && type != SQLITE_NULL);
    }
    if (row.failed || exhausted) {
        sqlite3_result_error_nomem(context);
    } else {
        sqlite3_result_int64(context, (sqlite3_int64)text_hash(buf_text(&row), row.len));
    }
    buf_release(&row);
}

int rowsum_register(sqlite3 *db)
{
    return sqlite3_create_function_v2(db, "row_sum", -1,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                      rowsum, NULL, NULL, NULL);
}
