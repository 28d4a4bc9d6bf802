/* SPDX-License-Identifier: Apache-2.0 */
/* Data streams: backing indices, refused requests, endpoints. */
#include "api/streams.h"
#include "base/glob.h"
#include "base/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BACKING_BYTES 512

bool index_is_of(const struct index *ix, const char *stream)
{
    return ix->stream != NULL && strcmp(ix->stream, stream) == 0;
}

static int64_t number_of(const struct index *ix)
{
    return strtoll(strrchr(ix->name, '-') + 1, NULL, 10);
}

struct index *stream_newest(const struct catalogue *c, const char *name)
{
    struct index *newest = NULL;
    for (size_t i = 0; i < c->count; i++) {
        if (index_is_of(c->list[i], name) &&
            (newest == NULL || number_of(c->list[i]) > number_of(newest))) {
            newest = c->list[i];
        }
    }
    return newest;
}

/* --- templates -------------------------------------------------------------------------------- */

static int64_t priority_of(const struct template *t)
{
    return json_object_get_int64(json_object_object_get(t->json, "priority"));
}

static bool fits(const struct template *t, const char *name)
{
    struct json_object *patterns = json_object_object_get(t->json, "index_patterns");
    for (size_t i = 0; i < tree_length(patterns); i++) {
        const char *pattern = tree_text(tree_item(patterns, i));
        if (glob_matches_text(pattern, name)) {
            return true;
        }
    }
    return false;
}

static const struct template *template_of(const struct catalogue *c, const char *name)
{
    const struct template *found = NULL;
    for (size_t i = 0; i < c->template_count; i++) {
        const struct template *t = &c->templates[i];
        if (fits(t, name) && (found == NULL || priority_of(t) > priority_of(found))) {
            found = t;
        }
    }
    return found;
}

const struct template *stream_template(const struct catalogue *c, const char *name)
{
    const struct template *found = template_of(c, name);
    return found != NULL && json_object_object_get_ex(found->json, "data_stream", NULL) ? found
                                                                                        : NULL;
}

struct json_object *template_aliases(const struct catalogue *c, const char *name)
{
    const struct template *t = template_of(c, name);
    struct json_object *shown = t != NULL ? json_object_object_get(t->json, "template") : NULL;
    return json_object_object_get(shown, "aliases");
}

static struct template *find_template(const struct catalogue *c, const char *name)
{
    for (size_t i = 0; i < c->template_count; i++) {
        if (strcmp(c->templates[i].name, name) == 0) {
            return &c->templates[i];
        }
    }
    return NULL;
}

static int check_template(struct json_object *body, struct refusal *refusal)
{
    tree_foreach(body, key, value)
    {
        static const char *const known[] = {"index_patterns", "priority", "data_stream",
                                            "template",       "version",  "_meta"};
        bool good = false;
        (void)value;
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
            good = good || strcmp(key, known[i]) == 0;
        }
        if (!good) {
            return refuse_unknown(refusal, "[%s] of an index template", key);
        }
    }
    struct json_object *patterns = json_object_object_get(body, "index_patterns");
    return json_object_is_type(patterns, json_type_array)
               ? 0
               : refuse_unknown(refusal, "an index template without a list [index_patterns]");
}

HANDLER(put_template)
{
    struct catalogue *c = &s->catalogue;
    struct json_object *body = request_json(q, refusal);
    if (body == NULL || check_template(body, refusal) != 0) {
        json_object_put(body);
        return -1;
    }
    struct template *t = find_template(c, q->segments[1]);
    if (t == NULL) {
        c->templates = mem_grow(c->templates, c->template_count + 1, sizeof(*c->templates));
        t = &c->templates[c->template_count++];
        *t = (struct template){.name = text_copy(q->segments[1])};
    }
    json_object_put(t->json);
    t->json = body;
    buf_push_literal(&a->body, "{\"acknowledged\":true}");
    return 0;
}

HANDLER(get_template)
{
    const char *name = q->segment_count == 2 ? q->segments[1] : NULL;
    size_t shown = 0;
    buf_push_literal(&a->body, "{\"index_templates\":[");
    for (size_t i = 0; i < s->catalogue.template_count; i++) {
        const struct template *t = &s->catalogue.templates[i];
        if (name == NULL || strcmp(t->name, name) == 0) {
            buf_push_text(&a->body, shown++ > 0 ? ",{\"name\":" : "{\"name\":");
            push_json_text(&a->body, t->name);
            buf_printf(&a->body, ",\"index_template\":%s}",
                       json_object_to_json_string_ext(t->json, JSON_C_TO_STRING_NOSLASHESCAPE));
        }
    }
    buf_push_literal(&a->body, "]}");
    return name == NULL || shown > 0 ? 0
                                     : refuse(refusal, 404, "resource_not_found_exception",
                                              "index template matching [%s] not found", name);
}

HANDLER(simulate_template)
{
    (void)refusal;
    const struct template *t = stream_template(&s->catalogue, q->segments[2]);
    struct json_object *shown = NULL;
    if (t == NULL) {
        buf_push_literal(&a->body, "{}");
        return 0;
    }
    buf_push_literal(&a->body, "{\"template\":");
    bool said = json_object_object_get_ex(t->json, "template", &shown);
    buf_push_text(&a->body,
                  said ? json_object_to_json_string_ext(shown, JSON_C_TO_STRING_NOSLASHESCAPE)
                       : "{}");
    buf_push_literal(&a->body, ",\"overlapping\":[]}");
    return 0;
}

/* Returns a stream that only this template supports, or null. */
static const char *user_of(const struct catalogue *c, const struct template *t)
{
    for (size_t i = 0; i < c->count; i++) {
        const char *stream = c->list[i]->stream;
        if (stream != NULL && stream_template(c, stream) == t) {
            return stream;
        }
    }
    return NULL;
}

HANDLER(delete_template)
{
    struct catalogue *c = &s->catalogue;
    struct template *t = find_template(c, q->segments[1]);
    const char *user = t != NULL ? user_of(c, t) : NULL;
    if (t == NULL) {
        return refuse(refusal, 404, "index_template_missing_exception",
                      "index_template [%s] missing", q->segments[1]);
    }
    if (user != NULL) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "unable to remove composable templates [%s] as they are in use by a data "
                      "streams [%s]",
                      t->name, user);
    }
    free(t->name);
    json_object_put(t->json);
    *t = c->templates[--c->template_count];
    buf_push_literal(&a->body, "{\"acknowledged\":true}");
    return 0;
}

/* --- backing indices -------------------------------------------------------------------------- */

static void backing_name(const struct catalogue *c, const char *stream, int64_t number,
                         char out[BACKING_BYTES])
{
    char day[32] = "";
    if (c->product == ELASTICSEARCH) {
        struct tm at;
        time_t now = (time_t)(clock_wall_us(&c->clock) / 1000000);
        gmtime_r(&now, &at);
        strftime(day, sizeof(day), "%Y.%m.%d-", &at);
    }
    snprintf(out, BACKING_BYTES, ".ds-%s-%s%06lld", stream, day, (long long)number);
}

static struct index *add_backing(struct catalogue *c, const char *stream, int64_t number,
                                 struct refusal *refusal)
{
    char name[BACKING_BYTES];
    const struct template *t = stream_template(c, stream);
    if (t == NULL) {
        refuse(refusal, 400, "illegal_argument_exception",
               "no matching index template found for data stream [%s]", stream);
        return NULL;
    }
    backing_name(c, stream, number, name);
    struct index *ix =
        catalogue_create(c, name, json_object_object_get(t->json, "template"), refusal);
    if (ix == NULL) {
        return NULL;
    }
    ix->stream = text_copy(stream);
    settings_put(&ix->settings, "index.hidden", "true");
    return catalogue_save(c, ix, refusal) == 0 ? ix : NULL;
}

struct index *stream_begin(struct catalogue *c, const char *name, struct refusal *refusal)
{
    return add_backing(c, name, 1, refusal);
}

/* --- checks ---------------------------------------------------------------------------------- */

int stream_check_write(const struct server *s, const struct index *ix, const struct write *w,
                       struct refusal *refusal)
{
    if (ix->stream == NULL) {
        return 0;
    }
    if (strcmp(w->index, ix->stream) != 0) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "index request with op_type=%s targeting backing indices is disallowed, "
                      "target corresponding data stream [%s] instead",
                      write_name(w->kind), ix->stream);
    }
    if (w->kind != WRITE_CREATE) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "only write ops with an op_type of create are allowed in data streams");
    }
    if (w->routed) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      s->options->product == OPENSEARCH
                          ? "index request targeting data stream [%s] specifies a custom routing. "
                            "target the backing indices directly or remove the custom routing."
                          : "index request targeting data stream [%s] specifies a custom routing "
                            "but the [allow_custom_routing] setting was not enabled in the data "
                            "stream's template.",
                      ix->stream);
    }
    return 0;
}

int stream_check_time(const struct server *s, const struct index *ix, const struct write *w,
                      struct refusal *refusal)
{
    struct json_object *at = NULL;
    bool opensearch = s->options->product == OPENSEARCH;
    if (ix->stream == NULL) {
        return 0;
    }
    char *text = text_copy_span(w->source);
    struct json_object *source = json_tokener_parse(text);
    bool good = json_object_object_get_ex(source, "@timestamp", &at) && at != NULL;
    json_object_put(source);
    free(text);
    if (good) {
        return 0;
    }
    refuse(refusal, 400, "illegal_argument_exception",
           opensearch ? "documents must contain a single-valued timestamp field '@timestamp' of "
                        "date type"
                      : "data stream timestamp field [@timestamp] is missing");
    struct refusal outer;
    refusal_init(&outer);
    refuse(&outer, 400, opensearch ? "mapper_parsing_exception" : "document_parsing_exception",
           opensearch ? "failed to parse"
                      : "[1:1] failed to parse: data stream timestamp field [@timestamp] is "
                        "missing");
    refusal_render(refusal, &outer.cause, false);
    refusal_release(refusal);
    *refusal = outer;
    return -1;
}

int stream_check_index(const struct catalogue *c, const char *name, struct refusal *refusal)
{
    const struct template *t = stream_template(c, name);
    if (t == NULL) {
        return 0;
    }
    return refuse(refusal, 400, "illegal_argument_exception",
                  "cannot create index with name [%s], because it matches with template [%s] that "
                  "creates data streams only, use create data stream api instead",
                  name, t->name);
}

int stream_check_delete(const struct catalogue *c, const struct index *ix, struct refusal *refusal)
{
    if (ix->stream == NULL || stream_newest(c, ix->stream) != ix) {
        return 0;
    }
    return refuse(refusal, 400, "illegal_argument_exception",
                  "index [%s] is the write index for data stream [%s] and cannot be deleted",
                  ix->name, ix->stream);
}

/* --- endpoints -------------------------------------------------------------------------------- */

HANDLER(put_stream)
{
    const char *name = q->segments[1];
    if (stream_newest(&s->catalogue, name) != NULL) {
        return refuse(refusal, 400, "resource_already_exists_exception",
                      "data_stream [%s] already exists", name);
    }
    if (name_check(name, false, refusal) != 0 ||
        stream_begin(&s->catalogue, name, refusal) == NULL) {
        return -1;
    }
    buf_push_literal(&a->body, "{\"acknowledged\":true}");
    return 0;
}

static void push_stream(const struct catalogue *c, const char *name, struct buf *out)
{
    size_t shown = 0;
    const struct template *t = stream_template(c, name);
    buf_push_literal(out, "{\"name\":");
    push_json_text(out, name);
    buf_push_literal(out, ",\"timestamp_field\":{\"name\":\"@timestamp\"},\"indices\":[");
    for (size_t i = 0; i < c->count; i++) {
        if (index_is_of(c->list[i], name)) {
            buf_printf(out, "%s{\"index_name\":\"%s\",\"index_uuid\":\"%s\"}",
                       shown++ > 0 ? "," : "", c->list[i]->name, c->list[i]->uuid);
        }
    }
    buf_printf(out, "],\"generation\":%lld,\"status\":\"%s\",\"template\":",
               (long long)number_of(stream_newest(c, name)),
               c->product == OPENSEARCH ? "GREEN" : "YELLOW");
    push_json_text(out, t != NULL ? t->name : "");
    buf_push_char(out, '}');
}

HANDLER(get_stream)
{
    const struct catalogue *c = &s->catalogue;
    const char *name = q->segment_count == 2 ? q->segments[1] : NULL;
    size_t shown = 0;
    buf_push_literal(&a->body, "{\"data_streams\":[");
    for (size_t i = 0; i < c->count; i++) {
        const char *stream = c->list[i]->stream;
        if (stream != NULL && stream_newest(c, stream) == c->list[i] &&
            (name == NULL || strcmp(name, stream) == 0)) {
            buf_push_text(&a->body, shown++ > 0 ? "," : "");
            push_stream(c, stream, &a->body);
        }
    }
    buf_push_literal(&a->body, "]}");
    return name == NULL || shown > 0 ? 0 : refuse_no_index(refusal, name, "index_or_alias");
}

HANDLER(delete_stream)
{
    struct catalogue *c = &s->catalogue;
    const char *name = q->segments[1];
    struct index *ix = stream_newest(c, name);
    int rc = 0;
    if (ix == NULL) {
        return refuse_no_index(refusal, name, "index_or_alias");
    }
    for (; rc == 0 && ix != NULL; ix = stream_newest(c, name)) {
        rc = catalogue_delete(c, ix, refusal);
    }
    buf_push_literal(&a->body, "{\"acknowledged\":true}");
    return rc;
}

HANDLER(rollover)
{
    struct index *old = stream_newest(&s->catalogue, q->segments[0]);
    if (old == NULL) {
        return refuse_unknown(refusal, "the rollover of what is no data stream");
    }
    char *from = text_copy(old->name);
    struct index *to = add_backing(&s->catalogue, q->segments[0], number_of(old) + 1, refusal);
    if (to != NULL) {
        buf_printf(&a->body,
                   "{\"acknowledged\":true,\"shards_acknowledged\":true,\"old_index\":\"%s\","
                   "\"new_index\":\"%s\",\"rolled_over\":true,\"dry_run\":false,\"conditions\":{}}",
                   from, to->name);
    }
    free(from);
    return to != NULL ? 0 : -1;
}
