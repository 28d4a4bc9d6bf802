/* SPDX-License-Identifier: Apache-2.0 */
/* The row that marks a pipeline as paused. */
#include "rowferry/state/pause.h"

#include "database.h"
#include "rowferry/base/clock.h"

int pause_begin(struct state *s, int64_t wall_us, struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(s, SQL_PAUSE_BEGIN, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(row, 2, wall_us);
    return sql_run(s, row, err);
}

int pause_end(struct state *s, struct err *err)
{
    return sql_run_plain(s, SQL_PAUSE_END, err);
}

int pause_look(struct state *s, int64_t *since_us, struct err *err)
{
    sqlite3_stmt *row;
    *since_us = 0;
    int result = sql_step_plain(s, SQL_PAUSE_LOOK, &row, err);
    if (result > 0) {
        *since_us = sqlite3_column_int64(row, 0);
        sql_end(row);
        result = 0;
    }
    return result;
}

int pause_expect_none(struct state *s, struct err *err)
{
    char iso[CLOCK_ISO_BYTES];
    int64_t since_us;
    int result = pause_look(s, &since_us, err);
    if (result < 0 || since_us == 0) {
        return result;
    }
    err_set(err, ERR_STATE, "pipeline \"%s\" is paused since %s", s->pipeline,
            clock_iso(iso, since_us, 0));
    return err_hint(err, "run: rowferry resume %s", s->pipeline);
}
