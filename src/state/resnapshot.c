/* SPDX-License-Identifier: Apache-2.0 */
/* The row with the last re-snapshot in place. */
#include "rowferry/state/resnapshot.h"

#include <stdio.h>

#include "database.h"

int resnapshot_write(struct state *s, const char *reason, int64_t begun_us, struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(s, SQL_COPIED_NOTE, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(row, 2, begun_us);
    sql_bind_text(row, 3, reason);
    return sql_run(s, row, err);
}

int resnapshot_read(struct state *s, struct resnapshot *out, bool *known, struct err *err)
{
    sqlite3_stmt *row;
    *out = (struct resnapshot){0};
    *known = false;
    int result = sql_step_plain(s, SQL_COPIED_LOOK, &row, err);
    if (result <= 0) {
        return result;
    }
    out->begun_us = sqlite3_column_int64(row, 0);
    snprintf(out->reason, sizeof(out->reason), "%s", sql_text(row, 1));
    sql_end(row);
    *known = true;
    return 0;
}
