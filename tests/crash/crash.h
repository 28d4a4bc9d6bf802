/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the crash tests share: a world whose service takes small requests slowly, and kills that
 * count what was unsettled when they hit.
 */
#ifndef ROWFERRY_TESTS_CRASH_H
#define ROWFERRY_TESTS_CRASH_H

#include <check.h>

#include "world.h"

#define CRASH_PROPERTIES                                                                           \
    "\"title\":{\"type\":\"text\"},\"price\":{\"type\":\"double\"},\"tags\":{\"type\":"            \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"}"

/* A number from the environment. */
int64_t crash_setting(const char *name, int64_t otherwise);

/* A random number below n; $ROWFERRY_SEED repeats a run, and the seed is printed once. */
int64_t crash_dice(int64_t n);

/* Operations that the service has taken since it started. */
int64_t crash_taken(const struct world *w);

/*
 * A world whose change log is installed, with so many rows, few to a block so that the copy has
 * many pages, requests of 100 operations, a window of 256 KiB; every bulk request waits 30 ms.
 */
void crash_world(struct world *w, long rows);

/* The same pace up to so many more operations, about: then every bulk request is held, until
 * crash_slow. What a test does once they are taken is sure to happen in the middle, where there are
 * some 1,500 more to send. */
void crash_slow_until(const struct world *w, int64_t operations);
void crash_slow(const struct world *w);

/* Until the service took so many more operations than `before`, or holds what comes. */
void crash_await_taken(const struct world *w, int64_t before, int64_t operations,
                       const struct program *program);

/* One that still runs; to its end. */
void crash_kill_program(struct program *p);

/* How often the program has said so by now. */
int crash_said(const struct program *program, const char *part);

/* Until it has said so as often as that. */
void crash_await_said(const struct program *program, const char *part, int count);

/* world_await_equal, which shows what the program said where it does not become so; how long it
 * took. */
int64_t crash_await_equal(const struct world *w, const struct program *program);

/* One line "fault CLASS: HITS ...", of a fault that a test let happen and of what came of it
 * (printf); a class without a hit fails the test. */
void crash_tell_hits(const char *fault, int64_t hits, const char *more, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes its configuration again, after members of the world were set. */
void crash_configure(struct world *w);

/* Kills of a test, and how many of them hit with operations under way. */
struct kills {
    int64_t count;
    int64_t unsettled;
};

/* Starts a sync and kills it at a random moment after the service took so many more operations,
 * of which crash_slow_until has to hold some. */
void crash_kill(const struct world *w, int64_t operations, struct kills *kills);

/* Starts a sync with $ROWFERRY_FAILPOINT, which has to be killed by it. */
void crash_at(const struct world *w, const char *failpoint);

/* The same of another command, with a word behind it (null: none). */
void crash_command_at(const struct world *w, const char *failpoint, const char *command,
                      const char *word);

/* Fails where fewer than 80 % of the kills hit with operations under way. */
void crash_expect_unsettled(const struct kills *kills);

/* Like suite_run, without a limit of time: how long these take is asked for by the environment. */
int crash_suite(const char *name, const TTest *const *tests, size_t count);
/* The same in one process: of a test that took over 35 minutes another one cannot be told. */
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

#endif
