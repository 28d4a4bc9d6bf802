/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage:
 *   history MODE [--seed N]  the index equals the table at every quiet point of random histories
 *   history MODE --broken    a program that reads wrongly is found out
 *
 * $ROWFERRY_HISTORIES (100): number for all modes together; each mode runs its share.
 * $ROWFERRY_PROGRAM is the program under test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "history.h"
#include "suite.h"

#define HISTORIES 100
#define BROKEN_HISTORIES 60
#define MODES 9

static const struct mode *mode;
static uint64_t first_seed = 1;
static uint64_t histories;

static char *run(struct stage *s, uint64_t seed, struct buf *log)
{
    char *different = history_run(s, mode, seed, log);
    if (different != NULL || getenv("ROWFERRY_HISTORY_SHOW") != NULL) {
        fputs(buf_text(log), stdout);
        fflush(stdout);
    }
    return different;
}

START_TEST(the_index_equals_the_table_at_every_quiet_point)
{
    struct stage s;
    struct buf log;
    buf_init(&log, (size_t)16 << 20);
    stage_start(&s, mode);
    for (uint64_t seed = first_seed; seed < first_seed + histories; seed++) {
        char *different = run(&s, seed, &log);
        ck_assert_msg(different == NULL, "%s --seed %llu: %s", mode->name, (unsigned long long)seed,
                      different);
    }
    printf("%s: %llu histories\n", mode->name, (unsigned long long)histories);
    buf_release(&log);
    stage_stop(&s);
}
END_TEST

START_TEST(a_program_that_reads_wrongly_is_found_out)
{
    struct stage s;
    struct buf log;
    uint64_t seed = 0;
    char *different = NULL;
    buf_init(&log, (size_t)16 << 20);
    stage_start(&s, mode);
    while (different == NULL && seed < BROKEN_HISTORIES) {
        different = history_run(&s, mode, ++seed, &log);
    }
    ck_assert_msg(different != NULL, "%d histories did not show it", BROKEN_HISTORIES);
    ck_assert_msg(strstr(different, " differ: ") != NULL, "seed %llu: %s", (unsigned long long)seed,
                  different);
    printf("%s: found at seed %llu: %s\n", mode->name, (unsigned long long)seed, different);
    free(different);
    buf_release(&log);
    stage_stop(&s);
}
END_TEST

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    bool broken = argc > 2 && strcmp(argv[2], "--broken") == 0;
    mode = argc > 1 ? mode_find(argv[1]) : NULL;
    if (mode == NULL) {
        fprintf(stderr, "usage: %s MODE [--seed N | --broken]\n", argv[0]);
        return EXIT_FAILURE;
    }
    histories = (setting("ROWFERRY_HISTORIES", HISTORIES) + MODES - 1) / MODES;
    if (argc > 3 && strcmp(argv[2], "--seed") == 0) {
        first_seed = strtoull(argv[3], NULL, 10);
        histories = 1;
    }
    Suite *suite = suite_create("history");
    TCase *tcase = tcase_create(mode->name);
    tcase_set_timeout(tcase, 0);
    if (mode->standby) {
        tcase_add_unchecked_fixture(tcase, pair_start, pair_stop);
    }
    tcase_add_test(tcase, broken ? a_program_that_reads_wrongly_is_found_out
                                 : the_index_equals_the_table_at_every_quiet_point);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
