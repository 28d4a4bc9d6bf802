/* SPDX-License-Identifier: Apache-2.0 */
/* A sync with little memory, few descriptors, or without its standard streams either succeeds or
 * reports an error, and the next one makes up for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boundaries.h"
#include "wait.h"

#define ENOUGH_DESCRIPTORS 40
#define STEP_KIB 2048L
#define MOST_KIB 400000L

struct limited {
    struct stage stage;
    int64_t cases;
    int64_t refused;
};

/* "$1" is the program, "$2" its configuration, "$3" the limit. heard: false if the output is
 * closed, so that no reason is expected. */
static int run_limited(struct limited *l, const char *script, long limit, bool heard)
{
    char number[32];
    struct program program;
    struct program_result result;
    snprintf(number, sizeof(number), "%ld", limit);
    stage_change(&l->stage);
    program_start(&program,
                  (const char *const[]){"/bin/bash", "-c", script, "sync",
                                        getenv("ROWFERRY_PROGRAM"), l->stage.w.config, number,
                                        NULL},
                  NULL);
    program_finish(&program, WAIT_MS, &result);
    int code = result.exit_code;
    bool told = strstr(result.err, "rowferry: ") != NULL ||
                strstr(result.err, "error while loading shared libraries") != NULL;
    ck_assert_msg(code == 0 || !heard || told, "%s, %ld: exit code %d: %s", script, limit, code,
                  result.err);
    ck_assert_msg(strstr(result.err, "let this user") == NULL, "%s, %ld: a wrong remedy: %s",
                  script, limit, result.err);
    ck_assert_msg(code <= 6 || code == 127 || strstr(result.err, "out of memory") != NULL,
                  "%s, %ld: exit code %d: %s", script, limit, code, result.err);
    program_result_release(&result);
    if (code == 0) {
        world_expect_equal(&l->stage.w);
    }
    l->cases++;
    l->refused += code != 0;
    return code;
}

static void begin(struct limited *l)
{
    *l = (struct limited){0};
    stage_start(&l->stage);
    world_configure(&l->stage.w, CRASH_PROPERTIES, "\"retry_budget\": \"1s\"");
    stage_sync(&l->stage, 0);
}

static void end(struct limited *l, const char *what)
{
    printf("boundary limits, %s: %lld cases, %lld refused\n", what, (long long)l->cases,
           (long long)l->refused);
    fflush(stdout);
    stage_sync(&l->stage, 0);
    world_expect_equal(&l->stage.w);
    stage_stop(&l->stage);
}

START_TEST(with_few_descriptors_it_works_or_says_so)
{
    struct limited l;
    int code = 1;
    begin(&l);
    for (long limit = 4; limit < ENOUGH_DESCRIPTORS; limit++) {
        code = run_limited(&l, "ulimit -n \"$3\"; exec \"$1\" -c \"$2\" sync", limit, true);
    }
    ck_assert_int_eq(code, 0);
    crash_tell_hits("too few descriptors", l.refused, "syncs refused of %lld", (long long)l.cases);
    end(&l, "descriptors");
}
END_TEST

START_TEST(with_little_memory_it_works_or_says_so)
{
    struct limited l;
    int64_t stride = crash_setting("ROWFERRY_STRIDE", 40);
    int code = 1;
    begin(&l);
    for (long kib = 10000; kib < MOST_KIB && code != 0;
         kib += STEP_KIB * (stride > 4 ? 4 : stride)) {
        code = run_limited(&l, "ulimit -v \"$3\"; exec \"$1\" -c \"$2\" sync", kib, true);
    }
    ck_assert_int_eq(code, 0);
    crash_tell_hits("too little memory", l.refused, "syncs refused of %lld", (long long)l.cases);
    end(&l, "memory");
}
END_TEST

START_TEST(without_its_standard_streams_it_writes_into_nothing_else)
{
    static const char *const scripts[] = {
        "exec \"$1\" -c \"$2\" sync <&-",          "exec \"$1\" -c \"$2\" sync >&-",
        "exec \"$1\" -c \"$2\" sync 2>&-",         "exec \"$1\" -c \"$2\" sync <&- >&-",
        "exec \"$1\" -c \"$2\" sync <&- 2>&-",     "exec \"$1\" -c \"$2\" sync >&- 2>&-",
        "exec \"$1\" -c \"$2\" sync <&- >&- 2>&-", "exec \"$1\" -c \"$2\" sync >/dev/full",
        "exec \"$1\" -c \"$2\" sync 2>/dev/full"};
    struct limited l;
    begin(&l);
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        run_limited(&l, scripts[i], 0, strstr(scripts[i], "2>") == NULL);
    }
    crash_tell_hits("closed streams", l.cases, "syncs, %lld refused", (long long)l.refused);
    end(&l, "streams");
}
END_TEST

CRASH_MAIN("crash/limits", with_few_descriptors_it_works_or_says_so,
           with_little_memory_it_works_or_says_so,
           without_its_standard_streams_it_writes_into_nothing_else)
