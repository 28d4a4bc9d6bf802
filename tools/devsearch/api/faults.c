/* SPDX-License-Identifier: Apache-2.0 */
/* Stores and applies the faults requested by tests. */
#include "api/faults.h"
#include "api/server.h"
#include "base/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

void faults_init(struct faults *f)
{
    pthread_condattr_t attributes;
    *f = (struct faults){0};
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&f->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void forget(struct faults *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->list[i].path);
        free(f->list[i].items);
        free(f->list[i].id);
        free(f->list[i].answer);
    }
    free(f->list);
    f->list = NULL;
    f->count = 0;
}

void faults_release(struct faults *f)
{
    forget(f);
    pthread_cond_destroy(&f->changed);
}

void faults_drop(struct faults *f)
{
    forget(f);
    f->dropped++;
    pthread_cond_broadcast(&f->changed);
}

void faults_delay(struct faults *f, pthread_mutex_t *lock, int64_t delay_ms)
{
    struct timespec end;
    int64_t dropped = f->dropped;
    if (delay_ms == 0) {
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += delay_ms / 1000;
    end.tv_nsec += delay_ms % 1000 * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    f->waiting++;
    while (f->dropped == dropped && pthread_cond_timedwait(&f->changed, lock, &end) != ETIMEDOUT) {
    }
    f->waiting--;
}

static void drop(struct faults *f, size_t at)
{
    free(f->list[at].path);
    free(f->list[at].items);
    free(f->list[at].id);
    free(f->list[at].answer);
    memmove(f->list + at, f->list + at + 1, (--f->count - at) * sizeof(*f->list));
}

static void use(struct faults *f, size_t at)
{
    f->fired++;
    if (f->list[at].count > 0 && --f->list[at].count == 0) {
        drop(f, at);
    }
}

/* Matches a fault's path. A leading "=" requires an exact match: "=/" is the root only. */
static bool meant(const char *wanted, const char *path)
{
    return wanted[0] == '=' ? strcmp(path, wanted + 1) == 0 : strstr(path, wanted) != NULL;
}

struct fault faults_take(struct faults *f, const char *path)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->list[i].items_status == 0 && f->list[i].items == NULL &&
            meant(f->list[i].path, path) && strstr(path, "/_devsearch/") == NULL) {
            struct fault fault = f->list[i];
            fault.path = NULL;
            fault.answer = fault.answer != NULL ? text_copy(fault.answer) : NULL;
            use(f, i);
            return fault;
        }
    }
    return (struct fault){0};
}

int faults_take_item(struct faults *f, const char *id, bool delete)
{
    for (size_t i = 0; i < f->count; i++) {
        const char *wanted = f->list[i].id;
        bool meant = wanted == NULL ? f->list[i].items == NULL || !delete
                                    : !delete &&id != NULL && strcmp(wanted, id) == 0;
        if (!meant) {
            continue;
        }
        if (f->list[i].items != NULL) {
            int status = *f->list[i].items;
            memmove(f->list[i].items, f->list[i].items + 1,
                    (size_t)(f->list[i].count - 1) * sizeof(int));
            use(f, i);
            return status;
        }
        if (f->list[i].items_status != 0 && ++f->items_seen % f->list[i].every == 0) {
            int status = f->list[i].items_status;
            use(f, i);
            return status;
        }
    }
    return 0;
}

int fault_refuse(struct refusal *refusal, int status, enum product product, const char *index)
{
    switch (status) {
    case 429:
        return refuse(
            refusal, 429,
            product == OPENSEARCH ? "rejected_execution_exception"
                                  : "es_rejected_execution_exception",
            "rejected execution of coordinating operation [coordinating_and_primary_bytes="
            "0, replica_bytes=0, all_bytes=0, coordinating_operation_bytes=676072, "
            "max_coordinating%s_bytes=307200]",
            product == OPENSEARCH ? "_and_primary" : "");
    case 503:
        if (index != NULL) {
            return refuse(refusal, 503, "unavailable_shards_exception",
                          "[%s][0] primary shard is not active Timeout: [1m]", index);
        }
        return refuse(refusal, 503, "cluster_block_exception",
                      "blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized];");
    case 404:
        return refuse(refusal, 404, "index_not_found_exception", "no such index [%s]",
                      index != NULL ? index : "_all");
    case 409:
        return refuse(refusal, 409, "version_conflict_engine_exception",
                      "version conflict, a fault that was asked for");
    case 403:
        if (index == NULL) {
            return refuse(refusal, 403, "security_exception",
                          "no permissions for [indices:data/write/bulk]");
        }
        return refuse(refusal, 403, "cluster_block_exception",
                      "index [%s] blocked by: [FORBIDDEN/8/index write (api)];", index);
    default:
        return refuse(refusal, status, "devsearch_fault", "a fault that was asked for");
    }
}

static int parse_close(struct json_object *json, struct fault *fault, struct refusal *refusal)
{
    static const char *const names[] = {
        [CLOSE_BEFORE] = "before", [CLOSE_AFTER] = "after", [CLOSE_MIDDLE] = "middle"};
    const char *text = tree_text(json);
    for (int i = CLOSE_BEFORE; i <= CLOSE_MIDDLE; i++) {
        if (strcmp(text, names[i]) == 0) {
            fault->close = (enum fault_close)i;
            return 0;
        }
    }
    return refuse_unknown(refusal, "[close] [%s]: before, after or middle", text);
}

/* Parses [0, 429, 500]: statuses of the next items, in order. */
static int parse_items(struct json_object *json, struct fault *fault, struct refusal *refusal)
{
    size_t count = json_object_is_type(json, json_type_array) ? tree_length(json) : 0;
    fault->count = (int64_t)count;
    fault->items = mem_zero(count + 1, sizeof(int));
    for (size_t i = 0; i < count; i++) {
        fault->items[i] = json_object_get_int(tree_item(json, i));
        if (fault->items[i] != 0 && (fault->items[i] < 400 || fault->items[i] > 599)) {
            return refuse(refusal, 400, "illegal_argument_exception", "an item answers 400 to 599");
        }
    }
    return 0;
}

static int parse_fault(struct json_object *json, struct fault *fault, struct refusal *refusal)
{
    *fault = (struct fault){.every = 1, .count = -1};
    const char *path = "_bulk";
    tree_foreach(json, key, value)
    {
        if (strcmp(key, "status") == 0) {
            fault->status = json_object_get_int(value);
        } else if (strcmp(key, "items_status") == 0) {
            fault->items_status = json_object_get_int(value);
        } else if (strcmp(key, "id") == 0) {
            free(fault->id);
            fault->id = text_copy(tree_text(value));
        } else if (strcmp(key, "every") == 0) {
            fault->every = json_object_get_int64(value);
        } else if (strcmp(key, "count") == 0) {
            fault->count = json_object_get_int64(value);
        } else if (strcmp(key, "delay_ms") == 0) {
            fault->delay_ms = json_object_get_int64(value);
        } else if (strcmp(key, "path") == 0) {
            path = tree_text(value);
        } else if (strcmp(key, "answer") == 0) {
            free(fault->answer);
            fault->answer = text_copy(json_object_to_json_string_ext(
                value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
        } else if (strcmp(key, "items") == 0) {
            if (parse_items(value, fault, refusal) != 0) {
                return -1;
            }
        } else if (strcmp(key, "close") != 0) {
            return refuse_unknown(refusal, "[%s] of a fault", key);
        } else if (parse_close(value, fault, refusal) != 0) {
            return -1;
        }
    }
    int least = fault->answer != NULL ? 200 : 400;
    bool bad_status = (fault->status != 0 && (fault->status < least || fault->status > 599)) ||
                      (fault->status == 0 && fault->answer != NULL) ||
                      (fault->items_status != 0 && fault->items_status < 400);
    if (fault->every < 1 || fault->count == 0 || fault->delay_ms < 0 || bad_status) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "a fault has a status of 400 to 599 (200 with an answer), every >= 1, count "
                      ">= 1, delay_ms >= 0");
    }
    fault->path = text_copy(path);
    return 0;
}

static int allowed(const struct server *s, struct refusal *refusal)
{
    return s->options->faults
               ? 0
               : refuse(refusal, 403, "security_exception", "faults need devsearch --faults");
}

HANDLER(post_faults)
{
    struct fault fault = {0};
    if (allowed(s, refusal) != 0) {
        return -1;
    }
    struct json_object *json = request_json(q, refusal);
    int rc = json != NULL ? parse_fault(json, &fault, refusal) : -1;
    json_object_put(json);
    if (rc != 0) {
        free(fault.items);
        free(fault.id);
        free(fault.answer);
    } else {
        s->faults.list = mem_grow(s->faults.list, s->faults.count + 1, sizeof(fault));
        s->faults.list[s->faults.count++] = fault;
        buf_push_literal(&a->body, "{\"acknowledged\":true}");
    }
    return rc;
}

HANDLER(delete_faults)
{
    (void)q;
    if (allowed(s, refusal) != 0) {
        return -1;
    }
    faults_drop(&s->faults);
    buf_push_literal(&a->body, "{\"acknowledged\":true}");
    return 0;
}

HANDLER(get_fault_stats)
{
    (void)q;
    int64_t documents = 0;
    for (size_t i = 0; i < s->catalogue.count; i++) {
        int64_t n;
        int64_t bytes;
        if (shelf_size(s->catalogue.list[i]->shelf, INT64_MAX - 1, &n, &bytes, refusal) != 0) {
            return -1;
        }
        documents += n;
    }
    buf_printf(&a->body,
               "{\"requests\":%lld,\"bulk_requests\":%lld,\"bulk_operations\":%lld,"
               "\"bulk_bytes\":%lld,\"documents\":%lld,\"faults_pending\":%zu,"
               "\"faults_fired\":%lld,\"faults_waiting\":%lld}",
               (long long)s->requests, (long long)s->bulk_requests, (long long)s->bulk_operations,
               (long long)s->bulk_bytes, (long long)documents, s->faults.count,
               (long long)s->faults.fired, (long long)s->faults.waiting);
    return 0;
}
