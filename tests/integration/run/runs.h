/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of `run`: starting a run, waiting for documents.
 */
#pragma once

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

#define RUNS_PROPERTIES                                                                            \
    "\"title\":{\"type\":\"text\"},\"price\":{\"type\":\"double\"},\"tags\":{\"type\":"            \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"}"

static inline void expect_once(const char *text, const char *part)
{
    const char *first = strstr(text, part);
    ck_assert_msg(first != NULL && strstr(first + 1, part) == NULL, "not once \"%s\" in:\n%s", part,
                  text);
}

static inline void start_run(const struct world *w, struct program *p)
{
    rowferry_start(p, w->config, "run", NULL);
    program_await(p, "event=following", WAIT_MS);
}

static inline bool has_title(const char *url, const char *index, int64_t id, const char *title)
{
    char path[128];
    char wanted[128];
    struct reply reply;
    snprintf(path, sizeof(path), "/%s/_doc/%lld", index, (long long)id);
    snprintf(wanted, sizeof(wanted), "\"title\":\"%s\"", title);
    reply_get(&reply, "GET", url, path, NULL, "ApiKey " WORLD_API_KEY);
    bool has = reply.status == 200 && strstr(reply.body, wanted) != NULL;
    reply_release(&reply);
    return has;
}

/* Waits until the document has the title. */
static inline void await_title_in(const struct world *w, const char *index, int64_t id,
                                  const char *title, int64_t deadline_ms)
{
    struct deadline deadline = deadline_after(deadline_ms);
    while (!has_title(w->service.url, index, id, title)) {
        ck_assert_msg(deadline_wait(&deadline), "document %lld never got the title \"%s\"",
                      (long long)id, title);
    }
}

static inline void await_title(const struct world *w, int64_t id, const char *title)
{
    await_title_in(w, "shop-articles", id, title, WAIT_MS);
}

static inline void set_title(const struct world *w, int64_t id, const char *title)
{
    sql_exec(w->conn, "update articles set title = '%s' where source_id = %lld", title,
             (long long)id);
}

/* Sends a signal and expects this exit code; the caller releases the result. */
static inline void stop_run(struct program *p, int number, int exit_code,
                            struct program_result *result)
{
    program_signal(p, number);
    program_finish(p, WAIT_MS, result);
    ck_assert_msg(result->exit_code == exit_code, "exit code %d: %s%s", result->exit_code,
                  result->out, result->err);
}

/* Stops a run that the guard has stopped: it ends with 1 while it waits, 0 if it is just counting
 * again. */
static inline void stop_guarded_run(struct program *p, struct program_result *result)
{
    program_signal(p, SIGTERM);
    program_finish(p, WAIT_MS, result);
    ck_assert_msg(result->exit_code == 0 || result->exit_code == 1, "exit code %d: %s%s",
                  result->exit_code, result->out, result->err);
}

static inline void end_run(struct program *p)
{
    struct program_result result;
    stop_run(p, SIGTERM, 0, &result);
    program_result_release(&result);
}

static inline void await_status(const struct world *w, const char *pipeline, const char *text)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    for (bool has = false; !has;) {
        struct program_result result;
        rowferry_run(&result, w->config, "status", pipeline, NULL);
        has = strstr(result.out, text) != NULL;
        ck_assert_msg(has || deadline_wait(&deadline), "never \"%s\": %s", text, result.out);
        program_result_release(&result);
    }
}

static inline void expect_status(const struct world *w, const char *pipeline, const char *text)
{
    struct program_result result;
    rowferry_run(&result, w->config, "status", pipeline, NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, text);
    program_result_release(&result);
}
