/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a search request from query parameters and body. */
#include "base/limits.h"
#include "base/tree.h"
#include "search/search.h"

#include <stdlib.h>

static int add_sort(struct asked *w, const char *name, bool descending, struct refusal *refusal)
{
    if (w->sort_count == SORT_KEYS_MAX) {
        return refuse_unknown(refusal, "more than %d sort keys", SORT_KEYS_MAX);
    }
    struct sort_key key = {.by = strcmp(name, "_id") == 0 ? SORT_ID
                                 : strcmp(name, "_doc") == 0 || strcmp(name, "_shard_doc") == 0
                                     ? SORT_DOC
                                 : strcmp(name, "_score") == 0 ? SORT_SCORE
                                                               : SORT_FIELD,
                           .path = text_copy(name),
                           .descending = descending};
    w->sort = mem_grow(w->sort, w->sort_count + 1, sizeof(key));
    w->sort[w->sort_count++] = key;
    return 0;
}

static int read_sort_entry(struct asked *w, struct json_object *entry, struct refusal *refusal)
{
    if (json_object_is_type(entry, json_type_string)) {
        const char *name = tree_text(entry);
        return add_sort(w, name, strcmp(name, "_score") == 0, refusal);
    }
    tree_foreach(entry, name, how)
    {
        struct json_object *order = how;
        if (json_object_is_type(how, json_type_object)) {
            tree_foreach(how, option, ignored)
            {
                (void)ignored;
                if (strcmp(option, "order") != 0 && strcmp(option, "unmapped_type") != 0) {
                    return refuse_unknown(refusal, "[%s] of a sort", option);
                }
            }
            order = NULL;
            json_object_object_get_ex(how, "order", &order);
        }
        const char *text = order != NULL                 ? tree_text(order)
                           : strcmp(name, "_score") == 0 ? "desc"
                                                         : "asc";
        if (add_sort(w, name, strcmp(text, "desc") == 0, refusal) != 0) {
            return -1;
        }
    }
    return 0;
}

static int read_sort(struct asked *w, struct json_object *sort, struct refusal *refusal)
{
    if (!json_object_is_type(sort, json_type_array)) {
        return read_sort_entry(w, sort, refusal);
    }
    for (size_t i = 0; i < tree_length(sort); i++) {
        if (read_sort_entry(w, tree_item(sort, i), refusal) != 0) {
            return -1;
        }
    }
    return 0;
}

static int read_source(struct asked *w, struct json_object *value, struct refusal *refusal)
{
    struct json_object *names = value;
    if (json_object_is_type(value, json_type_boolean)) {
        w->source = json_object_get_boolean(value);
        return 0;
    }
    if (json_object_is_type(value, json_type_object) &&
        (tree_count(value) != 1 || !json_object_object_get_ex(value, "includes", &names))) {
        return refuse_unknown(refusal, "this form of [_source], only a list and [includes]");
    }
    w->source_names = names;
    return tree_length(names) <= SOURCE_NAMES_MAX
               ? 0
               : refuse_unknown(refusal, "more than %d names in [_source]", SOURCE_NAMES_MAX);
}

static void read_track(struct asked *w, struct json_object *value)
{
    if (json_object_is_type(value, json_type_boolean)) {
        w->track = json_object_get_boolean(value) ? INT64_MAX : 0;
    } else {
        w->track = json_object_get_int64(value);
    }
}

static int read_member(struct asked *w, const char *key, struct json_object *value,
                       struct refusal *refusal)
{
    struct json_object *id;
    if (strcmp(key, "from") == 0) {
        w->from = json_object_get_int64(value);
    } else if (strcmp(key, "size") == 0) {
        w->size = json_object_get_int64(value);
    } else if (strcmp(key, "track_total_hits") == 0) {
        read_track(w, value);
    } else if (strcmp(key, "version") == 0) {
        w->version = json_object_get_boolean(value);
    } else if (strcmp(key, "seq_no_primary_term") == 0) {
        w->seq_no = json_object_get_boolean(value);
    } else if (strcmp(key, "_source") == 0) {
        return read_source(w, value, refusal);
    } else if (strcmp(key, "stored_fields") == 0 && json_object_is_type(value, json_type_string) &&
               strcmp(tree_text(value), "_none_") == 0) {
        w->nameless = true;
    } else if (strcmp(key, "sort") == 0) {
        return read_sort(w, value, refusal);
    } else if (strcmp(key, "search_after") == 0) {
        w->search_after = value;
    } else if (strcmp(key, "pit") == 0 && json_object_object_get_ex(value, "id", &id)) {
        w->pit = tree_text(id);
    } else if (strcmp(key, "knn") == 0) {
        w->neighbours = value;
    } else if (strcmp(key, "query") != 0 && strcmp(key, "track_scores") != 0 &&
               strcmp(key, "timeout") != 0) {
        return refuse_unknown(refusal, "[%s] in a search body", key);
    }
    return 0;
}

int asked_check_window(const struct asked *w, const char *window, struct refusal *refusal)
{
    long long most = window != NULL ? strtoll(window, NULL, 10) : 10000;
    if (w->from + w->size > most) {
        refuse(
            refusal, 400, "illegal_argument_exception",
            "Result window is too large, from + size must be less than or equal to: [%lld] but "
            "was [%lld]. See the scroll api for a more efficient way to request large data sets. "
            "This limit can be set by changing the [index.max_result_window] index level setting.",
            most, (long long)w->from + (long long)w->size);
        return refuse_shards(refusal, "");
    }
    return 0;
}

static int check_window(const struct asked *w, struct refusal *refusal)
{
    if (w->from < 0 || w->size < 0) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "[from] and [size] parameters cannot be negative");
    }
    if (w->pit != NULL && asked_check_window(w, NULL, refusal) != 0) {
        return -1;
    }
    size_t given = w->search_after != NULL ? tree_length(w->search_after) : 0;
    if (w->search_after != NULL && (given == 0 || given > w->sort_count)) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "search_after has %zu value(s) but sort has %zu.", given, w->sort_count);
    }
    return 0;
}

static int read_parameters(struct asked *w, const struct request *q, struct refusal *refusal)
{
    const char *size = request_parameter(q, "size");
    const char *from = request_parameter(q, "from");
    const char *source = request_parameter(q, "_source");
    const char *track = request_parameter(q, "track_total_hits");
    w->query_text = request_parameter(q, "q");
    w->size = size != NULL ? strtoll(size, NULL, 10) : w->size;
    w->from = from != NULL ? strtoll(from, NULL, 10) : w->from;
    w->version = w->version || request_flag(q, "version");
    if (track != NULL) {
        w->track = strcmp(track, "true") == 0 ? INT64_MAX : strtoll(track, NULL, 10);
    }
    if (source != NULL && strcmp(source, "true") != 0 && strcmp(source, "false") != 0) {
        return refuse_unknown(refusal, "a list of fields in the parameter [_source]");
    }
    w->source = source == NULL || source[0] == 't';
    return 0;
}

/* There is no way to make a search pipeline, so only the one that means none is known. */
static int check_pipeline(const struct server *s, const struct request *q, struct refusal *refusal)
{
    const char *name = request_parameter(q, "search_pipeline");
    if (name == NULL || (s->options->product == OPENSEARCH && strcmp(name, "_none") == 0)) {
        return 0;
    }
    return s->options->product == OPENSEARCH
               ? refuse(refusal, 400, "illegal_argument_exception", "Pipeline %s is not defined",
                        name)
               : refuse(refusal, 400, "illegal_argument_exception",
                        "request [%s] contains unrecognized parameter: [search_pipeline]", q->path);
}

int asked_read(struct asked *w, const struct server *s, const struct request *q,
               struct refusal *refusal)
{
    *w = (struct asked){.size = 10, .track = 10000, .source = true};
    if (read_parameters(w, q, refusal) != 0 || check_pipeline(s, q, refusal) != 0) {
        return -1;
    }
    if (q->body.len > 0) {
        w->body = request_json(q, refusal);
        if (w->body == NULL) {
            return -1;
        }
        tree_foreach(w->body, key, value)
        {
            if (read_member(w, key, value, refusal) != 0) {
                return -1;
            }
        }
    }
    for (size_t i = 0; i < w->sort_count; i++) {
        if (w->sort[i].by == SORT_ID && s->options->product == ELASTICSEARCH) {
            refuse(
                refusal, 400, "illegal_argument_exception",
                "Fielddata access on the _id field is disallowed, you can re-enable it by updating "
                "the dynamic cluster setting: indices.id_field_data.enabled");
            return refuse_shards(refusal, "");
        }
        if (strcmp(w->sort[i].path, "_shard_doc") == 0 && s->options->product == OPENSEARCH) {
            refuse(refusal, 400, "query_shard_exception",
                   "No mapping found for [_shard_doc] in order to sort on");
            return refuse_shards(refusal, "");
        }
    }
    if (w->pit != NULL && s->options->product == ELASTICSEARCH && w->sort_count > 0 &&
        add_sort(w, "_shard_doc", false, refusal) != 0) {
        return -1;
    }
    return check_window(w, refusal);
}

void asked_release(struct asked *w)
{
    for (size_t i = 0; i < w->sort_count; i++) {
        free(w->sort[i].path);
    }
    free(w->sort);
    json_object_put(w->body);
    *w = (struct asked){0};
}
