/* SPDX-License-Identifier: Apache-2.0 */
/* Starts threads, waits for them, and forwards a stop. */
#include "rowferry/daemon/threads.h"

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rowferry/base/text.h"

#define STOP_LOOK_MS 200 /* polls, because a signal may come just before the wait begins */

struct worker {
    const struct threads *threads;
    void *job;
    int ended_fd;
    pthread_t thread;
};

static void *threads_work(void *argument)
{
    struct worker *w = argument;
    w->threads->work(w->job);
    (void)eventfd_write(w->ended_fd, 1);
    return NULL;
}

/* Blocks all signals in the threads, so that the main thread gets them. */
static size_t threads_start_all(const struct threads *t, struct worker *workers, int ended_fd,
                                int *failed)
{
    sigset_t all;
    sigset_t before;
    size_t started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (*failed = 0; started < t->count && *failed == 0; started += *failed == 0) {
        struct worker *w = &workers[started];
        *w = (struct worker){t, (char *)t->jobs + started * t->size, ended_fd, 0};
        *failed = pthread_create(&w->thread, NULL, threads_work, w);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void threads_wait_for_all(const struct threads *t, size_t started, int ended_fd)
{
    bool told = t->stopped == NULL;
    eventfd_t ended;
    for (size_t left = started; left > 0;) {
        struct pollfd end = {.fd = ended_fd, .events = POLLIN};
        int ready = poll(&end, 1, told ? -1 : STOP_LOOK_MS);
        if (ready > 0 && eventfd_read(ended_fd, &ended) == 0) {
            left -= (size_t)ended;
        }
        if (!told && *t->stop != 0) {
            for (size_t i = 0; i < started; i++) {
                t->stopped((char *)t->jobs + i * t->size);
            }
            told = true;
        }
    }
}

int threads_run(const struct threads *t, struct err *err)
{
    int failed;
    int ended_fd = eventfd(0, EFD_CLOEXEC);
    if (ended_fd < 0) {
        return err_set(err, ERR_TRANSIENT, "could not open a descriptor");
    }
    struct worker *workers = mem_zero(t->count, sizeof(*workers));
    size_t started = threads_start_all(t, workers, ended_fd, &failed);
    threads_wait_for_all(t, started, ended_fd);
    for (size_t i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    free(workers);
    close(ended_fd);
    return failed == 0
               ? 0
               : err_set(err, ERR_TRANSIENT, "could not start a thread: %s", strerror(failed));
}
