/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A full disk at any write of the state file.
 *
 * A file size limit simulates the disk without privileges (RLIMIT_FSIZE with SIGXFSZ ignored:
 * EFBIG). If a tmpfs can be mounted in a private namespace, a disk that is really full is tested
 * too (ENOSPC).
 */
#include "damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/text.h"
#include "sql.h"

/* Runs rowferry sync by a shell script; "$1" is the program, "$2" its configuration, "$3" the
 * limit, "$4" the folder of the state file. The output goes through a pipe, to which the file size
 * limit does not apply. */
static void run_script(const struct damage *d, const char *script, const char *limit,
                       struct program_result *result)
{
    struct program program;
    program_start(&program,
                  (const char *const[]){"/bin/bash", "-c", script, "sync",
                                        getenv("ROWFERRY_PROGRAM"), d->world.config, limit,
                                        d->world.dir, NULL},
                  NULL);
    program_finish(&program, WAIT_MS, result);
}

/* The limit is in KiB; the shell's own streams are pipes to cat. */
static const char limited[] =
    "set -o pipefail\n"
    "( trap '' XFSZ; ulimit -f \"$3\"; exec \"$1\" -c \"$2\" sync --json ) 2>&1 | cat >&2";

START_TEST(a_limit_at_each_size_of_the_state_file_does_no_harm)
{
    struct damage d;
    struct program_result result;
    char limit[32];
    char what[64];
    damage_start(&d);
    for (size_t kib = 0; kib <= d.size / 1024 + 8; kib++) {
        snprintf(limit, sizeof(limit), "%zu", kib);
        snprintf(what, sizeof(what), "files of at most %zu KiB", kib);
        damage_change(&d);
        run_script(&d, limited, limit, &result);
        damage_judge(&d, what, &result);
        program_result_release(&result);
    }
    ck_assert_int_gt(d.refused, 0);
    damage_stop(&d);
}
END_TEST

START_TEST(a_limit_while_the_first_load_makes_its_state_file_does_no_harm)
{
    struct damage d;
    struct program_result result;
    char limit[32];
    damage_start(&d);
    for (size_t kib = 0; kib <= d.size / 1024 + 8; kib += 2) {
        unlink(d.path);
        snprintf(limit, sizeof(limit), "%zu", kib);
        run_script(&d, limited, limit, &result);
        if (result.exit_code == 0) {
            world_expect_equal(&d.world);
            unlink(d.path);
        } else {
            damage_judge(&d, "first load", &result);
            unlink(d.path);
        }
        program_result_release(&result);
        world_sync(&d.world, 0, &result);
        program_result_release(&result);
        world_expect_equal(&d.world);
    }
    damage_stop(&d);
}
END_TEST

#define MOST_WRITES 1000

/* Runs a sync whose write number `at` of the state file finds the disk full. Returns false if it
 * has fewer writes. */
static bool full_at(struct damage *d, int at)
{
    char setting[64];
    char what[64];
    struct program program;
    struct program_result result;
    snprintf(setting, sizeof(setting), "ROWFERRY_TEST_FULL_AT=%d", at);
    snprintf(what, sizeof(what), "full at write %d", at);
    program_start(&program,
                  (const char *const[]){getenv("ROWFERRY_PROGRAM"), "-c", d->world.config, "sync",
                                        "--json", NULL},
                  (const char *const[]){setting, "LD_PRELOAD=" TEST_NOSPACE, NULL});
    program_finish(&program, WAIT_MS, &result);
    bool full = strstr(result.err, "the disk became full") != NULL;
    ck_assert_msg(strstr(result.err, "event=away") == NULL, "%s: %s", what, result.err);
    damage_judge(d, what, &result);
    program_result_release(&result);
    return full;
}

START_TEST(a_disk_that_becomes_full_at_any_write_does_no_harm)
{
    struct damage d;
    struct program_result result;
    int at = 0;
    damage_start(&d);
    do {
        damage_change(&d);
        ck_assert_int_lt(++at, MOST_WRITES);
    } while (full_at(&d, at));
    ck_assert_int_gt(d.refused, 10);
    world_sync(&d.world, 0, &result);
    program_result_release(&result);
    world_expect_equal(&d.world);
    damage_stop(&d);
}
END_TEST

#define NO_ROOM 99 /* too small even for the existing files */

/* Mounts a tmpfs of "$3" KiB with the same files over the folder; it disappears with the
 * process. */
static const char full[] = "exec unshare --map-root-user --mount /bin/bash -c '\n"
                           "files=$(tar -C \"$4\" -cf - . | base64)\n"
                           "mount -t tmpfs -o size=\"$3\"k none \"$4\" || exit 99\n"
                           "base64 -d <<<\"$files\" | tar -C \"$4\" -xf - 2>/dev/null || exit 99\n"
                           "exec \"$1\" -c \"$2\" sync --json' sync \"$@\"";

static bool can_mount(const struct damage *d)
{
    struct program_result result;
    run_script(d, "exec unshare --map-root-user --mount mount -t tmpfs none \"$4\"", "0", &result);
    bool can = result.exit_code == 0;
    program_result_release(&result);
    return can;
}

START_TEST(a_disk_that_is_really_full_does_no_harm)
{
    struct damage d;
    struct program_result result;
    char kib[32];
    damage_start(&d);
    for (size_t i = 0; i < 20 && can_mount(&d); i++) {
        snprintf(kib, sizeof(kib), "%zu", d.size / 1024 + 4 * i);
        damage_change(&d);
        run_script(&d, full, kib, &result);
        if (result.exit_code != NO_ROOM) {
            damage_judge(&d, "a full disk", &result);
        }
        program_result_release(&result);
    }
    if (d.cases == 0) {
        printf("a disk that is really full: not tried, no tmpfs can be mounted here\n");
    } else {
        ck_assert_int_gt(d.refused, 0);
        ck_assert_int_lt(d.refused, d.cases);
    }
    damage_stop(&d);
}
END_TEST

CRASH_MAIN("crash/state_full", a_disk_that_becomes_full_at_any_write_does_no_harm,
           a_limit_at_each_size_of_the_state_file_does_no_harm,
           a_limit_while_the_first_load_makes_its_state_file_does_no_harm,
           a_disk_that_is_really_full_does_no_harm)
