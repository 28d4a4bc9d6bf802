/* SPDX-License-Identifier: Apache-2.0 */
/* Run history: the last 100 runs of a pipeline. */
#include "rowferry/state/history.h"

#include <stdio.h>

#include "database.h"

#define RUNS_KEPT 100

static int history_insert_run(struct state *s, const char *command, int64_t wall_us, int64_t *id,
                              struct err *err)
{
    sqlite3_stmt *insert;
    int result = sql_statement(s, SQL_RUN_BEGIN, &insert, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(insert, 2, command);
    sql_bind_int(insert, 3, wall_us);
    result = sql_run(s, insert, err);
    *id = sqlite3_last_insert_rowid(s->db);
    return result;
}

static int history_trim_runs(struct state *s, struct err *err)
{
    sqlite3_stmt *trim;
    int result = sql_statement(s, SQL_RUN_TRIM, &trim, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(trim, 2, RUNS_KEPT);
    return sql_run(s, trim, err);
}

int history_begin(struct state *s, const char *command, int64_t wall_us, int64_t *id,
                  struct err *err)
{
    int result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    result = history_insert_run(s, command, wall_us, id, err);
    if (result == 0) {
        result = history_trim_runs(s, err);
    }
    return transaction_end(s, result, err);
}

int history_end(struct state *s, const struct run *run, struct err *err)
{
    sqlite3_stmt *update;
    int result = sql_statement(s, SQL_RUN_END, &update, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(update, 2, run->id);
    sql_bind_int(update, 3, run->ended_us);
    sql_bind_int(update, 4, run->upserts);
    sql_bind_int(update, 5, run->deletes);
    sql_bind_int(update, 6, run->rejected);
    sql_bind_int(update, 7, run->bytes);
    sql_bind_int(update, 8, run->exit_code);
    sql_bind_text(update, 9, run->message);
    return sql_run_one(s, update, "run", err);
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
    int result = sql_statement(s, SQL_RUNS_LAST, &rows, err);
    if (result != 0 || max == 0) {
        return result;
    }
    sql_bind_int(rows, 2, (int64_t)max);
    while ((result = sql_step(s, rows, err)) > 0) {
        history_read_run(&out[(*count)++], rows);
    }
    return result;
}
