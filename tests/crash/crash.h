/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the crash tests: a world whose service handles small requests slowly, and kills that
 * count the operations that were unsettled.
 */
#pragma once

#include <check.h>

#include "world.h"

#define CRASH_PROPERTIES                                                                           \
    "\"title\":{\"type\":\"text\"},\"price\":{\"type\":\"double\"},\"tags\":{\"type\":"            \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"}"

/* Returns a number from the environment. */
int64_t crash_setting(const char *name, int64_t otherwise);

/* Returns a random number below n. $ROWFERRY_SEED repeats a run; the seed is printed once. */
int64_t crash_dice(int64_t n);

/* Returns the number of operations that the service accepted since its start. */
int64_t crash_taken(const struct world *w);

/*
 * Creates a world of `rows` rows with the change log installed. Few rows fit in a block, so that
 * the initial load has many pages. Requests have 100 operations, the window is 256 KiB, and every
 * bulk request takes 30 ms.
 */
void crash_world(struct world *w, long rows);

/* Keeps this pace for about `operations` more operations, then holds every bulk request until
 * crash_slow. So a test acts in the middle of a load for certain if some 1,500 more operations are
 * to follow. */
void crash_slow_until(const struct world *w, int64_t operations);
void crash_slow(const struct world *w);

/* Waits until the service accepted `operations` more than `before`, or holds requests. */
void crash_await_taken(const struct world *w, int64_t before, int64_t operations,
                       const struct program *program);

/* Kills a program that must still be running, and waits for its end. */
void crash_kill_program(struct program *p);

/* Returns how often the program has printed the text. */
int crash_said(const struct program *program, const char *part);

/* Waits until the program has printed the text that often. */
void crash_await_said(const struct program *program, const char *part, int count);

/* Calls world_await_equal and shows the program's output on failure. Returns the time it took. */
int64_t crash_await_equal(const struct world *w, const struct program *program);

/* Prints one line "fault CLASS: HITS ..." about an injected fault and its effects (printf). A
 * class without a hit fails the test. */
void crash_tell_hits(const char *fault, int64_t hits, const char *more, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes the configuration again after members of the world were set. */
void crash_configure(struct world *w);

/* The kills of a test, and how many hit with operations in flight. */
struct kills {
    int64_t count;
    int64_t unsettled;
};

/* Starts a sync and kills it at a random moment after the service accepted `operations` more
 * operations. crash_slow_until must hold some of them. */
void crash_kill(const struct world *w, int64_t operations, struct kills *kills);

/* Starts a sync with $ROWFERRY_FAILPOINT, which must kill it. */
void crash_at(const struct world *w, const char *failpoint);

/* Same for another command with an additional word (null: none). */
void crash_command_at(const struct world *w, const char *failpoint, const char *command,
                      const char *word);

/* Fails if fewer than 80 % of the kills hit with operations in flight. */
void crash_expect_unsettled(const struct kills *kills);

/* Like suite_run without a time limit, because the environment determines how long these tests
 * take. */
int crash_suite(const char *name, const TTest *const *tests, size_t count);
/* Same in one process, because Check's fork mode does not support a test of more than 35
 * minutes. */
int crash_long_suite(const char *name, const TTest *const *tests, size_t count);

#define CRASH_MAIN(name, ...)                                                                      \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        return crash_suite((name), tests, sizeof(tests) / sizeof(tests[0]));                       \
    }

#define CRASH_LONG_MAIN(name, ...)                                                                 \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        return crash_long_suite((name), tests, sizeof(tests) / sizeof(tests[0]));                  \
    }
