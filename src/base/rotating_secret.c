/* SPDX-License-Identifier: Apache-2.0 */
/* The current text, read again at most once per refused text. */
#include "rowferry/base/rotating_secret.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

struct renewal {
    pthread_mutex_t lock;
    size_t users;
    char *value;
    renewal_read read;
    void *origin;
    void (*drop)(void *origin);
};

static void forget(char *text)
{
    text_wipe(text);
    free(text);
}

struct renewal *renewal_new(const char *value, renewal_read read, void *origin,
                            void (*drop)(void *origin))
{
    struct renewal *r = mem_zero(1, sizeof(*r));
    *r = (struct renewal){
        .users = 1, .value = text_copy(value), .read = read, .origin = origin, .drop = drop};
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

struct renewal *renewal_hold(struct renewal *r)
{
    if (r != NULL) {
        pthread_mutex_lock(&r->lock);
        r->users++;
        pthread_mutex_unlock(&r->lock);
    }
    return r;
}

void renewal_drop(struct renewal *r)
{
    if (r == NULL) {
        return;
    }
    pthread_mutex_lock(&r->lock);
    size_t left = --r->users;
    pthread_mutex_unlock(&r->lock);
    if (left == 0) {
        pthread_mutex_destroy(&r->lock);
        r->drop(r->origin);
        forget(r->value);
        free(r);
    }
}

char *renewal_take(struct renewal *r, const char *fallback)
{
    if (r == NULL) {
        return fallback != NULL ? text_copy(fallback) : NULL;
    }
    pthread_mutex_lock(&r->lock);
    char *copy = text_copy(r->value);
    pthread_mutex_unlock(&r->lock);
    return copy;
}

bool renewal_replace(struct renewal *r, char **refused)
{
    if (r == NULL || *refused == NULL) {
        return false;
    }
    pthread_mutex_lock(&r->lock);
    if (strcmp(r->value, *refused) == 0) {
        char *again = r->read(r->origin);
        if (again != NULL) {
            forget(r->value);
            r->value = again;
        }
    }
    bool other = strcmp(r->value, *refused) != 0;
    char *copy = other ? text_copy(r->value) : NULL;
    pthread_mutex_unlock(&r->lock);
    if (other) {
        forget(*refused);
        *refused = copy;
    }
    return other;
}
