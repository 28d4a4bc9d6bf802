/* SPDX-License-Identifier: Apache-2.0 */
/* Types a command of rowferry as a person would who reads it somewhere. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define TYPED_WORDS 12

/* `command` begins with "rowferry", and its words are separated in place. The command may find that
 * there is nothing to do, but it must not be refused as wrong. */
static inline void typed(const struct world *w, char *command)
{
    struct program p;
    struct program_result result;
    const char *argv[TYPED_WORDS] = {getenv("ROWFERRY_PROGRAM")};
    size_t n = 1;
    char *save = NULL;
    printf("%s\n", command);
    strtok_r(command, " ", &save);
    for (char *word = strtok_r(NULL, " ", &save); word != NULL && n < TYPED_WORDS - 1;
         word = strtok_r(NULL, " ", &save)) {
        argv[n++] = word;
    }
    setenv("ROWFERRY_CONFIG", w->config, 1);
    program_start(&p, argv, NULL);
    program_finish(&p, 120000, &result);
    ck_assert_msg(result.exit_code != 2 && strstr(result.err, "usage") == NULL, "%d: %s%s",
                  result.exit_code, result.out, result.err);
    program_result_release(&result);
}
