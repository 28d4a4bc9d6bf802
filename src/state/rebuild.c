/* SPDX-License-Identifier: Apache-2.0 */
/* The next generation's rows: creating, opening, promoting and deleting them. */
#include "rowferry/state/rebuild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "rowferry/base/buf.h"

#define NAME_MAX_BYTES 4096

/* No configuration can have this name, because a pipeline's name cannot contain a blank. */
static char *rebuild_next_name(const struct state *live)
{
    struct buf name;
    buf_init(&name, NAME_MAX_BYTES);
    buf_printf(&name, "%s (next)", live->pipeline);
    return buf_detach(&name);
}

int rebuild_look(struct state *live, struct rebuild *out, bool *underway, struct err *err)
{
    sqlite3_stmt *row;
    *out = (struct rebuild){0};
    *underway = false;
    int result = sql_step_plain(live, SQL_REBUILD_LOOK, &row, err);
    if (result <= 0) {
        return result;
    }
    *underway = true;
    *out = (struct rebuild){.kind = (enum rebuild_kind)sqlite3_column_int(row, 0),
                            .adopt = sqlite3_column_int(row, 1) != 0,
                            .begun_us = sqlite3_column_int64(row, 2)};
    sql_end(row);
    return 0;
}

/* --- beginning ------------------------------------------------------------------------------- */

static int rebuild_enter_next(struct state *live, const char *name, struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(live, SQL_REBUILD_ENTER, &row, err);
    if (result == 0) {
        sql_bind_text(row, 2, name);
        result = sql_run(live, row, err);
    }
    return result;
}

static int rebuild_enter_wish(struct state *live, const struct rebuild *rebuild, const char *name,
                              struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(live, SQL_REBUILD_BEGIN, &row, err);
    if (result == 0) {
        sql_bind_text(row, 2, name);
        sql_bind_int(row, 3, rebuild->kind);
        sql_bind_int(row, 4, rebuild->adopt ? 1 : 0);
        sql_bind_int(row, 5, rebuild->begun_us);
        result = sql_run(live, row, err);
    }
    return result;
}

static int rebuild_enter_former(struct state *live, const struct checkpoint *c, const char *name,
                                struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(live, SQL_REBUILD_BACK, &row, err);
    if (result == 0) {
        sql_bind_text(row, 2, name);
        sql_bind_text(row, 3, c->generation);
        sql_bind_text(row, 4, c->index_uuid);
        sql_bind_text(row, 5, c->mapping_fingerprint);
        sql_bind_text(row, 6, c->table_fingerprint);
        sql_bind_text(row, 7, c->source_identity);
        sql_bind_text(row, 8, c->position);
        sql_bind_int(row, 9, c->clock_ceiling);
        result = sql_run_one(live, row, "next generation", err);
    }
    return result;
}

/* Deletes the remaining rows of the next generation, and the rebuild itself. */
static int rebuild_drop_next(struct state *live, struct err *err)
{
    static const enum sql_id drops[] = {
        SQL_NEXT_DROP_LETTERS, SQL_NEXT_DROP_WORKING, SQL_NEXT_DROP_HALT,   SQL_NEXT_DROP_RECONCILE,
        SQL_NEXT_DROP_COPIED,  SQL_NEXT_DROP_BUILT,   SQL_NEXT_MOVE_FORMER, SQL_NEXT_DROP_PIPELINE,
        SQL_REBUILD_FORGET, /* last, because the other statements find the rows by it */
    };
    int result = 0;
    for (size_t i = 0; result == 0 && i < sizeof(drops) / sizeof(drops[0]); i++) {
        result = sql_run_plain(live, drops[i], err);
    }
    return result;
}

/* Deletes a leftover row of that name, and all rows that depend on it, by entering a rebuild for a
 * moment. */
static int rebuild_drop_stray(struct state *live, const char *name, struct err *err)
{
    int result = rebuild_enter_wish(live, &(struct rebuild){0}, name, err);
    return result == 0 ? rebuild_drop_next(live, err) : result;
}

int rebuild_begin(struct state *live, const struct rebuild *rebuild, const struct checkpoint *begin,
                  struct err *err)
{
    struct rebuild before;
    bool underway = false;
    char *name = rebuild_next_name(live);
    int result = transaction_begin(live, err);
    if (result == 0) {
        result = rebuild_look(live, &before, &underway, err);
        if (result == 0 && underway) {
            result = err_set(err, ERR_INTERNAL, "a rebuild of \"%s\" is under way", live->pipeline);
        }
        if (result == 0) {
            result = rebuild_drop_stray(live, name, err);
        }
        if (result == 0) {
            result = rebuild_enter_next(live, name, err);
        }
        if (result == 0 && begin != NULL) {
            result = rebuild_enter_former(live, begin, name, err);
        }
        if (result == 0) {
            result = rebuild_enter_wish(live, rebuild, name, err);
        }
        if (result == 0 && rebuild->former != NULL) {
            result = rebuild_former_forget(live, rebuild->former, err);
        }
        result = transaction_end(live, result, err);
    }
    free(name);
    return result;
}

int rebuild_open(struct state *live, struct state **next, struct err *err)
{
    struct rebuild rebuild;
    bool underway;
    *next = NULL;
    int result = rebuild_look(live, &rebuild, &underway, err);
    if (result == 0 && underway) {
        char *name = rebuild_next_name(live);
        result = live->read_only ? state_open_read_only(next, live->path, name, err)
                                 : state_open_known(next, live->path, name, err);
        free(name);
    }
    return result;
}

/* --- ending ---------------------------------------------------------------------------------- */

static int rebuild_enter_former_row(struct state *live, enum sql_id id, const char *consumer,
                                    int64_t left_us, struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(live, id, &row, err);
    if (result == 0) {
        sql_bind_text(row, 2, consumer);
        sql_bind_int(row, 3, left_us);
        result = sql_run(live, row, err);
    }
    return result;
}

static int rebuild_note_former(struct state *live, const char *consumer, int64_t wall_us,
                               struct err *err)
{
    return consumer != NULL
               ? rebuild_enter_former_row(live, SQL_FORMER_NOTE, consumer, wall_us, err)
               : 0;
}

/* Deletes rows of the live generation and replaces them with those of the next one. */
static int rebuild_move_rows(struct state *live, int64_t wall_us, struct err *err)
{
    static const enum sql_id moves[] = {
        SQL_LIVE_DROP_LETTERS, SQL_LIVE_DROP_HALT,         SQL_LIVE_DROP_RECONCILE,
        SQL_LIVE_DROP_COPIED,  SQL_LIVE_DROP_VERIFICATION, SQL_LIVE_DROP_BUILT,
        SQL_PROMOTE_LETTERS,   SQL_PROMOTE_RECONCILE,      SQL_PROMOTE_COPIED,
        SQL_PROMOTE_BUILT,
    };
    sqlite3_stmt *row;
    int result = sql_statement(live, SQL_PROMOTE, &row, err);
    if (result == 0) {
        sql_bind_int(row, 2, wall_us);
        result = sql_run_one(live, row, "next generation", err);
    }
    for (size_t i = 0; result == 0 && i < sizeof(moves) / sizeof(moves[0]); i++) {
        result = sql_run_plain(live, moves[i], err);
    }
    live->letters_revision++;
    return result;
}

int rebuild_promote(struct state *live, const char *consumer, int64_t wall_us, struct err *err)
{
    int result = transaction_begin(live, err);
    if (result == 0) {
        result = rebuild_move_rows(live, wall_us, err);
        if (result == 0) {
            result = rebuild_note_former(live, consumer, wall_us, err);
        }
        if (result == 0) {
            result = rebuild_drop_next(live, err);
        }
        result = transaction_end(live, result, err);
    }
    return result;
}

int rebuild_forget(struct state *live, const char *consumer, struct err *err)
{
    int result = transaction_begin(live, err);
    if (result == 0) {
        result = rebuild_note_former(live, consumer, 0, err);
        if (result == 0) {
            result = rebuild_drop_next(live, err);
        }
        result = transaction_end(live, result, err);
    }
    return result;
}

/* --- former generations ------------------------------------------------------------------- */

static int rebuild_look_for_former(struct state *live, enum sql_id id, struct former *out,
                                   bool *known, struct err *err)
{
    sqlite3_stmt *row;
    *out = (struct former){0};
    *known = false;
    int result = sql_statement(live, id, &row, err);
    if (result == 0) {
        result = sql_step(live, row, err);
    }
    if (result <= 0) {
        return result;
    }
    *known = true;
    snprintf(out->consumer, sizeof(out->consumer), "%s", sql_text(row, 0));
    out->left_us = sqlite3_column_int64(row, 1);
    out->count = sqlite3_column_int64(row, 2);
    sql_end(row);
    return 0;
}

int rebuild_former_look(struct state *live, struct former *out, bool *known, struct err *err)
{
    return rebuild_look_for_former(live, SQL_FORMER_LOOK, out, known, err);
}

int rebuild_former_last(struct state *live, struct former *out, bool *known, struct err *err)
{
    return rebuild_look_for_former(live, SQL_FORMER_LAST, out, known, err);
}

int rebuild_former_meet(struct state *live, const char *consumer, int64_t left_us, struct err *err)
{
    return rebuild_enter_former_row(live, SQL_FORMER_MEET, consumer, left_us, err);
}

int rebuild_former_due(struct state *live, const char *consumer, struct err *err)
{
    return rebuild_enter_former_row(live, SQL_FORMER_NOTE, consumer, 0, err);
}

int rebuild_former_forget(struct state *live, const char *consumer, struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(live, SQL_FORMER_FORGET, &row, err);
    if (result == 0) {
        sql_bind_text(row, 2, consumer);
        result = sql_run(live, row, err);
    }
    return result;
}
