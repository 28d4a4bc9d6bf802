/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the row with a generation: it is only that of the last one built. */
#include "rowferry/state/generation_config.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"

int generation_config_read(struct state *s, const char *generation, char **configuration,
                           struct err *err)
{
    struct generation_config row;
    bool known;
    int result = pipeline_row_read(s, PIPELINE_ROW_GENERATION_CONFIG, &row, &known, err);
    if (known && strcmp(row.generation, generation) != 0) {
        free(row.configuration);
        row.configuration = NULL;
    }
    free(row.generation);
    *configuration = row.configuration;
    return result;
}

int generation_config_write(struct state *s, const char *generation, const char *configuration,
                            struct err *err)
{
    char *before;
    int result = generation_config_read(s, generation, &before, err);
    bool same = result == 0 && before != NULL && strcmp(before, configuration) == 0;
    free(before);
    if (result != 0 || same) {
        return result;
    }
    struct generation_config row = {text_copy(generation), text_copy(configuration)};
    result = pipeline_row_write(s, PIPELINE_ROW_GENERATION_CONFIG, &row, err);
    free(row.generation);
    free(row.configuration);
    return result;
}
