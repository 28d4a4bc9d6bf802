/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical texts by fingerprint, and properties added to a live generation. */
#include "rowferry/state/definition.h"

#include <stdlib.h>

#include "database.h"

static int definition_keep(struct state *s, const char *fingerprint, const char *words,
                           struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(s, SQL_DEFINITION_NOTE, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(row, 2, fingerprint);
    sql_bind_text(row, 3, words);
    result = sql_run(s, row, err);
    return result == 0 ? sql_run_plain(s, SQL_DEFINITION_TRIM, err) : result;
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
    int result = sql_statement(s, SQL_DEFINITION_LOOK, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(row, 2, fingerprint);
    result = sql_step(s, row, err);
    if (result <= 0) {
        return result;
    }
    *words = sql_copy(row, 0);
    sql_end(row);
    return 0;
}

static int definition_put_fingerprints(struct state *s, const struct extension *e, struct err *err)
{
    sqlite3_stmt *update;
    int result = sql_statement(s, SQL_EXTEND, &update, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(update, 2, e->mapping_fingerprint);
    sql_bind_text(update, 3, e->table_fingerprint);
    return sql_run_one(s, update, "live generation", err);
}

static int definition_put_property(struct state *s, const char *property, int64_t wall_us,
                                   struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_statement(s, SQL_EXTENDED_NOTE, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(row, 2, property);
    sql_bind_int(row, 3, wall_us);
    return sql_run(s, row, err);
}

int definition_extension_note(struct state *s, const struct extension *extension, struct err *err)
{
    int result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    result = definition_put_fingerprints(s, extension, err);
    for (size_t i = 0; result == 0 && i < extension->count; i++) {
        result = definition_put_property(s, extension->properties[i], extension->wall_us, err);
    }
    if (result == 0) {
        result = sql_run_plain(s, SQL_EXTENDED_TRIM, err);
    }
    return transaction_end(s, result, err);
}

int definition_extension_look(struct state *s, const char *generation, struct lacking *out,
                              struct err *err)
{
    sqlite3_stmt *row;
    *out = (struct lacking){0};
    int result = sql_statement(s, SQL_EXTENDED_LOOK, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(row, 2, generation);
    result = sql_step(s, row, err);
    if (result <= 0) {
        return result;
    }
    out->properties = sql_copy(row, 0); /* null if the generation has none */
    out->since_us = sqlite3_column_int64(row, 1);
    sql_end(row);
    return 0;
}
