/* SPDX-License-Identifier: Apache-2.0 */
/* The next generation's rows: creating, opening, promoting and deleting them. */
#include "rowferry/state/rebuild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "rowferry/base/buf.h"
#include "rowferry/state/generation_config.h"

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
    int result = sql_query(live, SQL_REBUILD_READ, NULL, &row, err);
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

static int rebuild_enter_wish(struct state *live, const struct rebuild *rebuild, const char *name,
                              struct err *err)
{
    const struct sql_value *values =
        BIND(STRING(name), INTEGER(rebuild->kind), INTEGER(rebuild->adopt ? 1 : 0),
             INTEGER(rebuild->begun_us));
    return sql_run(live, SQL_REBUILD_BEGIN, values, err);
}

static int rebuild_enter_former(struct state *live, const struct checkpoint *c, const char *name,
                                struct err *err)
{
    const struct sql_value *values =
        BIND(STRING(name), STRING(c->generation), STRING(c->index_uuid),
             STRING(c->mapping_fingerprint), STRING(c->table_fingerprint),
             STRING(c->source_identity), STRING(c->position), INTEGER(c->clock_ceiling));
    return sql_run_one(live, SQL_REBUILD_BACK, values, "next generation", err);
}

/* Deletes the remaining rows of the next generation, and the rebuild itself. */
static int rebuild_drop_next(struct state *live, struct err *err)
{
    static const enum sql_id drops[] = {
        SQL_NEXT_DROP_LETTERS, SQL_NEXT_MOVE_FORMER, SQL_NEXT_DROP_PIPELINE,
        SQL_REBUILD_DELETE, /* last, because the other statements find the rows by it */
    };
    int result = pipeline_row_delete_next(live, err);
    for (size_t i = 0; result == 0 && i < sizeof(drops) / sizeof(drops[0]); i++) {
        result = sql_run(live, drops[i], NULL, err);
    }
    return result;
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
        if (result == 0) { /* a leftover of that name goes with all rows that depend on it */
            result = rebuild_enter_wish(live, &(struct rebuild){0}, name, err);
        }
        if (result == 0) {
            result = rebuild_drop_next(live, err);
        }
        if (result == 0) {
            result = sql_run(live, SQL_REBUILD_ENTER, BIND(STRING(name)), err);
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
        result = live->read_only ? state_open_again(next, live->path, name, err)
                                 : state_open_known(next, live->path, name, err);
        free(name);
    }
    return result;
}

/* --- ending ---------------------------------------------------------------------------------- */

static int rebuild_note_former(struct state *live, const char *consumer, int64_t wall_us,
                               struct err *err)
{
    return consumer != NULL
               ? sql_run(live, SQL_FORMER_WRITE, BIND(STRING(consumer), INTEGER(wall_us)), err)
               : 0;
}

/* Deletes rows of the live generation and replaces them with those of the next one. */
static int rebuild_move_rows(struct state *live, int64_t wall_us, struct err *err)
{
    struct rebuild rebuild;
    bool underway;
    int result = rebuild_look(live, &rebuild, &underway, err);
    if (result == 0) {
        result = generation_config_leave(live, rebuild.kind == REBUILD_BACK, err);
    }
    if (result == 0) {
        result = sql_run_one(live, SQL_PROMOTE, BIND(INTEGER(wall_us)), "next generation", err);
    }
    if (result == 0) {
        result = sql_run(live, SQL_LIVE_DROP_LETTERS, NULL, err);
    }
    if (result == 0) {
        result = sql_run(live, SQL_PROMOTE_LETTERS, NULL, err);
    }
    if (result == 0) {
        result = pipeline_row_promote(live, err);
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
    int result = sql_query(live, id, NULL, &row, err);
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
    return rebuild_look_for_former(live, SQL_FORMER_OLDEST, out, known, err);
}

int rebuild_former_last(struct state *live, struct former *out, bool *known, struct err *err)
{
    return rebuild_look_for_former(live, SQL_FORMER_NEWEST, out, known, err);
}

int rebuild_former_meet(struct state *live, const char *consumer, int64_t left_us, struct err *err)
{
    return sql_run(live, SQL_FORMER_ADD, BIND(STRING(consumer), INTEGER(left_us)), err);
}

int rebuild_former_due(struct state *live, const char *consumer, struct err *err)
{
    return sql_run(live, SQL_FORMER_WRITE, BIND(STRING(consumer), INTEGER(0)), err);
}

int rebuild_former_forget(struct state *live, const char *consumer, struct err *err)
{
    return sql_run(live, SQL_FORMER_DELETE, BIND(STRING(consumer)), err);
}
