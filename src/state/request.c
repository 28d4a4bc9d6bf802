/* SPDX-License-Identifier: Apache-2.0 */
/* Requests from other commands to the pipeline's lock holder. */
#include "rowferry/state/request.h"

#include <inttypes.h>
#include <string.h>

#include "database.h"
#include "rowferry/base/text.h"

#define REFUSAL_MAX_BYTES ((size_t)16 * 1024)
#define ANSWERED_KEPT 100                          /* more of them are kept while they are new, */
#define ANSWERED_KEPT_US (INT64_C(3600) * 1000000) /* the client may not have read them yet */

static int request_insert(struct state *s, const char *command, const char *arguments,
                          int64_t wall_us, int64_t *id, struct err *err)
{
    sqlite3_stmt *insert;
    int result = sql_statement(s, SQL_REQUEST_FILE, &insert, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(insert, 2, command);
    sql_bind_text(insert, 3, arguments);
    sql_bind_int(insert, 4, wall_us);
    result = sql_run(s, insert, err);
    *id = sqlite3_last_insert_rowid(s->db);
    return result;
}

static int request_trim_answered(struct state *s, int64_t wall_us, struct err *err)
{
    sqlite3_stmt *trim;
    int result = sql_statement(s, SQL_REQUEST_TRIM, &trim, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(trim, 2, ANSWERED_KEPT);
    sql_bind_int(trim, 3, wall_us - ANSWERED_KEPT_US);
    return sql_run(s, trim, err);
}

int request_file(struct state *s, const char *command, const char *arguments, int64_t wall_us,
                 int64_t *id, struct err *err)
{
    int result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    result = request_insert(s, command, arguments, wall_us, id, err);
    if (result == 0) {
        result = request_trim_answered(s, wall_us, err);
    }
    return transaction_end(s, result, err);
}

static int request_push_column(struct buf *out, sqlite3_stmt *row, int column, struct err *err)
{
    buf_reset(out);
    buf_push_text(out, sql_text(row, column));
    return out->failed
               ? err_set(err, ERR_STATE, "a request is longer than %zu bytes", out->max_bytes)
               : 0;
}

static int request_mark_taken(struct state *s, int64_t id, struct err *err)
{
    sqlite3_stmt *update;
    int result = sql_statement(s, SQL_REQUEST_TAKE, &update, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(update, 2, id);
    return sql_run_one(s, update, "request", err);
}

int request_take(struct state *s, int64_t after, int64_t *id, struct buf *command,
                 struct buf *arguments, struct err *err)
{
    sqlite3_stmt *row;
    *id = 0;
    int result = sql_statement(s, SQL_REQUEST_OLDEST, &row, err);
    if (result == 0) {
        sql_bind_int(row, 2, after);
        result = sql_step(s, row, err);
    }
    if (result <= 0) {
        return result;
    }
    int64_t oldest = sqlite3_column_int64(row, 0);
    result = request_push_column(command, row, 1, err);
    if (result == 0) {
        result = request_push_column(arguments, row, 2, err);
    }
    sql_end(row);
    if (result == 0) {
        result = request_mark_taken(s, oldest, err);
    }
    *id = result == 0 ? oldest : 0;
    return result;
}

int request_answer(struct state *s, int64_t id, enum request_state state, const char *answer,
                   int64_t wall_us, struct err *err)
{
    sqlite3_stmt *update;
    int result = sql_statement(s, SQL_REQUEST_ANSWER, &update, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(update, 2, id);
    sql_bind_int(update, 3, state);
    sql_bind_text(update, 4, answer);
    sql_bind_int(update, 5, wall_us);
    return sql_run_one(s, update, "request", err);
}

int request_refuse(struct state *s, int64_t id, const char *why, const char *hint, int64_t wall_us,
                   struct err *err)
{
    struct buf answer;
    buf_init(&answer, REFUSAL_MAX_BYTES);
    buf_push_literal(&answer, "{\"error\":");
    text_json(&answer, why, strlen(why));
    if (hint[0] != '\0') {
        buf_push_literal(&answer, ",\"hint\":");
        text_json(&answer, hint, strlen(hint));
    }
    buf_push_char(&answer, '}');
    int result = request_answer(s, id, REQUEST_FAILED, buf_text(&answer), wall_us, err);
    buf_release(&answer);
    return result;
}

int request_look(struct state *s, int64_t id, enum request_state *state, struct buf *answer,
                 struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(s, SQL_REQUEST_LOOK, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_int(row, 2, id);
    result = sql_step(s, row, err);
    if (result <= 0) {
        return result < 0 ? result
                          : err_set(err, ERR_STATE, "pipeline \"%s\" has no request %" PRId64,
                                    s->pipeline, id);
    }
    *state = (enum request_state)sqlite3_column_int(row, 0);
    result = request_push_column(answer, row, 1, err);
    sql_end(row);
    return result;
}
