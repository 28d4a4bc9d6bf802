/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves a rebuild that was killed at a named step. */
#pragma once

#include "generations.h"
#include "rebuilds.h"

static inline void stand_at(const struct world *w, const char *failpoint, const char *word)
{
    struct program program;
    struct program_result result;
    char setting[128];
    const char *argv[] = {getenv("ROWFERRY_PROGRAM"), "-c", w->config, "reindex", word, NULL};
    const char *env[] = {setting, NULL};
    snprintf(setting, sizeof(setting), "ROWFERRY_FAILPOINT=%s", failpoint);
    program_start(&program, argv, env);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL, "%s did not kill it (%d): %s", failpoint,
                  result.exit_code, result.err);
    program_result_release(&result);
}

static inline void expect_alias(const struct world *w, const char *index)
{
    char *live = generations_live(w, "shop-articles");
    ck_assert_str_eq(live, index);
    free(live);
}
