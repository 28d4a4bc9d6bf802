/* SPDX-License-Identifier: Apache-2.0 */
/* Writers are a counting semaphore; their work is to sleep. */
#include "sink_node.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;
static long busy;

static void work(const struct node *n, size_t bytes)
{
    int64_t us = n->fixed_us;
    if (n->bytes_per_second > 0) {
        us += (int64_t)bytes * 1000000 / n->bytes_per_second;
    }
    const struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static void note_most(struct node *n, long here)
{
    long most = atomic_load(&n->most);
    while (here > most && !atomic_compare_exchange_weak(&n->most, &most, here)) {
    }
}

bool node_take(struct node *n, size_t bytes)
{
    if (n->writers == 0) {
        return true;
    }
    long here = atomic_fetch_add(&n->here, 1) + 1;
    note_most(n, here);
    bool full = here > n->writers + n->queue || atomic_load(&n->storm);
    if (!full) {
        pthread_mutex_lock(&lock);
        while (busy >= n->writers) {
            pthread_cond_wait(&freed, &lock);
        }
        busy++;
        pthread_mutex_unlock(&lock);
        work(n, bytes);
        pthread_mutex_lock(&lock);
        busy--;
        pthread_cond_signal(&freed);
        pthread_mutex_unlock(&lock);
    }
    atomic_fetch_add(full ? &n->refused : &n->taken, 1);
    atomic_fetch_sub(&n->here, 1);
    return !full;
}
