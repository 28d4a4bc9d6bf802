/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A unit test file consists of START_TEST functions and one SUITE_MAIN("room/module", test_a,
 * test_b).
 *
 * Every test runs in a separate process; CK_FORK=no in the environment disables this for a
 * debugger.
 */
#pragma once

#include <check.h>
#include <stddef.h>
#include <stdlib.h>

/* Detects a test that hangs, not one that is slow, because machines and their load differ. */
#define SUITE_TEST_S 600

/* Runs the suite and returns the program's exit code. */
static inline int suite_end(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static inline int suite_run(const char *name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    for (size_t i = 0; i < count; i++) {
        TCase *tcase = tcase_create(tests[i]->name);
        tcase_set_timeout(tcase, SUITE_TEST_S);
        tcase_add_test(tcase, tests[i]);
        suite_add_tcase(suite, tcase);
    }
    return suite_end(suite);
}

#define SUITE_MAIN(name, ...)                                                                      \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        return suite_run((name), tests, sizeof(tests) / sizeof(tests[0]));                         \
    }
