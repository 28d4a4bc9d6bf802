/* SPDX-License-Identifier: Apache-2.0 */
/* Run history: the last 100 runs of a pipeline. */
#include "rowferry/state/history.h"

#include <stdio.h>

#include "database.h"

#define RUNS_KEPT 100

int history_begin(struct state *s, const char *command, int64_t wall_us, int64_t *id,
                  struct err *err)
{
    int result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    result = sql_run(s, SQL_RUN_BEGIN, BIND(STRING(command), INTEGER(wall_us)), err);
    *id = sqlite3_last_insert_rowid(s->db);
    if (result == 0) {
        result = sql_run(s, SQL_RUN_TRIM, BIND(INTEGER(RUNS_KEPT)), err);
    }
    return transaction_end(s, result, err);
}

int history_end(struct state *s, const struct run *run, struct err *err)
{
    const struct sql_value *values = BIND(
        INTEGER(run->id), INTEGER(run->ended_us), INTEGER(run->upserts), INTEGER(run->deletes),
        INTEGER(run->rejected), INTEGER(run->bytes), INTEGER(run->exit_code), STRING(run->message));
    return sql_run_one(s, SQL_RUN_END, values, "run", err);
}

static void history_read_run(struct run *out, sqlite3_stmt *row)
{
    *out = (struct run){.id = sqlite3_column_int64(row, 0)};
    snprintf(out->command, sizeof(out->command), "%s", sql_text(row, 1));
    out->started_us = sqlite3_column_int64(row, 2);
    out->ended_us = sqlite3_column_int64(row, 3);
    out->upserts = sqlite3_column_int64(row, 4);
    out->deletes = sqlite3_column_int64(row, 5);
    out->rejected = sqlite3_column_int64(row, 6);
    out->bytes = sqlite3_column_int64(row, 7);
    out->exit_code = sqlite3_column_int(row, 8);
    snprintf(out->message, sizeof(out->message), "%s", sql_text(row, 9));
}

int history_last(struct state *s, struct run *out, size_t max, size_t *count, struct err *err)
{
    sqlite3_stmt *rows;
    *count = 0;
    if (max == 0) {
        return 0;
    }
    int result = sql_query(s, SQL_RUNS_LAST, BIND(INTEGER((int64_t)max)), &rows, err);
    for (; result > 0; result = sql_step(s, rows, err)) {
        history_read_run(&out[(*count)++], rows);
    }
    return result;
}
