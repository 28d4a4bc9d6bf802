/* SPDX-License-Identifier: Apache-2.0 */
/* Damages state files. */
#include "damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/text.h"
#include "sql.h"
#include "wait.h"

#define ROWS 10
#define FILE_MAX_BYTES ((size_t)1 << 20)

char *damage_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "re");
    ck_assert_msg(file != NULL, "no file %s", path);
    char *bytes = mem_zero(FILE_MAX_BYTES, 1);
    *size = fread(bytes, 1, FILE_MAX_BYTES, file);
    ck_assert_uint_lt(*size, FILE_MAX_BYTES);
    fclose(file);
    return bytes;
}

static void remove_beside(const struct damage *d, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s%s", d->path, suffix);
    unlink(path);
}

void damage_write(const struct damage *d, const char *bytes, size_t size)
{
    remove_beside(d, "-journal");
    unlink(d->path);
    FILE *file = fopen(d->path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

/* Waits until no transaction older than the pin is open in the cluster, except this test's other
 * pins. That includes other databases and prepared transactions. Otherwise a position could be
 * behind entries that are pruned later. ctest's lock keeps other programs' pins away
 * (CMakeLists.txt). */
static void await_oldest(struct damage *d)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    long long pin = sql_int(d->pin, "select pg_current_xact_id()::text::bigint");
    while (
        sql_int(
            d->world.conn,
            "select (select count(*) from pg_stat_activity where backend_xid::text::bigint "
            "< %lld and application_name <> 'pin') + (select count(*) from pg_prepared_xacts where "
            "transaction::text::bigint < %lld)",
            pin, pin) > 0) {
        ck_assert_msg(deadline_wait(&deadline), "a transaction older than the pin does not end");
    }
}

void damage_start(struct damage *d)
{
    struct program_result result;
    *d = (struct damage){0};
    struct world *w = &d->world;
    world_start(w, ROWS, NULL);
    world_install(w);
    world_sync(w, 0, &result);
    program_result_release(&result);
    d->path = scratch_path(w->dir, "state.db");
    d->pin = sql_open(w->uri);
    sql_exec(d->pin,
             "set application_name = 'pin'; begin; update articles set title = 'pin' where "
             "source_id = %d",
             ROWS);
    await_oldest(d);
    damage_change(d);
    world_sync(w, 0, &result);
    program_result_release(&result);
    d->sound = damage_read(d->path, &d->size);
}

void damage_stop(struct damage *d)
{
    printf("%lld spoilt files, %lld refused\n", (long long)d->cases, (long long)d->refused);
    PQfinish(d->pin);
    free(d->path);
    free(d->sound);
    world_stop(&d->world);
}

void damage_change(struct damage *d)
{
    static int number;
    sql_exec(d->world.conn, "update articles set title = 'change %d' where source_id = %d", number,
             1 + number % (ROWS - 1));
    number++;
}

void damage_judge(struct damage *d, const char *what, const struct program_result *result)
{
    d->cases++;
    if (result->exit_code == 0) {
        world_expect_equal(&d->world);
    } else {
        d->refused++;
        ck_assert_msg(result->exit_code == 1 || result->exit_code == 6, "%s: exit code %d: %s",
                      what, result->exit_code, result->err);
        ck_assert_msg(strstr(result->err, "hint: ") != NULL, "%s: it does not say what to do: %s",
                      what, result->err);
    }
    damage_write(d, d->sound, d->size);
}

/* Checks that a refusal left index and state file unchanged: nothing was sent, and the intact file
 * syncs the change. */
static void expect_unharmed(struct damage *d, const char *what, int64_t taken)
{
    struct program_result result;
    ck_assert_msg(crash_taken(&d->world) == taken, "%s: refused, and yet sent", what);
    world_sync(&d->world, 0, &result);
    program_result_release(&result);
    world_expect_equal(&d->world);
    damage_write(d, d->sound, d->size);
}

void damage_case(struct damage *d, const char *what)
{
    struct program_result result;
    int64_t refused = d->refused;
    damage_change(d);
    int64_t taken = crash_taken(&d->world);
    rowferry_run(&result, d->world.config, "sync", "--json", NULL);
    damage_judge(d, what, &result);
    program_result_release(&result);
    if (d->refused > refused) {
        expect_unharmed(d, what, taken);
    }
}
