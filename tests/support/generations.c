/* SPDX-License-Identifier: Apache-2.0 */
/* The indices of an alias, and their contents. */
#include "generations.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "rowferry/base/text.h"

static struct json_object *get(const struct world *w, const char *path)
{
    return reply_json(200, "GET", w->service.url, path, NULL, GENERATIONS_AUTH);
}

static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a;
    const char *y = *(char *const *)b;
    size_t len_x = strlen(x);
    size_t len_y = strlen(y);
    return len_x != len_y ? (len_x > len_y) - (len_x < len_y) : strcmp(x, y);
}

void generations_list(const struct world *w, const char *alias, struct generations *out)
{
    char path[256];
    *out = (struct generations){0};
    snprintf(path, sizeof(path), "/%s-*?expand_wildcards=all", alias);
    struct json_object *all = get(w, path);
    json_object_object_foreach(all, name, description)
    {
        (void)description;
        ck_assert_uint_lt(out->count, GENERATIONS_MOST);
        out->names[out->count++] = text_copy(name);
    }
    json_object_put(all);
    qsort(out->names, out->count, sizeof(out->names[0]), by_number);
}

void generations_release(struct generations *g)
{
    for (size_t i = 0; i < g->count; i++) {
        free(g->names[i]);
    }
    *g = (struct generations){0};
}

char *generations_live(const struct world *w, const char *alias)
{
    char path[256];
    char *live = NULL;
    snprintf(path, sizeof(path), "/_alias/%s", alias);
    struct json_object *all = get(w, path);
    ck_assert_int_eq(json_object_object_length(all), 1);
    json_object_object_foreach(all, name, description)
    {
        (void)description;
        live = text_copy(name);
    }
    json_object_put(all);
    return live;
}

char *generations_next(const struct world *w, const char *alias)
{
    struct generations g;
    char *live = generations_live(w, alias);
    generations_list(w, alias, &g);
    ck_assert_uint_gt(g.count, 0);
    char *next = text_copy(g.names[g.count - 1]);
    ck_assert_msg(strcmp(next, live) != 0, "no index was built beside \"%s\"", live);
    generations_release(&g);
    free(live);
    return next;
}

static void expect_setting(struct json_object *settings, const char *index, const char *name,
                           const char *wanted)
{
    const char *is = json_object_get_string(json_object_object_get(settings, name));
    bool same = is == NULL || wanted == NULL ? is == wanted : strcmp(is, wanted) == 0;
    ck_assert_msg(same, "%s of \"%s\" is %s, not %s", name, index, is != NULL ? is : "unset",
                  wanted != NULL ? wanted : "unset");
}

void generations_expect(const struct world *w, size_t count, const char *refresh,
                        const char *workers)
{
    size_t found = 0;
    bool has_live = false;
    char *live = generations_live(w, "shop-articles");
    struct json_object *all = get(w, "/shop-articles-*/_settings?expand_wildcards=all");
    json_object_object_foreach(all, name, description)
    {
        struct json_object *index = NULL;
        ck_assert(json_pointer_get(description, "/settings/index", &index) == 0);
        expect_setting(index, name, "refresh_interval", refresh);
        expect_setting(index, name, "number_of_replicas", workers != NULL ? workers : "1");
        has_live = has_live || strcmp(name, live) == 0;
        found++;
    }
    ck_assert_msg(found == count, "%zu indices instead of %zu: %s", found, count,
                  json_object_to_json_string(all));
    ck_assert_msg(has_live, "the alias points at \"%s\"", live);
    json_object_put(all);
    free(live);
}

int64_t generations_count(const struct world *w, const char *index, const char *query)
{
    char path[256];
    snprintf(path, sizeof(path), "/%s/_count", index);
    struct json_object *answer = reply_json(200, "POST", w->service.url, path,
                                            query[0] != '\0' ? query : NULL, GENERATIONS_AUTH);
    int64_t count = json_object_get_int64(json_object_object_get(answer, "count"));
    json_object_put(answer);
    return count;
}

void generations_do(const struct world *w, const char *method, const char *body, const char *path,
                    ...)
{
    char text[512];
    va_list args;
    struct reply reply;
    va_start(args, path);
    vsnprintf(text, sizeof(text), path, args);
    va_end(args);
    reply_get(&reply, method, w->service.url, text, body, GENERATIONS_AUTH);
    ck_assert_msg(reply.status == 200 || reply.status == 201, "%s %s: %d %s", method, text,
                  reply.status, reply.body);
    reply_release(&reply);
}
