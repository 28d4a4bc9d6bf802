/* SPDX-License-Identifier: Apache-2.0 */
/* A table of columns for each kind of row, from which its statements are derived. */
#include "rowferry/state/pipeline_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "rowferry/base/buf.h"
#include "rowferry/state/generation_config.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/hook_marks.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/pause.h"
#include "rowferry/state/reconcile.h"
#include "rowferry/state/request_limit.h"
#include "rowferry/state/resnapshot.h"
#include "rowferry/state/validation.h"
#include "rowferry/state/verification.h"
#include "rowferry/state/written_place.h"

#define SQL_MAX_BYTES 4096

struct state_column {
    const char *name; /* of the column and the member; null ends a table */
    enum {
        COLUMN_NUMBER, /* int64_t */
        COLUMN_FLAG,   /* bool */
        COLUMN_REAL,   /* double */
        COLUMN_TEXT,   /* char[size] */
        COLUMN_COPY,   /* char *: borrowed when written, owned by the caller when read */
    } type;
    size_t offset;
    size_t size;
    const char *update; /* the new value if the row exists; null: the one that is written */
};

#define COLUMN(kind, tag, member)                                                                  \
    .name = #member, .type = (kind), .offset = offsetof(struct tag, member),                       \
    .size = sizeof(((struct tag *)0)->member)

static const struct state_column live_progress_columns[] = {
    {COLUMN(COLUMN_NUMBER, live_progress, told_us)},
    {COLUMN(COLUMN_TEXT, live_progress, stage)},
    {COLUMN(COLUMN_NUMBER, live_progress, rows)},
    {COLUMN(COLUMN_NUMBER, live_progress, rows_per_second)},
    {COLUMN(COLUMN_REAL, live_progress, share)},
    {COLUMN(COLUMN_NUMBER, live_progress, remaining_ms)},
    {COLUMN(COLUMN_NUMBER, live_progress, in_flight)},
    {COLUMN(COLUMN_NUMBER, live_progress, batch_bytes)},
    {COLUMN(COLUMN_TEXT, live_progress, growth_stopped)},
    {COLUMN(COLUMN_TEXT, live_progress, holder)},
    {COLUMN(COLUMN_TEXT, live_progress, failed_why)},
    {COLUMN(COLUMN_NUMBER, live_progress, equal_us), .update = "max(equal_us, excluded.equal_us)"},
    {COLUMN(COLUMN_NUMBER, live_progress, lag_rows)},
    {COLUMN(COLUMN_NUMBER, live_progress, hold_pid)},
    {COLUMN(COLUMN_NUMBER, live_progress, hold_us)},
    {COLUMN(COLUMN_TEXT, live_progress, hold_who)},
    {COLUMN(COLUMN_TEXT, live_progress, stall)},
    {COLUMN(COLUMN_TEXT, live_progress, stall_why)},
    {COLUMN(COLUMN_TEXT, live_progress, stall_hint)},
    {COLUMN(COLUMN_NUMBER, live_progress, stall_us)},
    {COLUMN(COLUMN_TEXT, live_progress, away)},
    {.name = NULL},
};

static const struct state_column guard_stop_columns[] = {
    {COLUMN(COLUMN_NUMBER, guard_stop, deletes)},
    {COLUMN(COLUMN_NUMBER, guard_stop, documents)},
    {COLUMN(COLUMN_NUMBER, guard_stop, rejected)},
    {COLUMN(COLUMN_NUMBER, guard_stop, operations)},
    {COLUMN(COLUMN_NUMBER, guard_stop, at_us)},
    {COLUMN(COLUMN_TEXT, guard_stop, reason)},
    {.name = NULL},
};

static const struct state_column pause_columns[] = {
    {COLUMN(COLUMN_NUMBER, pause, since_us), .update = "since_us"},
    {.name = NULL},
};

static const struct state_column reconcile_columns[] = {
    {COLUMN(COLUMN_NUMBER, reconcile, finished_us)},
    {COLUMN(COLUMN_NUMBER, reconcile, owed_us)},
    {COLUMN(COLUMN_NUMBER, reconcile, late_us)},
    {COLUMN(COLUMN_FLAG, reconcile, flying)},
    {.name = NULL},
};

static const struct state_column verification_columns[] = {
    {COLUMN(COLUMN_NUMBER, verification, ended_us)},
    {COLUMN(COLUMN_NUMBER, verification, took_ms)},
    {COLUMN(COLUMN_NUMBER, verification, rows)},
    {COLUMN(COLUMN_NUMBER, verification, documents)},
    {COLUMN(COLUMN_NUMBER, verification, missing)},
    {COLUMN(COLUMN_NUMBER, verification, extra)},
    {COLUMN(COLUMN_NUMBER, verification, altered)},
    {COLUMN(COLUMN_NUMBER, verification, dead_letters)},
    {COLUMN(COLUMN_NUMBER, verification, waiting)},
    {COLUMN(COLUMN_NUMBER, verification, sent)},
    {COLUMN(COLUMN_FLAG, verification, restored)},
    {COLUMN(COLUMN_FLAG, verification, failed)},
    {COLUMN(COLUMN_TEXT, verification, message)},
    {.name = NULL},
};

static const struct state_column resnapshot_columns[] = {
    {COLUMN(COLUMN_NUMBER, resnapshot, begun_us)},
    {COLUMN(COLUMN_TEXT, resnapshot, reason)},
    {.name = NULL},
};

static const struct state_column generation_config_columns[] = {
    {COLUMN(COLUMN_COPY, generation_config, generation)},
    {COLUMN(COLUMN_COPY, generation_config, configuration)},
    {.name = NULL},
};

static const struct state_column former_config_columns[] = {
    {COLUMN(COLUMN_COPY, former_config, configuration)},
    {COLUMN(COLUMN_FLAG, former_config, returned)},
    {.name = NULL},
};

static const struct state_column validation_columns[] = {
    {COLUMN(COLUMN_TEXT, validation, definition)},
    {COLUMN(COLUMN_NUMBER, validation, ended_us)},
    {COLUMN(COLUMN_FLAG, validation, passed)},
    {.name = NULL},
};

static const struct state_column hook_marks_columns[] = {
    {COLUMN(COLUMN_NUMBER, hook_marks, guard_us)},
    {COLUMN(COLUMN_NUMBER, hook_marks, dead_letters)},
    {COLUMN(COLUMN_TEXT, hook_marks, stopped)},
    {COLUMN(COLUMN_FLAG, hook_marks, troubled)},
    {COLUMN(COLUMN_TEXT, hook_marks, generation)},
    {.name = NULL},
};

static const struct state_column request_limit_columns[] = {
    {COLUMN(COLUMN_NUMBER, request_limit, bytes)},
    {COLUMN(COLUMN_NUMBER, request_limit, learned_us)},
    {.name = NULL},
};

static const struct state_column written_place_columns[] = {
    {COLUMN(COLUMN_TEXT, written_place, uuid)},
    {COLUMN(COLUMN_TEXT, written_place, place)},
    {COLUMN(COLUMN_FLAG, written_place, lost)},
    {.name = NULL},
};

static const struct {
    const char *name; /* of the table */
    const struct state_column *columns;
    enum {
        STAYS,    /* with the pipeline, whichever generation is live */
        ENDS,     /* with the generation: deleted when the next one goes live */
        REPLACED, /* by the row of the next generation when that goes live */
    } on_promote;
} tables[PIPELINE_ROWS] = {
    [PIPELINE_ROW_LIVE_PROGRESS] = {"working", live_progress_columns, STAYS},
    [PIPELINE_ROW_GUARD_STOP] = {"halt", guard_stop_columns, ENDS},
    [PIPELINE_ROW_PAUSE] = {"pause", pause_columns, STAYS},
    [PIPELINE_ROW_RECONCILE] = {"reconcile", reconcile_columns, REPLACED},
    [PIPELINE_ROW_VERIFICATION] = {"verification", verification_columns, ENDS},
    [PIPELINE_ROW_RESNAPSHOT] = {"copied", resnapshot_columns, REPLACED},
    [PIPELINE_ROW_GENERATION_CONFIG] = {"built", generation_config_columns, REPLACED},
    [PIPELINE_ROW_FORMER_CONFIG] = {"former_config", former_config_columns, STAYS},
    [PIPELINE_ROW_VALIDATION] = {"validation", validation_columns, STAYS},
    [PIPELINE_ROW_HOOK_MARKS] = {"hook_marks", hook_marks_columns, STAYS},
    [PIPELINE_ROW_REQUEST_LIMIT] = {"request_limit", request_limit_columns, STAYS},
    [PIPELINE_ROW_PLACE] = {"place", written_place_columns, REPLACED},
};

static void pipeline_row_push_names(struct buf *sql, const struct state_column *columns)
{
    for (const struct state_column *c = columns; c->name != NULL; c++) {
        buf_printf(sql, "%s%s", c == columns ? "" : ", ", c->name);
    }
}

static void pipeline_row_push_write(struct buf *sql, const char *table,
                                    const struct state_column *columns)
{
    buf_printf(sql, "insert into %s (pipeline, ", table);
    pipeline_row_push_names(sql, columns);
    buf_push_literal(sql, ") values (?1");
    for (const struct state_column *c = columns; c->name != NULL; c++) {
        buf_push_literal(sql, ", ?");
    }
    buf_push_literal(sql, ") on conflict (pipeline) do update set ");
    for (const struct state_column *c = columns; c->name != NULL; c++) {
        buf_printf(sql, "%s%s = ", c == columns ? "" : ", ", c->name);
        buf_printf(sql, c->update != NULL ? "%s" : "excluded.%s",
                   c->update != NULL ? c->update : c->name);
    }
}

static void pipeline_row_push_text(struct buf *sql, enum pipeline_row which,
                                   enum pipeline_row_action action)
{
    const char *table = tables[which].name;
    switch (action) {
    case PIPELINE_ROW_WRITE:
        pipeline_row_push_write(sql, table, tables[which].columns);
        break;
    case PIPELINE_ROW_READ:
        buf_push_literal(sql, "select ");
        pipeline_row_push_names(sql, tables[which].columns);
        buf_printf(sql, " from %s where pipeline = ?1", table);
        break;
    case PIPELINE_ROW_DELETE:
        buf_printf(sql, "delete from %s where pipeline = ?1", table);
        break;
    case PIPELINE_ROW_DELETE_NEXT:
        buf_printf(sql, "delete from %s where pipeline = " NEXT, table);
        break;
    case PIPELINE_ROW_PROMOTE:
        buf_printf(sql, "update %s set pipeline = ?1 where pipeline = " NEXT, table);
        break;
    case PIPELINE_ROW_ACTIONS:
        break;
    }
}

static int pipeline_row_statement(struct state *s, enum pipeline_row which,
                                  enum pipeline_row_action action, sqlite3_stmt **out,
                                  struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    if (s->rows[which][action] == NULL) {
        pipeline_row_push_text(&sql, which, action);
    }
    int result = sql_prepare(s, &s->rows[which][action], buf_text(&sql), err);
    *out = s->rows[which][action];
    buf_release(&sql);
    return result;
}

static int pipeline_row_run(struct state *s, enum pipeline_row which,
                            enum pipeline_row_action action, struct err *err)
{
    sqlite3_stmt *statement;
    int result = pipeline_row_statement(s, which, action, &statement, err);
    return result == 0 ? sql_finish(s, statement, err) : result;
}

static void pipeline_row_bind(sqlite3_stmt *statement, int index, const struct state_column *c,
                              const void *member)
{
    struct sql_value value = {0};
    switch (c->type) {
    case COLUMN_NUMBER:
        value = (struct sql_value)INTEGER(*(const int64_t *)member);
        break;
    case COLUMN_FLAG:
        value = (struct sql_value)INTEGER(*(const bool *)member ? 1 : 0);
        break;
    case COLUMN_REAL:
        value = (struct sql_value){.type = SQL_REAL, .real = *(const double *)member};
        break;
    case COLUMN_TEXT:
        value = (struct sql_value)STRING((const char *)member);
        break;
    case COLUMN_COPY:
        value = (struct sql_value)STRING(*(const char *const *)member);
        break;
    }
    sql_bind(statement, index, &value);
}

int pipeline_row_write(struct state *s, enum pipeline_row which, const void *row, struct err *err)
{
    const struct state_column *columns = tables[which].columns;
    sqlite3_stmt *statement;
    int result = pipeline_row_statement(s, which, PIPELINE_ROW_WRITE, &statement, err);
    if (result != 0) {
        return result;
    }
    for (int i = 0; columns[i].name != NULL; i++) {
        pipeline_row_bind(statement, i + 2, &columns[i], (const char *)row + columns[i].offset);
    }
    return sql_finish(s, statement, err);
}

static void pipeline_row_fetch(sqlite3_stmt *row, int index, const struct state_column *c,
                               void *member)
{
    switch (c->type) {
    case COLUMN_NUMBER:
        *(int64_t *)member = sqlite3_column_int64(row, index);
        break;
    case COLUMN_FLAG:
        *(bool *)member = sqlite3_column_int(row, index) != 0;
        break;
    case COLUMN_REAL:
        *(double *)member = sqlite3_column_double(row, index);
        break;
    case COLUMN_TEXT:
        snprintf(member, c->size, "%s", sql_text(row, index));
        break;
    case COLUMN_COPY:
        *(char **)member = sql_copy(row, index);
        break;
    }
}

int pipeline_row_read(struct state *s, enum pipeline_row which, void *row, bool *known,
                      struct err *err)
{
    const struct state_column *columns = tables[which].columns;
    sqlite3_stmt *statement;
    for (const struct state_column *c = columns; c->name != NULL; c++) {
        memset((char *)row + c->offset, 0, c->size);
    }
    *known = false;
    int result = pipeline_row_statement(s, which, PIPELINE_ROW_READ, &statement, err);
    result = result == 0 ? sql_step(s, statement, err) : result;
    if (result <= 0) {
        return result;
    }
    for (int i = 0; columns[i].name != NULL; i++) {
        pipeline_row_fetch(statement, i, &columns[i], (char *)row + columns[i].offset);
    }
    sql_end(statement);
    *known = true;
    return 0;
}

int pipeline_row_delete(struct state *s, enum pipeline_row which, struct err *err)
{
    return pipeline_row_run(s, which, PIPELINE_ROW_DELETE, err);
}

int pipeline_row_delete_next(struct state *live, struct err *err)
{
    int result = 0;
    for (enum pipeline_row which = 0; result == 0 && which < PIPELINE_ROWS; which++) {
        result = pipeline_row_run(live, which, PIPELINE_ROW_DELETE_NEXT, err);
    }
    return result;
}

int pipeline_row_promote(struct state *live, struct err *err)
{
    int result = 0;
    for (enum pipeline_row which = 0; result == 0 && which < PIPELINE_ROWS; which++) {
        if (tables[which].on_promote != STAYS) {
            result = pipeline_row_run(live, which, PIPELINE_ROW_DELETE, err);
        }
        if (result == 0 && tables[which].on_promote == REPLACED) {
            result = pipeline_row_run(live, which, PIPELINE_ROW_PROMOTE, err);
        }
    }
    return result;
}
