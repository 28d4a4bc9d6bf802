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

int request_file(struct state *s, const char *command, const char *arguments, int64_t wall_us,
                 int64_t *id, struct err *err)
{
    int result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    result = sql_run(s, SQL_REQUEST_FILE,
                     BIND(STRING(command), STRING(arguments), INTEGER(wall_us)), err);
    *id = sqlite3_last_insert_rowid(s->db);
    if (result == 0) {
        result = sql_run(s, SQL_REQUEST_TRIM,
                         BIND(INTEGER(ANSWERED_KEPT), INTEGER(wall_us - ANSWERED_KEPT_US)), err);
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

int request_take(struct state *s, int64_t after, int64_t *id, struct buf *command,
                 struct buf *arguments, struct err *err)
{
    sqlite3_stmt *row;
    *id = 0;
    int result = sql_query(s, SQL_REQUEST_OLDEST, BIND(INTEGER(after)), &row, err);
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
        result = sql_run_one(s, SQL_REQUEST_TAKE, BIND(INTEGER(oldest)), "request", err);
    }
    *id = result == 0 ? oldest : 0;
    return result;
}

int request_answer(struct state *s, int64_t id, enum request_state state, const char *answer,
                   int64_t wall_us, struct err *err)
{
    const struct sql_value *values =
        BIND(INTEGER(id), INTEGER(state), STRING(answer), INTEGER(wall_us));
    return sql_run_one(s, SQL_REQUEST_ANSWER, values, "request", err);
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
    int result = sql_query(s, SQL_REQUEST_READ, BIND(INTEGER(id)), &row, err);
    if (result <= 0) {
        return result < 0 ? result : err_set(err, ERR_STATE, "it has no request %" PRId64, id);
    }
    *state = (enum request_state)sqlite3_column_int(row, 0);
    result = request_push_column(answer, row, 1, err);
    sql_end(row);
    return result;
}
