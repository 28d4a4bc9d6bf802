/* SPDX-License-Identifier: Apache-2.0 */
/* The durable position and its transaction. */
#include "rowferry/state/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "database.h"
#include "rowferry/base/failpoint.h"
#include "rowferry/state/guard_stop.h"

int checkpoint_load(struct state *s, struct checkpoint *out, struct err *err)
{
    *out = (struct checkpoint){0};
    sqlite3_stmt *row;
    int result = sql_query(s, SQL_CHECKPOINT_LOAD, NULL, &row, err);
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

void checkpoint_push_consumer(struct buf *out, const char *pipeline, const char *index,
                              const char *uuid)
{
    buf_printf(out, "%s/%s/%.8s", pipeline, index, uuid);
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
        const struct new_letter *letter = &settlement->letters[i];
        const struct sql_value *values =
            BIND(SPAN(letter->key), INTEGER(letter->kind), SPAN(letter->reason),
                 INTEGER(letter->http_status), INTEGER(letter->version),
                 INTEGER(settlement->wall_us), SPAN(letter->error_type));
        int result = sql_run(s, SQL_LETTER_ADD, values, err);
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
    int result = sql_query(s, SQL_LETTERS_ANY, NULL, &look, err);
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
        result = sql_run(s, SQL_LETTER_CLEAR, BIND(SPAN(settlement->cleared[i])), err);
        s->letters_revision++;
    }
    return result;
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
        result = sql_run_one(s, SQL_SETTLE,
                             BIND(STRING(settlement->position), INTEGER(settlement->settled),
                                  INTEGER(settlement->wall_us)),
                             "checkpoint", err);
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

int checkpoint_raise_ceiling(struct state *s, int64_t ceiling, struct err *err)
{
    return sql_run_one(s, SQL_RAISE_CEILING, BIND(INTEGER(ceiling)), "checkpoint", err);
}

int checkpoint_lower_ceiling(struct state *s, int64_t last, struct err *err)
{
    return sql_run_one(s, SQL_LOWER_CEILING, BIND(INTEGER(last)), "checkpoint", err);
}

static int checkpoint_enter_generation(struct state *s, const struct checkpoint *generation,
                                       struct err *err)
{
    const struct sql_value *values =
        BIND(STRING(generation->generation), INTEGER(generation->generation_number),
             STRING(generation->mapping_fingerprint), STRING(generation->table_fingerprint),
             STRING(generation->source_identity));
    int result = sql_run(s, SQL_BEGIN_GENERATION, values, err);
    if (result == 0 && sqlite3_changes(s->db) != 1) {
        return err_set(err, ERR_INTERNAL, "it has a generation that is not older than %" PRId64,
                       generation->generation_number);
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
    result = sql_run(s, SQL_LETTERS_DROP_UNBORN, NULL, err);
    if (result == 0) {
        result = checkpoint_enter_generation(s, generation, err);
    }
    return transaction_end(s, result, err);
}

int checkpoint_set_uuid(struct state *s, const char *uuid, struct err *err)
{
    return sql_run_one(s, SQL_SET_UUID, BIND(STRING(uuid)), "generation", err);
}

int checkpoint_go_live(struct state *s, int64_t wall_us, struct err *err)
{
    int result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    result = sql_run(s, SQL_LETTERS_DROP_FORMER, NULL, err);
    if (result == 0) {
        result = sql_run_one(s, SQL_GO_LIVE, BIND(INTEGER(wall_us)), "generation", err);
    }
    return transaction_end(s, result, err);
}

static int checkpoint_enter_taken_over(struct state *s, const struct checkpoint *c, int64_t wall_us,
                                       struct err *err)
{
    const struct sql_value *values =
        BIND(STRING(c->generation), INTEGER(c->generation_number), STRING(c->mapping_fingerprint),
             STRING(c->table_fingerprint), STRING(c->source_identity), STRING(c->index_uuid),
             STRING(c->position), INTEGER(c->clock_ceiling), INTEGER(wall_us));
    return sql_run_one(s, SQL_TAKE_OVER, values, "generation", err);
}

/* Imports dead letters; a text that is not JSON contains none: the statement was prepared, but
 * fails when it runs. json_valid is not called first, because it also returns false if memory is
 * exhausted. */
static int checkpoint_import_letters(struct state *s, const char *letters, int64_t *cut,
                                     struct err *err)
{
    struct err refused = {0};
    const struct sql_value *values = BIND(STRING(letters));
    int result = sql_run(s, SQL_LETTERS_IMPORT, values, &refused);
    s->letters_revision++;
    if (result == 0) {
        return sql_number(s, SQL_LETTERS_CUT, values, cut, err);
    }
    if (s->statements[SQL_LETTERS_IMPORT] != NULL && (refused.sqlite_code & 0xff) == SQLITE_ERROR) {
        return 0;
    }
    *err = refused;
    return result;
}

int checkpoint_take_over(struct state *s, const struct checkpoint *checkpoint, const char *letters,
                         int64_t wall_us, int64_t *cut, struct err *err)
{
    *cut = 0;
    int result = transaction_begin(s, err);
    if (result == 0) {
        result = sql_run(s, SQL_LIVE_DROP_LETTERS, NULL, err);
    }
    if (result == 0) {
        result = guard_stop_clear(s, err);
    }
    if (result == 0) {
        result = pipeline_row_delete(s, PIPELINE_ROW_RECONCILE, err);
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
