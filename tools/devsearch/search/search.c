/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints _search, _count and points in time. */
#include "search/search.h"
#include "base/limits.h"
#include "base/tree.h"

#include <stdio.h>
#include <stdlib.h>

#define PIT_PREFIX "devsearch-pit-"

struct pit *pit_find(struct server *s, const char *id, struct refusal *refusal)
{
    for (size_t i = 0; i < s->pit_count; i++) {
        if (strcmp(s->pits[i].id, id) == 0 && s->pits[i].ends_ms > now_ms(s)) {
            return &s->pits[i];
        }
    }
    if (strncmp(id, PIT_PREFIX, strlen(PIT_PREFIX)) != 0) {
        refuse(refusal, 400, "illegal_argument_exception", "invalid id: [%s]", id);
        return NULL;
    }
    refuse(refusal, 404, "search_context_missing_exception", "No search context found for id [1]");
    refuse_shards(refusal, "");
    return NULL;
}

static struct index *by_number(const struct server *s, int64_t number)
{
    for (size_t i = 0; i < s->catalogue.count; i++) {
        if (s->catalogue.list[i]->number == number) {
            return s->catalogue.list[i];
        }
    }
    return NULL;
}

static int keep_alive_ms(const char *text, int64_t *ms)
{
    char *stop;
    long long n = strtoll(text, &stop, 10);
    *ms = n * (strcmp(stop, "ms") == 0  ? 1
               : strcmp(stop, "s") == 0 ? 1000
               : strcmp(stop, "h") == 0 ? 3600000
                                        : 60000);
    return n > 0 && n <= 86400 ? 0 : -1;
}

static int search_pit(struct server *s, const struct request *q, struct found *f,
                      struct refusal *refusal)
{
    if (strcmp(q->segments[0], "_search") != 0) {
        return refuse(refusal, 400, "action_request_validation_exception",
                      "Validation Failed: 1: [indices] cannot be used with point in time;");
    }
    struct pit *pit = pit_find(s, f->asked->pit, refusal);
    for (size_t i = 0; pit != NULL && i < pit->count; i++) {
        struct index *ix = by_number(s, pit->numbers[i]);
        if (ix == NULL) {
            return s->options->product == OPENSEARCH
                       ? refuse_no_index(refusal, "(deleted)", "index_or_alias")
                       : refuse(refusal, 503, "no_shard_available_action_exception",
                                "the index of the point in time is gone");
        }
        if (search_index(s, ix, pit->refreshes[i], f, refusal) != 0) {
            return -1;
        }
    }
    return pit != NULL ? 0 : -1;
}

static int search_names(struct server *s, const char *names, struct found *f, size_t *shards,
                        struct refusal *refusal)
{
    struct indices list;
    if (catalogue_resolve_open(&s->catalogue, names, &list, refusal) != 0) {
        return -1;
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < list.count; i++) {
        const struct settings *settings = &list.list[i]->settings;
        rc = asked_check_window(f->asked, settings_get(settings, "index.max_result_window"),
                                refusal);
        rc = rc == 0 ? index_catch_up(s, list.list[i], refusal) : rc;
        rc = rc == 0 ? search_index(s, list.list[i], list.list[i]->refresh, f, refusal) : rc;
    }
    *shards = list.count;
    free(list.list);
    return rc;
}

static const char *names_of(const struct request *q)
{
    return q->segments[0][0] == '_' && q->segment_count == 1 ? "_all" : q->segments[0];
}

HANDLER(search)
{
    struct asked asked;
    struct found f = {.asked = &asked};
    size_t shards = 1;
    int64_t begun_us = clock_monotonic_us(&s->clock);
    int rc = asked_read(&asked, s, q, refusal);
    f.limit = (size_t)(asked.from + asked.size);
    if (rc == 0) {
        rc = asked.pit != NULL ? search_pit(s, q, &f, refusal)
                               : search_names(s, names_of(q), &f, &shards, refusal);
    }
    if (rc == 0) {
        buf_push_char(&a->body, '{');
        if (asked.pit != NULL) {
            buf_push_literal(&a->body, "\"pit_id\":");
            push_json_text(&a->body, asked.pit);
            buf_push_char(&a->body, ',');
        }
        buf_printf(
            &a->body,
            "\"took\":%lld,\"timed_out\":false,\"_shards\":{\"total\":%zu,\"successful\":%zu,"
            "\"skipped\":0,\"failed\":0},",
            (long long)(clock_monotonic_us(&s->clock) - begun_us) / 1000, shards, shards);
        rc = push_hits(&f, &a->body, refusal);
        buf_push_char(&a->body, '}');
    }
    found_release(&f);
    asked_release(&asked);
    return rc;
}

HANDLER(count)
{
    struct asked asked;
    struct found f = {.asked = &asked};
    size_t shards = 0;
    int rc = asked_read(&asked, s, q, refusal);
    if (rc == 0 && asked.body != NULL) {
        tree_foreach(asked.body, key, ignored)
        {
            (void)ignored;
            if (rc == 0 && strcmp(key, "query") != 0) {
                rc =
                    refuse(refusal, 400, "parsing_exception", "request does not support [%s]", key);
            }
        }
    }
    asked.size = 0; /* without hits, no result window is too large */
    rc = rc == 0 ? search_names(s, names_of(q), &f, &shards, refusal) : rc;
    buf_printf(&a->body,
               "{\"count\":%lld,\"_shards\":{\"total\":%zu,\"successful\":%zu,\"skipped\":0,"
               "\"failed\":0}}",
               (long long)f.total, shards, shards);
    found_release(&f);
    asked_release(&asked);
    return rc;
}

static void hold(struct server *s, struct pit *pit, const struct indices *list)
{
    pit->numbers = mem_zero(list->count + 1, sizeof(*pit->numbers));
    pit->refreshes = mem_zero(list->count + 1, sizeof(*pit->refreshes));
    pit->count = list->count;
    for (size_t i = 0; i < list->count; i++) {
        pit->numbers[i] = list->list[i]->number;
        pit->refreshes[i] = list->list[i]->refresh;
    }
    s->pits = mem_grow(s->pits, s->pit_count + 1, sizeof(*s->pits));
    s->pits[s->pit_count++] = *pit;
}

HANDLER(open_pit)
{
    struct indices list;
    struct pit pit = {0};
    int64_t ms;
    const char *alive = request_parameter(q, "keep_alive");
    if (alive == NULL || keep_alive_ms(alive, &ms) != 0) {
        return refuse(refusal, 400, "action_request_validation_exception",
                      "Validation Failed: 1: keep alive not specified;");
    }
    pits_drop_old(s);
    if (s->pit_count >= PITS_MAX) {
        return refuse(refusal, 429, "rejected_execution_exception",
                      "Trying to create too many Point In Time contexts. Must be less than or "
                      "equal to: [%d]. This limit can be set by changing the "
                      "[search.max_open_pit_context] setting.",
                      PITS_MAX);
    }
    if (catalogue_resolve_open(&s->catalogue, q->segments[0], &list, refusal) != 0) {
        return -1;
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < list.count; i++) {
        rc = index_catch_up(s, list.list[i], refusal);
    }
    if (rc == 0) {
        char *name = random_name(&s->clock);
        struct buf id;
        buf_init(&id, 256);
        buf_printf(&id, PIT_PREFIX "%s", name);
        free(name);
        pit.id = buf_detach(&id);
        pit.ends_ms = now_ms(s) + ms;
        hold(s, &pit, &list);
        if (s->options->product == OPENSEARCH) {
            buf_printf(
                &a->body,
                "{\"pit_id\":\"%s\",\"_shards\":{\"total\":%zu,\"successful\":%zu,\"skipped\":0,"
                "\"failed\":0},\"creation_time\":%lld}",
                pit.id, list.count, list.count, (long long)now_ms(s));
        } else {
            buf_printf(&a->body, "{\"id\":\"%s\"}", pit.id);
        }
    }
    free(list.list);
    return rc;
}

/* Returns 1 if it was open, 0 if not. */
static int close_one(struct server *s, const char *id, struct refusal *refusal)
{
    struct pit *pit = pit_find(s, id, refusal);
    if (pit == NULL) {
        return refusal->status == 400 ? -1 : 0;
    }
    pit->ends_ms = 0;
    return 1;
}

HANDLER(close_pit)
{
    struct json_object *ids = NULL;
    struct json_object *body = request_json(q, refusal);
    bool opensearch = s->options->product == OPENSEARCH;
    int rc = body != NULL ? 0 : -1;
    int freed = 0;
    if (rc == 0 && !json_object_object_get_ex(body, opensearch ? "pit_id" : "id", &ids)) {
        rc = refuse(refusal, 400, "illegal_argument_exception", "no point in time id was given");
    }
    bool list = rc == 0 && json_object_is_type(ids, json_type_array);
    size_t n = list ? tree_length(ids) : 1;
    buf_push_text(&a->body, opensearch ? "{\"pits\":[" : "");
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct json_object *id = list ? tree_item(ids, i) : ids;
        int closed = close_one(s, tree_text(id), refusal);
        rc = closed < 0 ? -1 : 0;
        freed += closed > 0 ? 1 : 0;
        if (opensearch) {
            buf_printf(&a->body, "%s{\"successful\":true,\"pit_id\":", i > 0 ? "," : "");
            push_json_text(&a->body, tree_text(id));
            buf_push_char(&a->body, '}');
        }
    }
    if (opensearch) {
        buf_push_literal(&a->body, "]}");
    } else {
        buf_printf(&a->body, "{\"succeeded\":true,\"num_freed\":%d}", freed);
        a->status = freed > 0 ? 200 : 404;
    }
    json_object_put(body);
    return rc;
}
