/* SPDX-License-Identifier: Apache-2.0 */
/* Cluster-wide endpoints: GET /, health, statistics, _analyze. */
#include "api/server.h"
#include "base/limits.h"
#include "base/tokens.h"
#include "base/tree.h"

#include <stdlib.h>

HANDLER(get_root)
{
    (void)q;
    (void)refusal;
    bool opensearch = s->options->product == OPENSEARCH;
    buf_printf(&a->body,
               "{\n  \"name\" : \"devsearch\",\n  \"cluster_name\" : \"devsearch\",\n"
               "  \"cluster_uuid\" : \"%s\",\n  \"version\" : {\n%s"
               "    \"number\" : \"%s\",\n%s    \"build_type\" : \"devsearch\",\n"
               "    \"build_hash\" : \"devsearch-" ROWFERRY_VERSION "\",\n"
               "    \"build_date\" : \"2026-01-01T00:00:00.000000000Z\",\n"
               "    \"build_snapshot\" : false,\n    \"lucene_version\" : \"%s\",\n"
               "    \"minimum_wire_compatibility_version\" : \"%s\",\n"
               "    \"minimum_index_compatibility_version\" : \"7.0.0\"\n  },\n"
               "  \"tagline\" : \"%s\"\n}\n",
               s->cluster_uuid, opensearch ? "    \"distribution\" : \"opensearch\",\n" : "",
               opensearch ? "2.19.4" : "8.19.21",
               opensearch ? "" : "    \"build_flavor\" : \"default\",\n",
               opensearch ? "9.12.3" : "9.12.2", opensearch ? "7.10.0" : "7.17.0",
               opensearch ? "The OpenSearch Project: https://opensearch.org/"
                          : "You Know, for Search");
    return 0;
}

static const char *const colours[] = {"green", "yellow", "red"};

static int colour_of(const struct index *ix)
{
    const char *replicas = settings_get(&ix->settings, "index.number_of_replicas");
    return replicas != NULL && strcmp(replicas, "0") != 0 ? 1 : 0;
}

static bool missing_name(const struct server *s, const struct request *q)
{
    return q->segment_count == 3 && strpbrk(q->segments[2], "*,") == NULL &&
           catalogue_find(&s->catalogue, q->segments[2]) == NULL &&
           !catalogue_has_alias(&s->catalogue, q->segments[2]);
}

HANDLER(health)
{
    struct indices list = {0};
    int colour = 0;
    int64_t unassigned = 0;
    bool missing = missing_name(s, q);
    if (!missing &&
        catalogue_resolve_all(&s->catalogue, q->segment_count == 3 ? q->segments[2] : "_all", &list,
                              refusal) != 0) {
        return -1;
    }
    for (size_t i = 0; i < list.count; i++) {
        const char *replicas = settings_get(&list.list[i]->settings, "index.number_of_replicas");
        colour = colour_of(list.list[i]) > colour ? colour_of(list.list[i]) : colour;
        unassigned += replicas != NULL ? strtoll(replicas, NULL, 10) : 0;
    }
    colour = missing ? 2 : colour;
    const char *wanted = request_parameter(q, "wait_for_status");
    bool late = missing || (wanted != NULL && strcmp(wanted, "green") == 0 && colour > 0);
    double all = (double)list.count + (double)unassigned;
    a->status = late ? 408 : 200;
    buf_printf(&a->body,
               "{\"cluster_name\":\"devsearch\",\"status\":\"%s\",\"timed_out\":%s,"
               "\"number_of_nodes\":1,\"number_of_data_nodes\":1,%s\"active_primary_shards\":%zu,"
               "\"active_shards\":%zu,\"relocating_shards\":0,\"initializing_shards\":0,"
               "\"unassigned_shards\":%lld,\"delayed_unassigned_shards\":0,"
               "\"number_of_pending_tasks\":0,\"number_of_in_flight_fetch\":0,"
               "\"task_max_waiting_in_queue_millis\":0,\"active_shards_percent_as_number\":%.1f}",
               colours[colour], late ? "true" : "false",
               s->options->product == OPENSEARCH
                   ? "\"discovered_master\":true,\"discovered_cluster_manager\":true,"
                   : "",
               list.count, list.count, (long long)unassigned,
               all > 0 ? 100.0 * (double)list.count / all : 100.0);
    free(list.list);
    return 0;
}

static void push_numbers(struct buf *out, int64_t count, int64_t bytes, int64_t indexed)
{
    for (int i = 0; i < 2; i++) {
        buf_printf(out,
                   "%s\"%s\":{\"docs\":{\"count\":%lld,\"deleted\":0},\"store\":{\"size_in_bytes\":"
                   "%lld,\"reserved_in_bytes\":0},\"indexing\":{\"index_total\":%lld}}",
                   i > 0 ? "," : "", i == 0 ? "primaries" : "total", (long long)count,
                   (long long)bytes, (long long)indexed);
    }
}

static int check_metrics(const struct request *q, struct refusal *refusal)
{
    const char *metric = q->segment_count == 3 ? q->segments[2] : "";
    while (*metric != '\0') {
        size_t n = strcspn(metric, ",");
        struct span name = span_make(metric, n);
        if (!span_is(name, "docs") && !span_is(name, "store") && !span_is(name, "indexing")) {
            return refuse_unknown(refusal, "the statistic [%.*s], only docs, store and indexing",
                                  (int)n, metric);
        }
        metric += n + (metric[n] == ',');
    }
    return 0;
}

HANDLER(get_stats)
{
    struct indices list;
    struct buf each;
    int64_t all_count = 0;
    int64_t all_bytes = 0;
    int64_t all_indexed = 0;
    int rc = 0;
    if (check_metrics(q, refusal) != 0 ||
        catalogue_resolve_open(&s->catalogue, q->segments[0][0] == '_' ? "_all" : q->segments[0],
                               &list, refusal) != 0) {
        return -1;
    }
    buf_init(&each, ANSWER_MAX_BYTES);
    for (size_t i = 0; rc == 0 && i < list.count; i++) {
        int64_t n;
        int64_t bytes;
        rc = index_catch_up(s, list.list[i], refusal);
        rc = rc == 0 ? shelf_size(list.list[i]->shelf, list.list[i]->refresh, &n, &bytes, refusal)
                     : rc;
        if (rc == 0) {
            all_count += n;
            all_bytes += bytes;
            all_indexed += list.list[i]->indexed;
            buf_push_text(&each, i > 0 ? "," : "");
            push_json_text(&each, list.list[i]->name);
            buf_printf(&each, ":{\"uuid\":\"%s\",", list.list[i]->uuid);
            push_numbers(&each, n, bytes, list.list[i]->indexed);
            buf_push_char(&each, '}');
        }
    }
    buf_printf(&a->body, "{\"_shards\":{\"total\":%zu,\"successful\":%zu,\"failed\":0},\"_all\":{",
               list.count, list.count);
    push_numbers(&a->body, all_count, all_bytes, all_indexed);
    buf_push_literal(&a->body, "},\"indices\":{");
    buf_push(&a->body, each.data, each.len);
    buf_push_literal(&a->body, "}}");
    buf_release(&each);
    free(list.list);
    return rc;
}

/* Reports one segment per shard, because devsearch merges nothing. */
static void push_segment(struct buf *out, const struct index *ix, int64_t count, int64_t bytes)
{
    push_json_text(out, ix->name);
    buf_printf(out,
               ":{\"shards\":{\"0\":[{\"routing\":{\"state\":\"STARTED\",\"primary\":true,"
               "\"node\":\"devsearch\"},\"num_committed_segments\":1,\"num_search_segments\":1,"
               "\"segments\":{\"_0\":{\"generation\":0,\"num_docs\":%lld,\"deleted_docs\":0,"
               "\"size_in_bytes\":%lld,\"committed\":true,\"search\":true}}}]}}",
               (long long)count, (long long)bytes);
}

HANDLER(get_segments)
{
    struct indices list;
    int rc = 0;
    if (catalogue_resolve_open(&s->catalogue, q->segments[0], &list, refusal) != 0) {
        return -1;
    }
    buf_printf(&a->body,
               "{\"_shards\":{\"total\":%zu,\"successful\":%zu,\"failed\":0},\"indices\":{",
               list.count, list.count);
    for (size_t i = 0; rc == 0 && i < list.count; i++) {
        int64_t n = 0;
        int64_t bytes = 0;
        rc = index_catch_up(s, list.list[i], refusal);
        rc = rc == 0 ? shelf_size(list.list[i]->shelf, list.list[i]->refresh, &n, &bytes, refusal)
                     : rc;
        buf_push_text(&a->body, i > 0 ? "," : "");
        push_segment(&a->body, list.list[i], n, bytes);
    }
    buf_push_literal(&a->body, "}}");
    free(list.list);
    return rc;
}

static size_t characters(const char *text, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        n += ((unsigned char)text[i] & 0xc0) != 0x80 ? 1 : 0;
    }
    return n;
}

static int refuse_tokens(struct refusal *refusal)
{
    return refuse(refusal, 500, "illegal_state_exception",
                  "The number of tokens produced by calling _analyze has exceeded the allowed "
                  "maximum of [%d]. This limit can be set by changing the "
                  "[index.analyze.max_token_count] index level setting.",
                  TOKENS_MAX);
}

/* Appends the tokens. Offsets are in characters and counted from the previous token. */
static int push_tokens(const char *text, struct buf *out, struct refusal *refusal)
{
    struct words w;
    struct word word;
    size_t position = 0;
    size_t start = 0;
    size_t end = 0; /* end of the previous word, in characters */
    size_t at = 0;  /* the same in bytes */
    words_init(&w, span_make(text, strlen(text)));
    buf_push_literal(out, "{\"tokens\":[");
    while (position <= TOKENS_MAX && words_next(&w, &word)) {
        start = end + characters(text, at, word.start);
        end = start + characters(text, word.start, word.end);
        at = word.end;
        buf_push_text(out, position > 0 ? ",{\"token\":" : "{\"token\":");
        push_json(out, word.text);
        buf_printf(out,
                   ",\"start_offset\":%zu,\"end_offset\":%zu,\"type\":\"%s\",\"position\":%zu}",
                   start, end, word.number ? "<NUM>" : "<ALPHANUM>", position);
        position++;
    }
    buf_push_literal(out, "]}");
    words_release(&w);
    return position <= TOKENS_MAX ? 0 : refuse_tokens(refusal);
}

static int analyze_field(struct server *s, const struct request *q, const char *path,
                         const char *text, struct buf *out, struct refusal *refusal)
{
    struct index *ix =
        q->segment_count == 2 ? catalogue_one(&s->catalogue, q->segments[0], refusal) : NULL;
    if (ix == NULL) {
        return q->segment_count == 2
                   ? -1
                   : refuse(refusal, 400, "illegal_argument_exception",
                            "analysis based on a specific field requires an index");
    }
    const struct field *f = mapping_find(&ix->mapping, path);
    if (f != NULL && f->type->family == FAMILY_KEYWORD) {
        buf_push_literal(out, "{\"tokens\":[{\"token\":");
        push_json_text(out, text);
        buf_printf(out,
                   ",\"start_offset\":0,\"end_offset\":%zu,\"type\":\"word\",\"position\":0}]}",
                   characters(text, 0, strlen(text)));
        return 0;
    }
    return push_tokens(text, out, refusal);
}

HANDLER(analyze)
{
    struct json_object *value;
    struct json_object *text = NULL;
    struct json_object *field = NULL;
    struct json_object *body = request_json(q, refusal);
    int rc = body != NULL ? 0 : -1;
    if (rc == 0 && json_object_object_get_ex(body, "analyzer", &value) &&
        strcmp(tree_text(value), "standard") != 0) {
        rc = refuse(refusal, 400, "illegal_argument_exception",
                    "failed to find global analyzer [%s]", tree_text(value));
    }
    if (rc == 0 && (!json_object_object_get_ex(body, "text", &text) ||
                    !json_object_is_type(text, json_type_string))) {
        rc = refuse_unknown(refusal, "an analysis without one [text]");
    }
    if (rc == 0 && json_object_object_get_ex(body, "field", &field)) {
        rc = analyze_field(s, q, tree_text(field), tree_text(text), &a->body, refusal);
    } else if (rc == 0) {
        rc = push_tokens(tree_text(text), &a->body, refusal);
    }
    json_object_put(body);
    return rc;
}
