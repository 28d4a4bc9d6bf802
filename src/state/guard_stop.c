/* SPDX-License-Identifier: Apache-2.0 */
/* The row with what the guard refused. */
#include "rowferry/state/guard_stop.h"

#include <stdio.h>

#include "database.h"

int guard_stop_write(struct state *s, const struct guard_stop *halt, struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(s, SQL_HALT_NOTE, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(row, 2, halt->deletes);
    sql_bind_int(row, 3, halt->documents);
    sql_bind_int(row, 4, halt->rejected);
    sql_bind_int(row, 5, halt->operations);
    sql_bind_int(row, 6, halt->at_us);
    sql_bind_text(row, 7, halt->reason);
    return sql_run(s, row, err);
}

int guard_stop_read(struct state *s, struct guard_stop *out, bool *known, struct err *err)
{
    sqlite3_stmt *row;
    *out = (struct guard_stop){0};
    *known = false;
    int result = sql_step_plain(s, SQL_HALT_LOOK, &row, err);
    if (result <= 0) {
        return result;
    }
    *known = true;
    *out = (struct guard_stop){.deletes = sqlite3_column_int64(row, 0),
                               .documents = sqlite3_column_int64(row, 1),
                               .rejected = sqlite3_column_int64(row, 2),
                               .operations = sqlite3_column_int64(row, 3),
                               .at_us = sqlite3_column_int64(row, 4)};
    snprintf(out->reason, sizeof(out->reason), "%s", sql_text(row, 5));
    sql_end(row);
    return 0;
}

int guard_stop_clear(struct state *s, struct err *err)
{
    return sql_run_plain(s, SQL_HALT_FORGET, err);
}
