/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of verify: a synced index, and documents changed by others.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

#define AUTH "ApiKey " WORLD_API_KEY
#define VERIFY_MS RUN_MS

static inline void synced(struct world *w, long rows)
{
    struct program_result result;
    world_start(w, rows, NULL);
    world_install(w);
    world_sync(w, 0, &result);
    program_result_release(&result);
}

static inline void index_does(struct world *w, int status, const char *method, const char *path,
                              const char *body)
{
    json_object_put(reply_json(status, method, w->service.url, path, body, AUTH));
}

static inline void document_goes(struct world *w, long id)
{
    char path[96];
    snprintf(path, sizeof(path), "/shop-articles/_doc/%ld", id);
    index_does(w, 200, "DELETE", path, NULL);
}

static inline void document_becomes(struct world *w, long id, const char *members, int status)
{
    char path[96];
    char body[1024];
    snprintf(path, sizeof(path), "/shop-articles/_doc/%ld", id);
    snprintf(body, sizeof(body), "{\"source_id\":\"%ld\"%s}", id, members);
    index_does(w, status, "PUT", path, body);
}

static inline void counts(const struct program_result *r, int64_t missing, int64_t extra,
                          int64_t altered)
{
    ck_assert_msg(program_json_int(r, "missing") == missing &&
                      program_json_int(r, "extra") == extra &&
                      program_json_int(r, "altered") == altered,
                  "wanted %ld, %ld, %ld: %.1500s\n%.1500s", (long)missing, (long)extra,
                  (long)altered, r->out, r->err);
}

static inline void verify(struct world *w, int exit_code, struct program_result *r)
{
    rowferry_run(r, w->config, "verify", "--json", "--limit", "100", NULL);
    ck_assert_msg(r->exit_code == exit_code, "%d: %.1500s\n%.1500s", r->exit_code, r->out, r->err);
}

static inline void verify_clean(struct world *w, int64_t rows)
{
    struct program_result r;
    verify(w, 0, &r);
    counts(&r, 0, 0, 0);
    ck_assert_int_eq(program_json_int(&r, "rows"), rows);
    ck_assert_int_eq(program_json_int(&r, "documents"), rows);
    ck_assert_int_eq(program_json_int(&r, "waiting"), 0);
    program_result_release(&r);
}

/* Returns the index of the alias; the caller frees it. */
static inline char *live_index(struct world *w)
{
    char *generation = NULL;
    struct json_object *aliases =
        reply_json(200, "GET", w->service.url, "/_alias/shop-articles", NULL, AUTH);
    json_object_object_foreach(aliases, name, value)
    {
        (void)value;
        generation = strdup(name);
    }
    json_object_put(aliases);
    return generation;
}
