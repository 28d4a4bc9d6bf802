/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults on request: what a test asked to go wrong with the next requests.
 */
#ifndef DEVSEARCH_FAULTS_H
#define DEVSEARCH_FAULTS_H

#include "base/answer.h"

#include <pthread.h>

enum fault_close { CLOSE_NEVER, CLOSE_BEFORE, CLOSE_AFTER, CLOSE_MIDDLE };

struct fault {
    char *path;       /* the request's path holds this; "/": it is this */
    int status;       /* the whole request answers so; 0: no */
    char *answer;     /* with this body; null: the refusal of such a status */
    int items_status; /* items of a bulk answer so; 0: no */
    char *id;         /* of the documents that items_status is for; null: of all items */
    int *items;       /* what item after item of bulks answers; 0: as ever. Null: no such list */
    int64_t every;    /* each n-th item */
    int64_t count;    /* requests (items, for items_status and items) left; -1: for ever */
    int64_t delay_ms;
    enum fault_close close;
};

struct faults {
    struct fault *list;
    size_t count;
    int64_t items_seen;
    int64_t fired;
    int64_t waiting;        /* requests whose delay has not passed */
    int64_t dropped;        /* how often all were dropped, which ends the delays */
    pthread_cond_t changed; /* of `dropped`, under the server's lock */
};

void faults_init(struct faults *f);

void faults_release(struct faults *f);

/* The fault for a request of this path (its count goes down), or one of zeros. */
struct fault faults_take(struct faults *f, const char *path);

/* Waits under the lock, which others have meanwhile, until the time has passed or all are dropped.
 */
void faults_delay(struct faults *f, pthread_mutex_t *lock, int64_t delay_ms);

/* Drops all of them, also those that wait. */
void faults_drop(struct faults *f);

/* The status that this item of a bulk shall have, or 0. */
int faults_take_item(struct faults *f, const char *id, bool delete);

/* The refusal that real services give with such a status. */
int fault_refuse(struct refusal *refusal, int status, enum product product, const char *index);

#endif
