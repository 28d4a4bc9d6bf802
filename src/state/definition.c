/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical texts by fingerprint, and properties added to a live generation. */
#include "rowferry/state/definition.h"

#include <stdlib.h>

#include "database.h"

static int definition_keep(struct state *s, const char *fingerprint, const char *words,
                           struct err *err)
{
    int result = sql_run(s, SQL_DEFINITION_ADD, BIND(STRING(fingerprint), STRING(words)), err);
    return result == 0 ? sql_run(s, SQL_DEFINITION_TRIM, NULL, err) : result;
}

/* Usually the text is known, and nothing is written. */
int definition_note(struct state *s, const char *fingerprint, const char *words, struct err *err)
{
    char *there;
    int result = definition_look(s, fingerprint, &there, err);
    if (result != 0 || there != NULL) {
        free(there);
        return result;
    }
    result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    return transaction_end(s, definition_keep(s, fingerprint, words, err), err);
}

int definition_look(struct state *s, const char *fingerprint, char **words, struct err *err)
{
    sqlite3_stmt *row;
    *words = NULL;
    int result = sql_query(s, SQL_DEFINITION_READ, BIND(STRING(fingerprint)), &row, err);
    if (result <= 0) {
        return result;
    }
    *words = sql_copy(row, 0);
    sql_end(row);
    return 0;
}

int definition_extension_note(struct state *s, const struct extension *e, struct err *err)
{
    int result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    result = sql_run_one(s, SQL_EXTEND,
                         BIND(STRING(e->mapping_fingerprint), STRING(e->table_fingerprint)),
                         "live generation", err);
    for (size_t i = 0; result == 0 && i < e->count; i++) {
        result =
            sql_run(s, SQL_EXTENSION_ADD, BIND(STRING(e->properties[i]), INTEGER(e->wall_us)), err);
    }
    if (result == 0) {
        result = sql_run(s, SQL_EXTENSION_TRIM, NULL, err);
    }
    return transaction_end(s, result, err);
}

int definition_extension_look(struct state *s, const char *generation, struct lacking *out,
                              struct err *err)
{
    sqlite3_stmt *row;
    *out = (struct lacking){0};
    int result = sql_query(s, SQL_EXTENSION_READ, BIND(STRING(generation)), &row, err);
    if (result <= 0) {
        return result;
    }
    out->properties = sql_copy(row, 0); /* null if the generation has none */
    out->since_us = sqlite3_column_int64(row, 1);
    sql_end(row);
    return 0;
}
