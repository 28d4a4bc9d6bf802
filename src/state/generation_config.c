/* SPDX-License-Identifier: Apache-2.0 */
/* The row with the configuration from which a generation was built. */
#include "rowferry/state/generation_config.h"

#include <stdlib.h>
#include <string.h>

#include "database.h"

int generation_config_read(struct state *s, const char *generation, char **configuration,
                           struct err *err)
{
    sqlite3_stmt *row;
    *configuration = NULL;
    int result = sql_statement(s, SQL_BUILT_LOOK, &row, err);
    if (result != 0) {
        return result;
    }
    sql_bind_text(row, 2, generation);
    result = sql_step(s, row, err);
    if (result > 0) {
        *configuration = sql_copy(row, 0);
        sql_end(row);
        result = 0;
    }
    return result;
}

int generation_config_write(struct state *s, const char *generation, const char *configuration,
                            struct err *err)
{
    char *before;
    sqlite3_stmt *row;
    int result = generation_config_read(s, generation, &before, err);
    bool same = result == 0 && before != NULL && strcmp(before, configuration) == 0;
    free(before);
    if (result != 0 || same) {
        return result;
    }
    result = sql_statement(s, SQL_BUILT_NOTE, &row, err);
    if (result == 0) {
        sql_bind_text(row, 2, generation);
        sql_bind_text(row, 3, configuration);
        result = sql_run(s, row, err);
    }
    return result;
}
