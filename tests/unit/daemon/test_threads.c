/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs in parallel, and the stop that reaches each of them. */
#include "rowferry/daemon/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "suite.h"

static volatile sig_atomic_t stop;
static pthread_barrier_t all_began;

struct work {
    int number;
    int wake_fd;
    atomic_int stops; /* how often it was stopped */
};

/* Ends only if all jobs run at the same time. */
static void meet(void *job)
{
    struct work *w = job;
    pthread_barrier_wait(&all_began);
    w->number *= 10;
}

static void until_stopped(void *job)
{
    eventfd_t woken;
    (void)eventfd_read(((struct work *)job)->wake_fd, &woken);
}

static void forward_stop(void *job)
{
    struct work *w = job;
    atomic_fetch_add(&w->stops, 1);
    (void)eventfd_write(w->wake_fd, 1);
}

START_TEST(all_jobs_run_at_the_same_time)
{
    struct err err;
    struct work jobs[3] = {{.number = 1}, {.number = 2}, {.number = 3}};
    pthread_barrier_init(&all_began, NULL, 3);
    const struct threads t = {
        .jobs = jobs, .size = sizeof(jobs[0]), .count = 3, .work = meet, .stop = &stop};
    ck_assert_int_eq(threads_run(&t, &err), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(jobs[i].number, 10 * (i + 1));
    }
}
END_TEST

START_TEST(a_stop_reaches_each_job_once)
{
    struct err err;
    struct work jobs[2] = {{.wake_fd = eventfd(0, 0)}, {.wake_fd = eventfd(0, 0)}};
    const struct threads t = {.jobs = jobs,
                              .size = sizeof(jobs[0]),
                              .count = 2,
                              .work = until_stopped,
                              .stopped = forward_stop,
                              .stop = &stop};
    stop = 1;
    ck_assert_int_eq(threads_run(&t, &err), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(jobs[i].stops, 1);
        close(jobs[i].wake_fd);
    }
}
END_TEST

SUITE_MAIN("daemon/threads", all_jobs_run_at_the_same_time, a_stop_reaches_each_job_once)
