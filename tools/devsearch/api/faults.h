/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault injection: a test requests failures of the next requests.
 */
#pragma once

#include "base/answer.h"

#include <pthread.h>

enum fault_close { CLOSE_NEVER, CLOSE_BEFORE, CLOSE_AFTER, CLOSE_MIDDLE };

struct fault {
    char *path;       /* substring of the request's path; "=/x": exactly "/x" */
    int status;       /* status of the whole request; 0: unchanged */
    char *answer;     /* its body; null: the usual refusal with this status */
    int items_status; /* status of bulk items; 0: unchanged */
    char *id;         /* documents that items_status applies to; null: all */
    int *items;       /* statuses of successive bulk items, 0: unchanged; may be null */
    int64_t every;    /* applies to every n-th item */
    int64_t count;    /* remaining requests (or items, for items_status and items); -1: unlimited */
    int64_t delay_ms;
    enum fault_close close;
};

struct faults {
    struct fault *list;
    size_t count;
    int64_t items_seen;
    int64_t fired;
    int64_t waiting;        /* requests in a delay */
    int64_t dropped;        /* number of faults_drop calls; each ends all delays */
    pthread_cond_t changed; /* signals `dropped`, under the server's lock */
};

void faults_init(struct faults *f);

void faults_release(struct faults *f);

/* Returns the fault for a request of this path and decrements its count, or a fault of zeros. */
struct fault faults_take(struct faults *f, const char *path);

/* Waits until the time has passed or all faults are dropped. Releases the lock while waiting. */
void faults_delay(struct faults *f, pthread_mutex_t *lock, int64_t delay_ms);

/* Drops all faults and ends their delays. */
void faults_drop(struct faults *f);

/* Returns the status for this bulk item, or 0. */
int faults_take_item(struct faults *f, const char *id, bool delete);

/* Fills the refusal that the real services send with this status. */
int fault_refuse(struct refusal *refusal, int status, enum product product, const char *index);
