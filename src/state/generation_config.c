/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the row with a generation: it is only that of the last one built. The former one's row
 * is written when it is replaced. */
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

int generation_config_leave(struct state *s, bool returned, struct err *err)
{
    struct generation_config live;
    bool known;
    int result = pipeline_row_read(s, PIPELINE_ROW_GENERATION_CONFIG, &live, &known, err);
    if (result == 0) {
        struct former_config former = {live.configuration, returned};
        result = known ? pipeline_row_write(s, PIPELINE_ROW_FORMER_CONFIG, &former, err)
                       : pipeline_row_delete(s, PIPELINE_ROW_FORMER_CONFIG, err);
    }
    free(live.generation);
    free(live.configuration);
    return result;
}

int generation_config_read_former(struct state *s, struct former_config *out, struct err *err)
{
    bool known;
    return pipeline_row_read(s, PIPELINE_ROW_FORMER_CONFIG, out, &known, err);
}
