/* SPDX-License-Identifier: Apache-2.0 */
/* The allocations that boundary.c counts. */
#include "boundary.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Allocations that the loader needs before the real functions are known. They are never freed. */
static char early[65536];
static atomic_size_t early_used;

static void *early_take(size_t size)
{
    size_t at = atomic_fetch_add(&early_used, (size + 15) / 16 * 16);
    return at + size <= sizeof(early) ? early + at : NULL;
}

static bool is_early(const void *memory)
{
    return (const char *)memory >= early && (const char *)memory < early + sizeof(early);
}

static void *real_of(const char *name)
{
    static _Thread_local bool asking __attribute__((tls_model("initial-exec")));
    if (asking) {
        return NULL;
    }
    asking = true;
    void *symbol = dlsym(RTLD_NEXT, name);
    asking = false;
    return symbol;
}

static void *take(size_t size)
{
    static void *(*real)(size_t);
    if (real == NULL) {
        void *symbol = real_of("malloc");
        memcpy(&real, &symbol, sizeof(real));
    }
    return real != NULL ? real(size) : early_take(size);
}

void *malloc(size_t size)
{
    return boundary_fails("malloc", CLASS_MEMORY) ? NULL : take(size);
}

void *calloc(size_t count, size_t size)
{
    static void *(*real)(size_t, size_t);
    if (real == NULL) {
        void *symbol = real_of("calloc");
        memcpy(&real, &symbol, sizeof(real));
    }
    if (real == NULL) {
        return early_take(count * size);
    }
    return boundary_fails("calloc", CLASS_MEMORY) ? NULL : real(count, size);
}

void *realloc(void *old, size_t size)
{
    static void *(*real)(void *, size_t);
    if (real == NULL) {
        void *symbol = real_of("realloc");
        memcpy(&real, &symbol, sizeof(real));
    }
    if (is_early(old)) {
        void *copy = malloc(size);
        size_t room = (size_t)(early + sizeof(early) - (char *)old);
        return copy != NULL ? memcpy(copy, old, size < room ? size : room) : NULL;
    }
    return boundary_fails("realloc", CLASS_MEMORY) ? NULL : real(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
    size_t whole;
    if (__builtin_mul_overflow(count, size, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, whole);
}

char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = boundary_fails("strdup", CLASS_MEMORY) ? NULL : take(size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

void free(void *memory)
{
    static void (*real)(void *);
    if (real == NULL) {
        void *symbol = real_of("free");
        memcpy(&real, &symbol, sizeof(real));
    }
    if (memory != NULL && !is_early(memory) && real != NULL) {
        real(memory);
    }
}
