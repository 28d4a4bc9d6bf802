/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of run's HTTP server: a run that listens on a free port, and its answers.
 */
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include "runs.h"

struct listens {
    struct program program;
    char url[80]; /* "http://127.0.0.1:port" */
};

static inline void listens_find(struct listens *l)
{
    static const char before[] = "event=listening address=";
    struct stat size;
    program_await(&l->program, before, WAIT_MS);
    ck_assert_int_eq(fstat(l->program.err_fd, &size), 0);
    char *text = calloc(1, (size_t)size.st_size + 1);
    ck_assert_int_ge(pread(l->program.err_fd, text, (size_t)size.st_size, 0), 0);
    const char *at = strstr(text, before) + strlen(before);
    snprintf(l->url, sizeof(l->url), "http://%.*s", (int)strcspn(at, "\n "), at);
    free(text);
}

/* Starts a run that follows and listens. */
static inline void listens_start(struct listens *l, const struct world *w)
{
    ck_assert_int_eq(setenv("ROWFERRY_LISTEN", "127.0.0.1:0", 1), 0);
    start_run(w, &l->program);
    ck_assert_int_eq(unsetenv("ROWFERRY_LISTEN"), 0);
    listens_find(l);
}

/* Returns the body; the caller frees it. */
static inline char *listens_get(const struct listens *l, const char *path, int status)
{
    struct reply reply;
    reply_get(&reply, "GET", l->url, path, NULL, NULL);
    ck_assert_msg(reply.status == status, "%s: %d %s", path, reply.status, reply.body);
    return reply.body;
}

static inline void listens_expect(const struct listens *l, const char *path, int status,
                                  const char *text)
{
    char *body = listens_get(l, path, status);
    expect_text(body, text);
    free(body);
}

static inline void listens_await(const struct listens *l, const char *path, int status,
                                 const char *text)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    for (bool has = false; !has;) {
        struct reply reply;
        reply_get(&reply, "GET", l->url, path, NULL, NULL);
        has = reply.status == status && strstr(reply.body, text) != NULL;
        ck_assert_msg(has || deadline_wait(&deadline), "%s never %d with \"%s\": %d %s", path,
                      status, text, reply.status, reply.body);
        reply_release(&reply);
    }
}
