/* SPDX-License-Identifier: Apache-2.0 */
/* The row with the progress of a lock holder. */
#include "rowferry/state/live_progress.h"

#include <stdio.h>

#include "database.h"

int live_progress_write(struct state *s, const struct live_progress *w, struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(s, SQL_WORKING_TELL, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(row, 2, w->told_us);
    sql_bind_text(row, 3, w->stage);
    sql_bind_int(row, 4, w->rows);
    sql_bind_int(row, 5, w->rows_per_second);
    sqlite3_bind_double(row, 6, w->share);
    sql_bind_int(row, 7, w->remaining_ms);
    sql_bind_int(row, 8, w->in_flight);
    sql_bind_int(row, 9, w->batch_bytes);
    sql_bind_text(row, 10, w->frozen);
    sql_bind_int(row, 11, w->equal_us);
    sql_bind_int(row, 12, w->lag_rows);
    sql_bind_int(row, 13, w->hold_pid);
    sql_bind_int(row, 14, w->hold_us);
    sql_bind_text(row, 15, w->stall);
    sql_bind_text(row, 16, w->stall_why);
    sql_bind_int(row, 17, w->stall_us);
    sql_bind_text(row, 18, w->hold_who);
    return sql_run(s, row, err);
}

int live_progress_read(struct state *s, struct live_progress *out, bool *known, struct err *err)
{
    sqlite3_stmt *row;
    *out = (struct live_progress){0};
    *known = false;
    int result = sql_step_plain(s, SQL_WORKING_LOOK, &row, err);
    if (result <= 0) {
        return result;
    }
    out->told_us = sqlite3_column_int64(row, 0);
    snprintf(out->stage, sizeof(out->stage), "%s", sql_text(row, 1));
    out->rows = sqlite3_column_int64(row, 2);
    out->rows_per_second = sqlite3_column_int64(row, 3);
    out->share = sqlite3_column_double(row, 4);
    out->remaining_ms = sqlite3_column_int64(row, 5);
    out->in_flight = sqlite3_column_int64(row, 6);
    out->batch_bytes = sqlite3_column_int64(row, 7);
    snprintf(out->frozen, sizeof(out->frozen), "%s", sql_text(row, 8));
    out->equal_us = sqlite3_column_int64(row, 9);
    out->lag_rows = sqlite3_column_int64(row, 10);
    out->hold_pid = sqlite3_column_int64(row, 11);
    out->hold_us = sqlite3_column_int64(row, 12);
    snprintf(out->stall, sizeof(out->stall), "%s", sql_text(row, 13));
    snprintf(out->stall_why, sizeof(out->stall_why), "%s", sql_text(row, 14));
    out->stall_us = sqlite3_column_int64(row, 15);
    snprintf(out->hold_who, sizeof(out->hold_who), "%s", sql_text(row, 16));
    *known = out->stage[0] != '\0';
    sql_end(row);
    return 0;
}
