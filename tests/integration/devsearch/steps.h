/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A conversation with devsearch as a table of requests and expected answers.
 */
#pragma once

/* Included by path, because devsearch has headers of the same names. */
#include "../../support/http.h"
#include "../../support/server.h"
#include "suite.h"

#include <string.h>

struct step {
    const char *method;
    const char *path;
    const char *body; /* may be null */
    int status;
    const char *holds;  /* required part of the answer; may be null */
    const char *misses; /* forbidden part of the answer; may be null */
};

static inline void steps_take(const char *url, const struct step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct step *s = &steps[i];
        struct reply reply;
        reply_get(&reply, s->method, url, s->path, s->body, NULL);
        ck_assert_msg(reply.status == s->status, "step %zu: %s %s %s: %d instead of %d: %s", i,
                      s->method, s->path, s->body != NULL ? s->body : "", reply.status, s->status,
                      reply.body);
        ck_assert_msg(s->holds == NULL || strstr(reply.body, s->holds) != NULL,
                      "step %zu: %s %s %s: no %s in %s", i, s->method, s->path,
                      s->body != NULL ? s->body : "", s->holds, reply.body);
        ck_assert_msg(s->misses == NULL || strstr(reply.body, s->misses) == NULL,
                      "step %zu: %s %s: %s in %s", i, s->method, s->path, s->misses, reply.body);
        reply_release(&reply);
    }
}

/* Starts a new devsearch with these options, runs all steps and stops it. */
static inline void conversation(const char *const *options, const struct step *steps, size_t count)
{
    struct devsearch service;
    devsearch_start(&service, options);
    steps_take(service.url, steps, count);
    devsearch_stop(&service);
}

#define CONVERSATION(options, ...)                                                                 \
    do {                                                                                           \
        static const struct step steps[] = {__VA_ARGS__};                                          \
        conversation((options), steps, sizeof(steps) / sizeof(steps[0]));                          \
    } while (0)
