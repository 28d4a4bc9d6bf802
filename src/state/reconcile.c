/* SPDX-License-Identifier: Apache-2.0 */
/* The row with the last reconcile. */
#include "rowferry/state/reconcile.h"

#include "database.h"

int reconcile_note(struct state *s, const struct reconcile *r, struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(s, SQL_RECONCILE_NOTE, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(row, 2, r->finished_us);
    sql_bind_int(row, 3, r->owed_us);
    sql_bind_int(row, 4, r->late_us);
    sql_bind_int(row, 5, r->flying ? 1 : 0);
    return sql_run(s, row, err);
}

int reconcile_look(struct state *s, struct reconcile *out, bool *known, struct err *err)
{
    sqlite3_stmt *row;
    *out = (struct reconcile){0};
    *known = false;
    int result = sql_step_plain(s, SQL_RECONCILE_LOOK, &row, err);
    if (result <= 0) {
        return result;
    }
    *known = true;
    *out = (struct reconcile){.finished_us = sqlite3_column_int64(row, 0),
                              .owed_us = sqlite3_column_int64(row, 1),
                              .late_us = sqlite3_column_int64(row, 2),
                              .flying = sqlite3_column_int(row, 3) != 0};
    sql_end(row);
    return 0;
}
