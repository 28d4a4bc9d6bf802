/* SPDX-License-Identifier: Apache-2.0 */
/* The row with the last scheduled comparison. */
#include "rowferry/state/verification.h"

#include <stdio.h>

#include "database.h"

int verification_note(struct state *s, const struct verification *v, struct err *err)
{
    const int64_t numbers[] = {v->ended_us, v->took_ms, v->rows,     v->documents,
                               v->missing,  v->extra,   v->altered,  v->dead_letters,
                               v->waiting,  v->sent,    v->restored, v->failed};
    const int count = (int)(sizeof(numbers) / sizeof(*numbers));
    sqlite3_stmt *row;
    int result = sql_statement(s, SQL_VERIFICATION_NOTE, &row, err);
    if (result != 0) {
        return result;
    }
    for (int i = 0; i < count; i++) {
        sql_bind_int(row, 2 + i, numbers[i]);
    }
    sql_bind_text(row, 2 + count, v->message);
    return sql_run(s, row, err);
}

int verification_look(struct state *s, struct verification *out, bool *known, struct err *err)
{
    sqlite3_stmt *row;
    *out = (struct verification){0};
    *known = false;
    int result = sql_step_plain(s, SQL_VERIFICATION_LOOK, &row, err);
    if (result <= 0) {
        return result;
    }
    int64_t *const numbers[] = {&out->ended_us, &out->took_ms, &out->rows,    &out->documents,
                                &out->missing,  &out->extra,   &out->altered, &out->dead_letters,
                                &out->waiting,  &out->sent};
    const int count = (int)(sizeof(numbers) / sizeof(*numbers));
    for (int i = 0; i < count; i++) {
        *numbers[i] = sqlite3_column_int64(row, i);
    }
    out->restored = sqlite3_column_int(row, count) != 0;
    out->failed = sqlite3_column_int(row, count + 1) != 0;
    snprintf(out->message, sizeof(out->message), "%s", sql_text(row, count + 2));
    sql_end(row);
    *known = true;
    return 0;
}
