/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of reindex: a synced index, the alias and its generations, a slow service.
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

#define AUTH "ApiKey " WORLD_API_KEY
#define BRIEF "\"retry_budget\": \"20s\""
/* The world's mapping, with the title as a keyword. */
#define OTHER_PROPERTIES                                                                           \
    "\"title\":{\"type\":\"keyword\"},\"price\":{\"type\":\"double\"},\"tags\":{\"type\":"         \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"}"
/* The world's own mapping. */
#define SAME_PROPERTIES                                                                            \
    "\"title\":{\"type\":\"text\"},\"price\":{\"type\":\"double\"},\"tags\":{\"type\":"            \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"}"
#define SLOW_LIMITS BRIEF ", \"batch_operations\": 10, \"in_flight\": 1"
/* Delays bulk requests until the service is made fast again. With few rows in each, building an
 * index takes minutes. */
#define SLOW "{\"delay_ms\":1500}"

static inline void synced(struct world *w, long rows)
{
    struct program_result result;
    world_start(w, rows, NULL);
    world_install(w);
    world_sync(w, 0, &result);
    program_result_release(&result);
}

/* Runs rowferry reindex with these words; it must end with exit_code. */
static inline void reindex(const struct world *w, int exit_code, struct program_result *result,
                           const char *first, const char *second)
{
    rowferry_run(result, w->config, "reindex", first, second, NULL);
    ck_assert_msg(result->exit_code == exit_code, "exit code %d instead of %d:\n%s%s",
                  result->exit_code, exit_code, result->out, result->err);
}

/* Returns the index of the alias; the caller frees it. */
static inline char *live_index(const struct world *w)
{
    struct json_object *all =
        reply_json(200, "GET", w->service.url, "/_alias/shop-articles", NULL, AUTH);
    char *name = NULL;
    ck_assert_int_eq(json_object_object_length(all), 1);
    json_object_object_foreach(all, key, value)
    {
        (void)value;
        name = strdup(key);
    }
    json_object_put(all);
    return name;
}

static inline int index_status(const struct world *w, const char *index)
{
    char path[300];
    struct reply reply;
    snprintf(path, sizeof(path), "/%s", index);
    reply_get(&reply, "GET", w->service.url, path, NULL, AUTH);
    int status = reply.status;
    reply_release(&reply);
    return status;
}

static inline void expect_live(const struct world *w, const char *end)
{
    char *name = live_index(w);
    size_t len = strlen(name);
    ck_assert_msg(len > strlen(end) && strcmp(name + len - strlen(end), end) == 0,
                  "\"%s\" is live, not one that ends with \"%s\"", name, end);
    free(name);
}

static inline void expect_status(const struct world *w, const char *text)
{
    struct program_result result;
    rowferry_run(&result, w->config, "status", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, text);
    program_result_release(&result);
}

static inline void service_is_slow(struct world *w)
{
    world_fault(w, SLOW);
}

static inline void service_is_fast(const struct world *w)
{
    world_unfault(w);
}

static inline void await_status(const struct world *w, const char *text)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    for (bool has = false; !has;) {
        struct program_result result;
        rowferry_run(&result, w->config, "status", NULL);
        has = strstr(result.out, text) != NULL;
        ck_assert_msg(has || deadline_wait(&deadline), "never \"%s\": %s", text, result.out);
        program_result_release(&result);
    }
}

/* Syncs an index; building another generation would take minutes. */
static inline void synced_and_slow(struct world *w)
{
    synced(w, 1000);
    world_configure(w, SAME_PROPERTIES, SLOW_LIMITS);
    service_is_slow(w);
}

/* Starts reindex and waits until it has built a part. */
static inline void start_reindex(struct world *w, struct program *p)
{
    rowferry_start(p, w->config, "reindex", NULL);
    await_status(w, "  rebuild       copying");
}

static inline bool has_title(const struct world *w, long id, const char *title)
{
    char path[96];
    char wanted[128];
    struct reply reply;
    snprintf(path, sizeof(path), "/shop-articles/_doc/%ld", id);
    snprintf(wanted, sizeof(wanted), "\"title\":\"%s\"", title);
    reply_get(&reply, "GET", w->service.url, path, NULL, AUTH);
    bool has = reply.status == 200 && strstr(reply.body, wanted) != NULL;
    reply_release(&reply);
    return has;
}

static inline void await_title(const struct world *w, long id, const char *title)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (!has_title(w, id, title)) {
        ck_assert_msg(deadline_wait(&deadline), "%ld never got the title \"%s\"", id, title);
    }
}

static inline void finish(struct program *p, int exit_code, struct program_result *result)
{
    program_finish(p, WAIT_MS, result);
    ck_assert_msg(result->exit_code == exit_code, "exit code %d instead of %d:\n%s%s",
                  result->exit_code, exit_code, result->out, result->err);
}
