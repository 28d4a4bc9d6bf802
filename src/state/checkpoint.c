/* SPDX-License-Identifier: Apache-2.0 */
/* The durable position and its transaction. */
#include "rowferry/state/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "database.h"
#include "rowferry/base/failpoint.h"

int checkpoint_load(struct state *s, struct checkpoint *out, struct err *err)
{
    *out = (struct checkpoint){0};
    sqlite3_stmt *row;
    int result = sql_step_plain(s, SQL_CHECKPOINT_LOAD, &row, err);
    if (result <= 0) {
        return result; /* no row: nothing built yet */
    }
    if (sqlite3_column_int(row, 11) != 1) {
        sql_end(row);
        return database_damaged(s, "the sum of the checkpoint is wrong", err);
    }
    out->phase = (enum generation_phase)sqlite3_column_int(row, 0);
    out->generation = sql_copy(row, 1);
    out->index_uuid = sql_copy(row, 2);
    out->mapping_fingerprint = sql_copy(row, 3);
    out->table_fingerprint = sql_copy(row, 4);
    out->source_identity = sql_copy(row, 5);
    out->position = sql_copy(row, 6);
    out->generation_number = sqlite3_column_int64(row, 7);
    out->clock_ceiling = sqlite3_column_int64(row, 8);
    out->settled_at_us = sqlite3_column_int64(row, 9);
    out->documents = sqlite3_column_int64(row, 10);
    sql_end(row);
    return 0;
}

void checkpoint_release(struct checkpoint *c)
{
    free(c->generation);
    free(c->index_uuid);
    free(c->mapping_fingerprint);
    free(c->table_fingerprint);
    free(c->source_identity);
    free(c->position);
    *c = (struct checkpoint){0};
}

/* Enforces the invariant, also in release builds: aborting loses nothing, continuing would. */
static void checkpoint_assert_settled(const struct state *s, const struct settlement *settlement)
{
    if (settlement->unsettled != 0) {
        fprintf(stderr,
                "rowferry: pipeline \"%s\": the checkpoint would pass %" PRIu64
                " unsettled operations; this is a bug, nothing is lost\n",
                s->pipeline, settlement->unsettled);
        abort();
    }
}

static int checkpoint_add_letters(struct state *s, const struct settlement *settlement,
                                  struct err *err)
{
    for (size_t i = 0; i < settlement->letter_count; i++) {
        const struct letter *letter = &settlement->letters[i];
        sqlite3_stmt *insert;
        int result = sql_statement(s, SQL_LETTER_ADD, &insert, err);
        if (result != 0) {
            return result;
        }
        sql_bind_span(insert, 2, letter->key);
        sql_bind_int(insert, 3, letter->kind);
        sql_bind_span(insert, 4, letter->reason);
        sql_bind_int(insert, 5, letter->http_status);
        sql_bind_int(insert, 6, letter->version);
        sql_bind_int(insert, 7, settlement->wall_us);
        sql_bind_span(insert, 8, letter->error_type);
        result = sql_run(s, insert, err);
        if (result != 0) {
            return result;
        }
        s->letters_revision++;
    }
    return 0;
}

/* Returns 1 if the generation has a dead letter. Usually it has none, and clearing can be
 * skipped. */
static int checkpoint_any_letter(struct state *s, struct err *err)
{
    sqlite3_stmt *look;
    int result = sql_step_plain(s, SQL_LETTERS_ANY, &look, err);
    if (result > 0) {
        sql_end(look);
    }
    return result;
}

static int checkpoint_clear_letters(struct state *s, const struct settlement *settlement,
                                    struct err *err)
{
    int result = settlement->cleared_count > 0 ? checkpoint_any_letter(s, err) : 0;
    if (result <= 0) {
        return result;
    }
    result = 0;
    for (size_t i = 0; result == 0 && i < settlement->cleared_count; i++) {
        sqlite3_stmt *clear;
        result = sql_statement(s, SQL_LETTER_CLEAR, &clear, err);
        if (result == 0) {
            sql_bind_span(clear, 2, settlement->cleared[i]);
            result = sql_run(s, clear, err);
            s->letters_revision++;
        }
    }
    return result;
}

static int checkpoint_move_position(struct state *s, const struct settlement *settlement,
                                    struct err *err)
{
    sqlite3_stmt *update;
    int result = sql_statement(s, SQL_SETTLE, &update, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(update, 2, settlement->position);
    sql_bind_int(update, 3, settlement->settled);
    sql_bind_int(update, 4, settlement->wall_us);
    return sql_run_one(s, update, "checkpoint", err);
}

int checkpoint_settle(struct state *s, const struct settlement *settlement, struct err *err)
{
    checkpoint_assert_settled(s, settlement);
    int result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    result = checkpoint_add_letters(s, settlement, err);
    if (result == 0) {
        result = checkpoint_clear_letters(s, settlement, err);
    }
    if (result == 0) {
        result = checkpoint_move_position(s, settlement, err);
    }
    if (result == 0 && FAILPOINT("checkpoint_before_commit")) {
        result = err_set(err, ERR_TRANSIENT, "failpoint \"checkpoint_before_commit\"");
    }
    result = transaction_end(s, result, err);
    if (result == 0 && FAILPOINT("checkpoint_after_commit")) {
        result = err_set(err, ERR_TRANSIENT, "failpoint \"checkpoint_after_commit\"");
    }
    return result;
}

static int checkpoint_put_ceiling(struct state *s, enum sql_id which, int64_t ceiling,
                                  struct err *err)
{
    sqlite3_stmt *update;
    int result = sql_statement(s, which, &update, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(update, 2, ceiling);
    return sql_run_one(s, update, "checkpoint", err);
}

int checkpoint_raise_ceiling(struct state *s, int64_t ceiling, struct err *err)
{
    return checkpoint_put_ceiling(s, SQL_RAISE_CEILING, ceiling, err);
}

int checkpoint_lower_ceiling(struct state *s, int64_t last, struct err *err)
{
    return checkpoint_put_ceiling(s, SQL_LOWER_CEILING, last, err);
}

static int checkpoint_enter_generation(struct state *s, const struct checkpoint *generation,
                                       struct err *err)
{
    sqlite3_stmt *update;
    int result = sql_statement(s, SQL_BEGIN_GENERATION, &update, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(update, 2, generation->generation);
    sql_bind_int(update, 3, generation->generation_number);
    sql_bind_text(update, 4, generation->mapping_fingerprint);
    sql_bind_text(update, 5, generation->table_fingerprint);
    sql_bind_text(update, 6, generation->source_identity);
    result = sql_run(s, update, err);
    if (result == 0 && sqlite3_changes(s->db) != 1) {
        return err_set(err, ERR_INTERNAL,
                       "pipeline \"%s\": generation %" PRId64 " is not newer than the last",
                       s->pipeline, generation->generation_number);
    }
    return result;
}

int checkpoint_begin_generation(struct state *s, const struct checkpoint *generation,
                                struct err *err)
{
    int result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    result = sql_run_plain(s, SQL_LETTERS_DROP_UNBORN, err);
    if (result == 0) {
        result = checkpoint_enter_generation(s, generation, err);
    }
    return transaction_end(s, result, err);
}

int checkpoint_set_uuid(struct state *s, const char *uuid, struct err *err)
{
    sqlite3_stmt *update;
    int result = sql_statement(s, SQL_SET_UUID, &update, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(update, 2, uuid);
    return sql_run_one(s, update, "generation", err);
}

static int checkpoint_enter_live(struct state *s, int64_t wall_us, struct err *err)
{
    sqlite3_stmt *update;
    int result = sql_statement(s, SQL_GO_LIVE, &update, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(update, 2, wall_us);
    return sql_run_one(s, update, "generation", err);
}

int checkpoint_go_live(struct state *s, int64_t wall_us, struct err *err)
{
    int result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    result = sql_run_plain(s, SQL_LETTERS_DROP_FORMER, err);
    if (result == 0) {
        result = checkpoint_enter_live(s, wall_us, err);
    }
    return transaction_end(s, result, err);
}

static int checkpoint_enter_taken_over(struct state *s, const struct checkpoint *c, int64_t wall_us,
                                       struct err *err)
{
    sqlite3_stmt *update;
    int result = sql_statement(s, SQL_TAKE_OVER, &update, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(update, 2, c->generation);
    sql_bind_int(update, 3, c->generation_number);
    sql_bind_text(update, 4, c->mapping_fingerprint);
    sql_bind_text(update, 5, c->table_fingerprint);
    sql_bind_text(update, 6, c->source_identity);
    sql_bind_text(update, 7, c->index_uuid);
    sql_bind_text(update, 8, c->position);
    sql_bind_int(update, 9, c->clock_ceiling);
    sql_bind_int(update, 10, wall_us);
    return sql_run_one(s, update, "generation", err);
}

static int checkpoint_count_cut(struct state *s, const char *letters, int64_t *cut, struct err *err)
{
    sqlite3_stmt *statement;
    int result = sql_statement(s, SQL_LETTERS_CUT, &statement, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(statement, 2, letters);
    result = sql_step(s, statement, err);
    if (result > 0) {
        *cut = sqlite3_column_int64(statement, 0);
        sql_end(statement);
        result = 0;
    }
    return result;
}

/* Imports dead letters; a text that is not JSON contains none. json_valid is not called first,
 * because it also returns false if memory is exhausted. */
static int checkpoint_import_letters(struct state *s, const char *letters, int64_t *cut,
                                     struct err *err)
{
    sqlite3_stmt *statement;
    struct err refused = {0};
    int result = sql_statement(s, SQL_LETTERS_IMPORT, &statement, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(statement, 2, letters);
    result = sql_run(s, statement, &refused);
    s->letters_revision++;
    if (result != 0 && (refused.sqlite_code & 0xff) == SQLITE_ERROR) {
        return 0;
    }
    if (result != 0) {
        *err = refused;
        return result;
    }
    return checkpoint_count_cut(s, letters, cut, err);
}

int checkpoint_take_over(struct state *s, const struct checkpoint *checkpoint, const char *letters,
                         int64_t wall_us, int64_t *cut, struct err *err)
{
    static const enum sql_id old[] = {SQL_LIVE_DROP_LETTERS, SQL_LIVE_DROP_HALT,
                                      SQL_LIVE_DROP_RECONCILE};
    *cut = 0;
    int result = transaction_begin(s, err);
    for (size_t i = 0; result == 0 && i < sizeof(old) / sizeof(old[0]); i++) {
        result = sql_run_plain(s, old[i], err);
    }
    if (result != 0) {
        return transaction_end(s, result, err);
    }
    result = checkpoint_enter_taken_over(s, checkpoint, wall_us, err);
    if (result == 0) {
        result = checkpoint_import_letters(s, letters, cut, err);
    }
    return transaction_end(s, result, err);
}
