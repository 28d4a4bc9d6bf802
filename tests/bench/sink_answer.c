/* SPDX-License-Identifier: Apache-2.0 */
/* Responses of the null sink. */
#include "sink_answer.h"
#include "sink_listing.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INDICES_MAX 64

static struct {
    pthread_mutex_t lock;
    size_t count;
    struct index {
        char *name;
        char *alias; /* null: none */
        char *mappings;
    } indices[INDICES_MAX];
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

void bulk_begin(struct bulk *b, struct sink_stats *stats, const char *target, struct buf *body)
{
    b->stats = stats;
    b->filtered = strstr(target, "filter_path=") != NULL;
    b->source_next = false;
    b->count = 0;
    b->head_len = 0;
    b->stamp_count = 0;
    b->body = body;
    const char *name = target + (*target == '/');
    const char *alias = strstr(name, "-WRITE");
    size_t len = alias != NULL ? (size_t)(alias - name) : strcspn(name, "/?");
    snprintf(b->index, sizeof(b->index), "\"_index\":\"%.*s\",\"_id\":\"", (int)len, name);
    if (b->filtered) {
        buf_push_literal(body, "{\"errors\":false,\"items\":[");
    } else {
        buf_push_literal(body, "{\"took\":1,\"errors\":false,\"items\":[");
    }
}

/* Returns the text of a string member as written in the line, including escapes. */
static struct span raw_member(const char *line, size_t len, const char *name)
{
    const char *at = memmem(line, len, name, strlen(name));
    if (at == NULL) {
        return span_make("", 0);
    }
    at += strlen(name);
    const char *end = at;
    for (; end < line + len && *end != '"'; end++) {
        end += *end == '\\' && end + 1 < line + len ? 1 : 0;
    }
    return span_make(at, (size_t)(end - at));
}

static void push_named_item(struct bulk *b, bool is_delete)
{
    struct span id = raw_member(b->head, b->head_len, "\"_id\":\"");
    buf_push_text(b->body, is_delete ? "{\"delete\":{" : "{\"index\":{");
    buf_push_text(b->body, b->index);
    buf_push(b->body, id.data, id.len);
    buf_push_text(b->body, is_delete ? "\",\"status\":200}}" : "\",\"status\":201}}");
}

static void push_full_item(struct bulk *b, bool is_delete)
{
    struct span id = raw_member(b->head, b->head_len, "\"_id\":\"");
    buf_printf(b->body,
               "{\"%s\":{\"_index\":\"sink\",\"_id\":\"%.*s\",\"_version\":1,\"result\":\"%s\","
               "\"_shards\":{\"total\":1,\"successful\":1,\"failed\":0},\"_seq_no\":0,"
               "\"_primary_term\":1,\"status\":%d}}",
               is_delete ? "delete" : "index", (int)id.len, id.data,
               is_delete ? "deleted" : "created", is_delete ? 200 : 201);
}

static void end_action(struct bulk *b)
{
    bool is_delete = b->head_len > 2 && b->head[2] == 'd';
    if (b->count++ > 0) {
        buf_push_char(b->body, ',');
    }
    if (!b->filtered) {
        push_full_item(b, is_delete);
    } else {
        push_named_item(b, is_delete);
    }
    atomic_fetch_add_explicit(is_delete ? &b->stats->deletes : &b->stats->upserts, 1,
                              memory_order_relaxed);
    b->source_next = !is_delete;
}

static void end_document(struct bulk *b)
{
    static const char name[] = "\"stamped\":";
    const char *at = memmem(b->head, b->head_len, name, strlen(name));
    if (at != NULL && b->stamp_count < BULK_STAMPS_MAX) {
        b->stamps[b->stamp_count++] = strtoll(at + strlen(name), NULL, 10);
    }
    b->source_next = false;
}

static void keep_head(struct bulk *b, const char *bytes, size_t len)
{
    size_t room = sizeof(b->head) - 1 - b->head_len;
    size_t n = len < room ? len : room;
    memcpy(b->head + b->head_len, bytes, n);
    b->head_len += n;
    b->head[b->head_len] = '\0';
}

void bulk_feed(struct bulk *b, const char *bytes, size_t len)
{
    const char *end = bytes + len;
    while (bytes < end) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *stop = newline != NULL ? newline : end;
        keep_head(b, bytes, (size_t)(stop - bytes));
        if (newline == NULL) {
            break;
        }
        if (b->source_next) {
            end_document(b);
        } else if (b->head_len > 0) {
            end_action(b);
        }
        b->head_len = 0;
        bytes = newline + 1;
    }
}

void bulk_end(struct bulk *b)
{
    buf_push_literal(b->body, "]}");
    atomic_fetch_add_explicit(&b->stats->bulks, 1, memory_order_relaxed);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t now_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    for (size_t i = 0; i < b->stamp_count; i++) {
        int64_t ms = (now_us - b->stamps[i]) / 1000;
        ms = ms < 0 ? 0 : ms > AGES_MAX_MS ? AGES_MAX_MS : ms;
        atomic_fetch_add_explicit(&b->stats->ages[ms], 1, memory_order_relaxed);
    }
}

int64_t sink_ages(struct sink_stats *stats)
{
    int64_t count = 0;
    for (size_t ms = 0; ms <= AGES_MAX_MS; ms++) {
        count += atomic_load_explicit(&stats->ages[ms], memory_order_relaxed);
    }
    return count;
}

int64_t sink_age_ms(struct sink_stats *stats, double share)
{
    double wanted = share * (double)sink_ages(stats);
    int64_t count = 0;
    for (int64_t ms = 0; ms <= AGES_MAX_MS; ms++) {
        count += atomic_load_explicit(&stats->ages[ms], memory_order_relaxed);
        if (count > 0 && (double)count >= wanted) {
            return ms;
        }
    }
    return -1;
}

void sink_forget_ages(struct sink_stats *stats)
{
    for (size_t ms = 0; ms <= AGES_MAX_MS; ms++) {
        atomic_store(&stats->ages[ms], 0);
    }
}

/* Returns the JSON value that begins at text. Ignores brackets within strings. */
static struct span value_at(const char *text, const char *end)
{
    const char *at = text;
    int depth = 0;
    for (bool quoted = false; at < end; at++) {
        if (*at == '\\' && quoted) {
            at++;
        } else if (*at == '"') {
            quoted = !quoted;
        } else if (!quoted && *at == '{') {
            depth++;
        } else if (!quoted && *at == '}' && --depth == 0) {
            return span_make(text, (size_t)(at + 1 - text));
        }
    }
    return span_make("{}", 2);
}

static struct index *find(struct span name)
{
    for (size_t i = 0; i < store.count; i++) {
        struct index *index = &store.indices[i];
        if (span_is(name, index->name) || (index->alias != NULL && span_is(name, index->alias))) {
            return index;
        }
    }
    return NULL;
}

static int not_found(struct buf *body, struct span name)
{
    buf_printf(body,
               "{\"error\":{\"type\":\"index_not_found_exception\",\"reason\":\"no such index "
               "[%.*s]\"},\"status\":404}",
               (int)name.len, name.data);
    return 404;
}

static int acknowledge(struct buf *body)
{
    buf_push_literal(body, "{\"acknowledged\":true,\"shards_acknowledged\":true}");
    return 200;
}

static int create_index(struct buf *body, struct span name, struct span request)
{
    static const char key[] = "\"mappings\":";
    if (find(name) != NULL || store.count == INDICES_MAX) {
        buf_printf(body, "{\"error\":{\"type\":\"resource_already_exists_exception\",\"reason\":"
                         "\"index exists\"},\"status\":400}");
        return 400;
    }
    struct span mappings = span_make("{}", 2);
    const char *at = request.len > 0 ? memmem(request.data, request.len, key, strlen(key)) : NULL;
    if (at != NULL) {
        mappings = value_at(at + strlen(key), request.data + request.len);
    }
    store.indices[store.count++] =
        (struct index){text_copy_span(name), NULL, text_copy_span(mappings)};
    return acknowledge(body);
}

static int describe_index(struct buf *body, struct span name)
{
    const struct index *index = find(name);
    if (index == NULL) {
        return not_found(body, name);
    }
    buf_printf(body, "{\"%s\":{\"aliases\":{", index->name);
    if (index->alias != NULL) {
        buf_printf(body, "\"%s\":{}", index->alias);
    }
    buf_printf(body, "},\"mappings\":%s,\"settings\":{\"index\":{\"uuid\":\"sink-%zu\"}}}}",
               index->mappings, (size_t)(index - store.indices));
    return 200;
}

static int remove_index(struct buf *body, struct span name)
{
    struct index *index = find(name);
    if (index == NULL) {
        return not_found(body, name);
    }
    index->name[0] = '\0';
    return acknowledge(body);
}

/* Gives the alias to the index of the last action: the only action of an initial load, or the add
 * of a swap. */
static int set_alias(struct buf *body, struct span request)
{
    struct span index_name = {0};
    struct span alias = {0};
    const char *end = request.data + request.len;
    for (const char *at = request.data; at < end; at++) {
        size_t left = (size_t)(end - at);
        if (left > 9 && memcmp(at, "\"index\":\"", 9) == 0) {
            index_name = raw_member(at, left, "\"index\":\"");
        } else if (left > 9 && memcmp(at, "\"alias\":\"", 9) == 0) {
            alias = raw_member(at, left, "\"alias\":\"");
        }
    }
    struct index *index = find(index_name);
    if (index == NULL) {
        return not_found(body, index_name);
    }
    if (memmem(alias.data, alias.len, "-WRITE", 6) == NULL) { /* accepted anyway */
        index->alias = text_copy_span(alias);
    }
    return acknowledge(body);
}

static int root(struct buf *body)
{
    buf_push_literal(body, "{\"name\":\"sink\",\"cluster_name\":\"sink\",\"cluster_uuid\":\"sink\","
                           "\"version\":{\"distribution\":\"opensearch\",\"number\":\"2.19.4\"},"
                           "\"tagline\":\"a null sink: it counts and forgets\"}");
    return 200;
}

static int count(struct buf *body, const struct sink_stats *stats)
{
    buf_printf(
        body, "{\"count\":%lld,\"_shards\":{\"total\":1,\"successful\":1,\"failed\":0}}",
        (long long)(listing_keys() + atomic_load(&stats->upserts) - atomic_load(&stats->deletes)));
    return 200;
}

/* Answers requests for an index. part: the path segment after its name: "", "_refresh", "_count"
 * ... */
static int answer_index(struct buf *body, const struct sink_stats *stats, const char *method,
                        struct span name, struct span part, struct span request)
{
    if (span_is(part, "_count")) {
        return count(body, stats);
    }
    if (span_is(part, "_search")) {
        listing_push(body, request);
        return 200;
    }
    if (part.len > 0) {
        buf_push_literal(body, "{\"acknowledged\":true,\"_shards\":{\"total\":1,\"successful\":1,"
                               "\"failed\":0}}");
        return 200;
    }
    if (strcmp(method, "PUT") == 0) {
        return create_index(body, name, request);
    }
    return strcmp(method, "DELETE") == 0 ? remove_index(body, name) : describe_index(body, name);
}

int sink_answer(struct buf *body, const struct sink_stats *stats, const char *method,
                const char *target, struct span request)
{
    size_t name_len = strcspn(target + 1, "/?");
    struct span name = span_make(target + 1, strcspn(target + 1, ",/?")); /* the first name */
    const char *rest = target + 1 + name_len;
    struct span part = {0};
    if (*rest == '/') {
        part = span_make(rest + 1, strcspn(rest + 1, "?"));
    }
    if (name.len == 0) {
        return root(body);
    }
    pthread_mutex_lock(&store.lock);
    int status = span_is(name, "_aliases") ? set_alias(body, request)
                                           : answer_index(body, stats, method, name, part, request);
    pthread_mutex_unlock(&store.lock);
    return status;
}
