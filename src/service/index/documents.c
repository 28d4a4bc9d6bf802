/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches documents by _mget, or by search in a data stream, and parses the answer in place. */
#include "rowferry/service/index/documents.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "http/ask.h"
#include "http/service.h"
#include "index/index_private.h"
#include "rowferry/document/json/json_compare.h"
#include "rowferry/document/model/key.h"

#define REQUEST_MAX_BYTES ((size_t)16 << 20)
#define SEARCH_MOST 10000 /* default maximum of hits in both products */
#define NAMELESS_MOST 1000

void documents_init(struct documents *d)
{
    *d = (struct documents){0};
}

void documents_release(struct documents *d)
{
    http_answer_release(&d->answer);
    free(d->items);
    documents_init(d);
}

static struct document *documents_next_item(struct documents *d)
{
    if (d->count == d->capacity) {
        d->capacity = d->capacity > 0 ? d->capacity * 2 : 256;
        d->items = mem_grow(d->items, d->capacity, sizeof(*d->items));
    }
    d->items[d->count] = (struct document){0};
    return &d->items[d->count++];
}

/* Returns false if the item is an error (unreachable shard, missing index), or no document. */
static bool documents_take_document(struct documents *d, struct span text)
{
    struct span name;
    struct span value;
    struct document *item = documents_next_item(d);
    bool known = false;
    struct json_steps at = json_steps_into(text);
    while (json_steps_member(&at, &name, &value)) {
        if (span_is(name, "error")) {
            return false;
        } else if (span_is(name, "found")) {
            known = true;
            item->found = span_is(value, "true");
        } else if (span_is(name, "_version")) {
            item->version = strtoll(value.data, NULL, 10);
        } else if (span_is(name, "_source")) {
            item->source = value;
        }
    }
    return known;
}

static bool documents_take(struct documents *d, size_t wanted)
{
    struct span name;
    struct span value;
    struct span document;
    const struct buf *body = &d->answer.body;
    struct json_steps top = json_steps_into(span_make(buf_text(body), body->len));
    bool good = true;
    while (good && json_steps_member(&top, &name, &value)) {
        struct json_steps at = json_steps_into(value);
        while (good && span_is(name, "docs") && json_steps_element(&at, &document)) {
            good = d->count < wanted && documents_take_document(d, document);
        }
    }
    return good;
}

static int documents_read(struct documents *d, size_t wanted, const char *path, struct err *err)
{
    return documents_take(d, wanted) && d->count == wanted
               ? 0
               : body_unreadable(&d->answer, "POST", path, "it does not have each document", err);
}

/* Elasticsearch 9.2 and later omits vectors from sources by default. */
static bool documents_vectors_apart(const struct service *s)
{
    return product_is_at_least(&s->product, PRODUCT_ELASTICSEARCH, 9, 2);
}

static const char *documents_source_query(const struct service *s, bool with_source)
{
    return !with_source                 ? "/_mget?_source=false"
           : documents_vectors_apart(s) ? "/_mget?_source_exclude_vectors=false"
                                        : "/_mget";
}

static void documents_push_id(struct buf *out, const struct key_routing *routing, struct span key)
{
    char hash[KEY_ID_BYTES];
    struct span id = key_id(hash, routing, key);
    text_json(out, id.data, id.len);
}

/* {"_id":"eu:42","routing":"eu"} */
static void documents_push_routed(struct buf *out, const struct key_routing *routing,
                                  struct span key)
{
    char text[KEY_LONG_MAX_BYTES];
    size_t len = key_route(text, routing, key.data, key.len);
    buf_push_literal(out, "{\"_id\":");
    documents_push_id(out, routing, key);
    if (len > 0) {
        buf_push_literal(out, ",\"routing\":");
        text_json(out, text, len);
    }
    buf_push_char(out, '}');
}

static void documents_push_wanted(struct buf *out, const struct service *s, const struct span *keys,
                                  size_t count)
{
    const struct key_routing *routing = &s->options.routing;
    buf_push_text(out, routing->count > 0 ? "{\"docs\":[" : "{\"ids\":[");
    for (size_t i = 0; i < count; i++) {
        buf_push_text(out, i > 0 ? "," : "");
        if (routing->count > 0) {
            documents_push_routed(out, routing, keys[i]);
        } else {
            documents_push_id(out, routing, keys[i]);
        }
    }
    buf_push_literal(out, "]}");
}

/* Sends a request with its own limit of the answer's size. */
static int documents_request_large(struct service *s, const char *path, struct span body,
                                   size_t max_bytes, struct http_answer *answer, struct err *err)
{
    struct slot *slot = &s->slots[0];
    slot->answer.body.max_bytes = max_bytes;
    int rc = http_request(s, "POST", path, body, answer, err);
    slot->answer.body.max_bytes = HTTP_BODY_MAX_BYTES;
    return rc < 0 && slot->overflow ? DOCUMENTS_TOO_LARGE : rc;
}

/* --- data streams ---------------------------------------------------------------------------- */

struct asked {
    struct span quoted; /* id as quoted in the request */
    size_t at;          /* position among the keys */
    int64_t number;     /* number of the backing index with the document */
};

static int documents_by_text(const void *a, const void *b)
{
    const struct span *x = &((const struct asked *)a)->quoted;
    const struct span *y = &((const struct asked *)b)->quoted;
    int order = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);
    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

/* Finds the key of an id. Usually ids are returned with the escapes of the request. */
static struct asked *documents_asked_by(struct asked *asked, size_t count, struct span id)
{
    struct asked wanted = {.quoted = id};
    struct asked *found = bsearch(&wanted, asked, count, sizeof(*asked), documents_by_text);
    for (size_t i = 0; found == NULL && memchr(id.data, '\\', id.len) != NULL && i < count; i++) {
        found = json_scalar_same(asked[i].quoted, id) ? &asked[i] : NULL;
    }
    return found;
}

/* If several backing indices have the id, the last backing index wins. */
static void documents_take_hit(struct documents *d, struct asked *asked, struct span text)
{
    struct span name;
    struct span value;
    int64_t number = 0;
    struct document hit = {.found = true};
    struct asked *key = NULL;
    struct json_steps at = json_steps_into(text);
    while (json_steps_member(&at, &name, &value)) {
        if (span_is(name, "_index")) {
            number = stream_number(value);
        } else if (span_is(name, "_id")) {
            key = documents_asked_by(asked, d->count, value);
        } else if (span_is(name, "_version")) {
            hit.version = strtoll(value.data, NULL, 10);
        } else if (span_is(name, "_source")) {
            hit.source = value;
        }
    }
    if (key != NULL && (!d->items[key->at].found || number > key->number)) {
        d->items[key->at] = hit;
        key->number = number;
    }
}

/* {"hits":[..]} */
static void documents_take_hits(struct documents *d, struct asked *asked, struct span hits)
{
    struct span name;
    struct span value;
    struct span hit;
    struct json_steps inner = json_steps_into(hits);
    while (json_steps_member(&inner, &name, &value)) {
        struct json_steps list = json_steps_into(value);
        while (span_is(name, "hits") && json_steps_element(&list, &hit)) {
            documents_take_hit(d, asked, hit);
        }
    }
}

/* Returns false if the body is not the answer to a search. */
static bool documents_take_found(struct documents *d, struct asked *asked)
{
    struct span name;
    struct span value;
    bool good = false;
    const struct buf *body = &d->answer.body;
    struct json_steps top = json_steps_into(span_make(buf_text(body), body->len));
    while (json_steps_member(&top, &name, &value)) {
        good = good || span_is(name, "timed_out");
        if (span_is(name, "hits")) {
            documents_take_hits(d, asked, value);
        }
    }
    return good;
}

/* Writes the search and records the offset of each key in it. Every backing index may have a
 * document with an id. */
static void documents_push_search(struct buf *out, const struct key_routing *routing,
                                  const struct span *keys, size_t count, size_t size,
                                  const char *source, struct asked *asked)
{
    buf_printf(out,
               "{\"size\":%zu,\"track_total_hits\":false,\"version\":true,\"_source\":%s,\"sort\":["
               "\"_doc\"],\"query\":{\"ids\":{\"values\":[",
               size, source);
    for (size_t i = 0; i < count; i++) {
        buf_push_text(out, i > 0 ? "," : "");
        size_t from = out->len;
        documents_push_id(out, routing, keys[i]);
        asked[i] = (struct asked){.quoted = span_make(NULL, out->len - from), .at = from};
    }
    buf_push_literal(out, "]}}}");
    for (size_t i = 0; i < count; i++) { /* the buffer does not move from here on */
        asked[i].quoted.data = out->data + asked[i].at;
        asked[i].at = i;
    }
    qsort(asked, count, sizeof(*asked), documents_by_text);
}

/* A search sees only refreshed documents. Without the privilege to refresh, it sees the state of
 * the last automatic refresh. */
static int documents_search_some(struct service *s, const char *index, const struct span *keys,
                                 size_t count, size_t size, bool with_source, size_t max_bytes,
                                 struct documents *out, struct err *err)
{
    struct buf path;
    struct buf body;
    struct asked *asked = mem_zero(count + 1, sizeof(*asked));
    buf_init(&body, REQUEST_MAX_BYTES);
    ask_path(&path, index,
             "/_search?allow_partial_search_results=false&filter_path=timed_out,hits.hits._index,"
             "hits.hits._id,hits.hits._version,hits.hits._source");
    documents_push_search(&body, &s->options.routing, keys, count, size,
                          !with_source                 ? "false"
                          : documents_vectors_apart(s) ? "{\"exclude_vectors\":false}"
                                                       : "true",
                          asked);
    for (size_t i = 0; i < count; i++) {
        (void)documents_next_item(out);
    }
    int rc = body.failed ? err_set(err, ERR_INTERNAL, "%zu keys are too many to ask for", count)
                         : index_refresh(s, index, err);
    if (rc == 0 || rc == ERR_REJECTED) {
        rc = documents_request_large(s, buf_text(&path), span_make(body.data, body.len), max_bytes,
                                     &out->answer, err);
    }
    if (rc == 0 && out->answer.status != 200) {
        rc = http_refuse(&out->answer, "POST", buf_text(&path), err);
    } else if (rc == 0 && !documents_take_found(out, asked)) {
        rc = body_unreadable(&out->answer, "POST", buf_text(&path),
                             "it is not the answer to a search", err);
    }
    free(asked);
    buf_release(&path);
    buf_release(&body);
    return rc;
}

/* If the index permits fewer hits, asks for fewer. */
static int documents_search(struct service *s, const char *index, const struct span *keys,
                            size_t count, bool with_source, size_t max_bytes, struct documents *out,
                            struct err *err)
{
    int rc =
        documents_search_some(s, index, keys, count, SEARCH_MOST, with_source, max_bytes, out, err);
    size_t window = rc < 0 ? scan_window(err) : 0;
    if (window == 0 || window >= SEARCH_MOST) {
        return rc;
    }
    http_answer_release(&out->answer);
    out->count = 0;
    return window < count ? DOCUMENTS_TOO_LARGE
                          : documents_search_some(s, index, keys, count, window, with_source,
                                                  max_bytes, out, err);
}

/* --- both kinds ------------------------------------------------------------------------------ */

static int documents_get_page(struct service *s, const char *index, const struct span *keys,
                              size_t count, bool with_source, size_t max_bytes,
                              struct documents *out, struct err *err)
{
    struct buf path;
    struct buf body;
    buf_init(&body, REQUEST_MAX_BYTES);
    ask_path(&path, index, documents_source_query(s, with_source));
    documents_push_wanted(&body, s, keys, count);
    int rc = body.failed
                 ? err_set(err, ERR_INTERNAL, "%zu keys are too many to ask for", count)
                 : documents_request_large(s, buf_text(&path), span_make(body.data, body.len),
                                           max_bytes, &out->answer, err);
    if (rc == 0) {
        rc = out->answer.status == 200 ? documents_read(out, count, buf_text(&path), err)
                                       : http_refuse(&out->answer, "POST", buf_text(&path), err);
    }
    buf_release(&path);
    buf_release(&body);
    return rc;
}

int documents_get(struct service *s, const char *index, const struct span *keys, size_t count,
                  bool with_source, size_t max_bytes, struct documents *out, struct err *err)
{
    http_answer_release(&out->answer);
    out->count = 0;
    return s->options.stream
               ? documents_search(s, index, keys, count, with_source, max_bytes, out, err)
               : documents_get_page(s, index, keys, count, with_source, max_bytes, out, err);
}

/* --- the form of sources ---------------------------------------------------------------------- */

/* Returns the member along the keys in the object of the answer's only index. */
static struct json_object *documents_of_index(struct json_object *tree, const char *const *keys)
{
    struct json_members first = json_tree_members(tree);
    return json_tree_next(&first) ? json_tree_at(first.value, keys) : NULL;
}

static bool documents_is_set(struct json_object *tree, const char *const *keys, const char *text)
{
    struct json_object *value = documents_of_index(tree, keys);
    return value != NULL && strcmp(json_object_get_string(value), text) == 0;
}

static int documents_take_form(struct json_object *tree, const char *index, enum source_form *form,
                               struct err *err)
{
    static const char *const enabled[] = {"mappings", "_source", "enabled", NULL};
    static const char *const mode[] = {"mappings", "_source", "mode", NULL};
    static const char *const set_mode[] = {"settings", "index.mapping.source.mode", NULL};
    static const char *const derived[] = {"settings", "index.derived_source.enabled", NULL};
    if (documents_is_set(tree, enabled, "false") || documents_is_set(tree, mode, "disabled") ||
        documents_is_set(tree, set_mode, "disabled")) {
        err_set(err, ERR_REJECTED,
                "index \"%s\" does not store _source, so its documents cannot be compared", index);
        return err_hint(err, "enable it in the mapping: \"_source\": {\"enabled\": true}");
    }
    if (documents_is_set(tree, mode, "synthetic") ||
        documents_is_set(tree, set_mode, "synthetic") || documents_is_set(tree, derived, "true")) {
        *form = SOURCE_DERIVED;
    }
    return 0;
}

int documents_form(struct service *s, const char *index, enum source_form *form, struct err *err)
{
    struct json_object *tree = NULL;
    const struct product_info *p = &s->product;
    *form = product_is_at_least(p, PRODUCT_ELASTICSEARCH, 9, 0) ||
                    product_is_at_least(p, PRODUCT_OPENSEARCH, 3, 0)
                ? SOURCE_VECTORS_APART
                : SOURCE_AS_SENT;
    int rc = ask_of(s, "GET", index, "?flat_settings=true", NO_BODY, BODY_INDEX, &tree, err);
    if (rc == 0) {
        rc = documents_take_form(tree, index, form, err);
    }
    json_object_put(tree);
    return rc;
}

/* --- documents without a source_id ----------------------------------------------------------- */

static int documents_take_nameless(struct json_object *tree, const struct key_routing *routing,
                                   struct scan_page *page, struct err *err)
{
    static const char *const keys[] = {"hits", "hits", NULL};
    struct json_object *hits;
    int rc = body_list(tree, keys, &hits, err);
    for (size_t i = 0; i < json_tree_length(hits) && i < SCAN_PAGE; i++) {
        const char *id = json_tree_text(json_tree_item(hits, i), "_id");
        struct span key = span_make(id, strlen(id));
        if (routing->hashed && key_is_hash(key)) {
            return err_set(
                err, ERR_REJECTED,
                "document \"%s\" cannot be one of rowferry: its _id is a hash, but it has "
                "no source_id",
                id);
        }
        scan_list_push(&page->keys, key);
    }
    page->last = true;
    return rc;
}

static int documents_search_nameless(struct service *s, const char *index, size_t size,
                                     struct json_object **tree, struct err *err)
{
    char body[160];
    int len = snprintf(body, sizeof(body),
                       "{\"size\":%zu,\"_source\":false,\"query\":{\"bool\":{\"must_not\":"
                       "{\"exists\":{\"field\":\"source_id\"}}}}}",
                       size);
    return ask_of(s, "POST", index, "/_search?filter_path=timed_out,hits.hits._id",
                  span_make(body, (size_t)len), BODY_IDS, tree, err);
}

int documents_nameless(struct service *s, const char *index, struct scan_page *page,
                       struct err *err)
{
    struct json_object *tree = NULL;
    int rc = documents_search_nameless(s, index, NAMELESS_MOST, &tree, err);
    size_t window = rc < 0 ? scan_window(err) : 0;
    if (window > 0 && window < NAMELESS_MOST) {
        rc = documents_search_nameless(s, index, window, &tree, err);
    }
    scan_page_reset(page);
    if (rc == 0) {
        rc = documents_take_nameless(tree, &s->options.routing, page, err);
    }
    json_object_put(tree);
    return rc;
}
