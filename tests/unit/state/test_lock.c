/* SPDX-License-Identifier: Apache-2.0 */
/* One holder per pipeline, across processes and within one. */
#include "rowferry/state/lock.h"

#include <signal.h>

#include "rowferry/state/live_progress.h"
#include "statefile.h"

#define SINCE_US 1795428000000000 /* 2026-11-23T10:00:00Z */

/* Forks a holder. Returns when it has the lock. */
static pid_t fork_holder(const struct statefile *f, const char *pipeline)
{
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct err err = {0};
        struct state *s = statefile_open(f, pipeline);
        if (lock_take(s, "run", SINCE_US, &err) == 0 && write(ready[1], "!", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    char byte;
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void kill_child(pid_t child)
{
    int status;
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
}

START_TEST(the_second_process_hears_who_holds_and_gets_it_when_the_first_is_killed)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    pid_t child = fork_holder(&f, "articles");
    struct state *s = statefile_open(&f, "articles");
    ck_assert_int_eq(lock_take(s, "sync", SINCE_US, &err), ERR_HELD);
    char host[65] = "";
    gethostname(host, sizeof(host) - 1);
    char expected[512];
    snprintf(expected, sizeof(expected),
             "it is held by process %ld (\"run\" since 2026-11-23T10:00:00Z on "
             "host %s)",
             (long)child, host);
    ck_assert_str_eq(err.message, expected);
    ck_assert_ptr_nonnull(strstr(err.hint, "rowferry status " ERR_PIPELINE));
    bool held;
    char holder[200];
    OK(lock_look(s, &held, holder, sizeof(holder), &err));
    ck_assert(held);
    ck_assert_ptr_nonnull(strstr(expected, holder));
    kill_child(child);
    OK(lock_look(s, &held, holder, sizeof(holder), &err));
    ck_assert(!held);
    ck_assert_str_eq(holder, "");
    OK(lock_take(s, "sync", SINCE_US, &err));
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(another_pipeline_of_the_file_is_free)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    pid_t child = fork_holder(&f, "articles");
    struct state *s = statefile_open(&f, "authors");
    OK(lock_take(s, "sync", SINCE_US, &err));
    kill_child(child);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(two_connections_of_one_process_exclude_each_other)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *a = statefile_open(&f, "articles");
    struct state *b = statefile_open(&f, "articles");
    OK(lock_take(a, "sync", SINCE_US, &err));
    ck_assert_int_eq(lock_take(b, "sync", SINCE_US, &err), ERR_HELD);
    state_close(statefile_open(&f, "articles"));
    OK(live_progress_write(a,
                           &(struct live_progress){.stage = "following",
                                                   .stall = "service_away",
                                                   .stall_why = "connection refused"},
                           &err));
    ck_assert_int_eq(lock_take(b, "sync", SINCE_US, &err), ERR_HELD);
    ck_assert_ptr_nonnull(strstr(err.message, ", which makes no progress: connection refused"));
    state_close(a);
    OK(lock_take(b, "sync", SINCE_US, &err));
    state_close(b);
    statefile_remove(&f);
}
END_TEST

START_TEST(status_sees_the_holder_through_a_reading_connection)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    struct state *looking;
    OK(state_open_read_only(&looking, f.path, "articles", &err));
    bool held;
    char holder[200];
    OK(lock_look(looking, &held, holder, sizeof(holder), &err));
    ck_assert(!held);
    OK(lock_take(s, "sync", SINCE_US, &err));
    OK(lock_look(s, &held, holder, sizeof(holder), &err));
    ck_assert(held);
    OK(lock_look(looking, &held, holder, sizeof(holder), &err));
    ck_assert(held);
    ck_assert_ptr_nonnull(strstr(holder, "(\"sync\" since "));
    ck_assert_int_eq(lock_take(looking, "sync", SINCE_US, &err), ERR_INTERNAL);
    state_close(s);
    OK(lock_look(looking, &held, holder, sizeof(holder), &err));
    ck_assert(!held);
    state_close(looking);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/lock", the_second_process_hears_who_holds_and_gets_it_when_the_first_is_killed,
           another_pipeline_of_the_file_is_free, two_connections_of_one_process_exclude_each_other,
           status_sees_the_holder_through_a_reading_connection)
