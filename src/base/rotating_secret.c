/* SPDX-License-Identifier: Apache-2.0 */
/* The current text, read again at most once per refused text, or whenever it is taken. */
#include "rowferry/base/rotating_secret.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

struct rotating_secret {
    pthread_mutex_t lock;
    size_t users;
    bool fresh;
    char *value;
    rotating_secret_read read;
    void *origin;
    void (*drop)(void *origin);
};

static void rotating_secret_forget(char *text)
{
    text_wipe(text);
    free(text);
}

struct rotating_secret *rotating_secret_new(const char *value, rotating_secret_read read,
                                            void *origin, void (*drop)(void *origin))
{
    struct rotating_secret *r = mem_zero(1, sizeof(*r));
    *r = (struct rotating_secret){
        .users = 1, .value = text_copy(value), .read = read, .origin = origin, .drop = drop};
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

struct rotating_secret *rotating_secret_hold(struct rotating_secret *r)
{
    if (r != NULL) {
        pthread_mutex_lock(&r->lock);
        r->users++;
        pthread_mutex_unlock(&r->lock);
    }
    return r;
}

void rotating_secret_drop(struct rotating_secret *r)
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
        rotating_secret_forget(r->value);
        free(r);
    }
}

void rotating_secret_set_fresh(struct rotating_secret *r)
{
    r->fresh = true;
}

static void rotating_secret_read_again(struct rotating_secret *r)
{
    char *again = r->read(r->origin);
    if (again != NULL) {
        rotating_secret_forget(r->value);
        r->value = again;
    }
}

char *rotating_secret_take(struct rotating_secret *r, const char *fallback)
{
    if (r == NULL) {
        return fallback != NULL ? text_copy(fallback) : NULL;
    }
    pthread_mutex_lock(&r->lock);
    if (r->fresh) {
        rotating_secret_read_again(r);
    }
    char *copy = text_copy(r->value);
    pthread_mutex_unlock(&r->lock);
    return copy;
}

bool rotating_secret_replace(struct rotating_secret *r, char **refused)
{
    if (r == NULL || *refused == NULL) {
        return false;
    }
    pthread_mutex_lock(&r->lock);
    if (strcmp(r->value, *refused) == 0) {
        rotating_secret_read_again(r);
    }
    bool other = strcmp(r->value, *refused) != 0;
    char *copy = other ? text_copy(r->value) : NULL;
    pthread_mutex_unlock(&r->lock);
    if (other) {
        rotating_secret_forget(*refused);
        *refused = copy;
    }
    return other;
}
