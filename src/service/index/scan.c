/* SPDX-License-Identifier: Apache-2.0 */
/* Searches sorted by source_id; parses the hits in one pass over the answer. */
#include "rowferry/service/index/scan.h"

#include <stdlib.h>
#include <string.h>

#include "http/ask.h"
#include "http/service.h"
#include "http/walk.h"
#include "rowferry/document/model/key.h"

#define KEYS_MAX_BYTES ((size_t)8 << 20)
#define KEYS_FIRST 1000 /* initial capacity of a list */
#define REQUEST_MAX_BYTES ((size_t)64 << 10)

void scan_list_init(struct scan_list *k, size_t max_bytes)
{
    *k = (struct scan_list){0};
    buf_init(&k->bytes, max_bytes);
}

void scan_list_release(struct scan_list *k)
{
    buf_release(&k->bytes);
    free(k->ends);
    k->ends = NULL;
    k->count = k->capacity = 0;
}

void scan_list_push(struct scan_list *k, struct span key)
{
    if (k->count == k->capacity) {
        k->capacity = k->capacity > 0 ? k->capacity * 2 : KEYS_FIRST;
        k->ends = mem_grow(k->ends, k->capacity, sizeof(*k->ends));
    }
    buf_push(&k->bytes, key.data, key.len);
    k->ends[k->count++] = k->bytes.len;
}

void scan_list_cut(struct scan_list *k, size_t count)
{
    buf_truncate(&k->bytes, count > 0 ? k->ends[count - 1] : 0);
    k->count = count;
}

struct span scan_list_get(const struct scan_list *k, size_t i)
{
    size_t from = i > 0 ? k->ends[i - 1] : 0;
    return span_make(buf_text(&k->bytes) + from, k->ends[i] - from);
}

void scan_page_init(struct scan_page *page)
{
    *page = (struct scan_page){0};
    scan_list_init(&page->keys, KEYS_MAX_BYTES);
    buf_init(&page->next, WALK_TEXT_BYTES);
}

void scan_page_release(struct scan_page *page)
{
    scan_list_release(&page->keys);
    buf_release(&page->next);
}

void scan_page_reset(struct scan_page *page)
{
    scan_list_cut(&page->keys, 0);
    page->last = false;
}

/* --- the answer ---------------------------------------------------------------------------- */

/* {"timed_out":..,"_shards":{"failed":..},"hits":{"hits":[{"sort":[..]},..]}}: the depth identifies
 * each container. */
enum depth { DEPTH_TOP = 1, DEPTH_INNER, DEPTH_LIST, DEPTH_HIT, DEPTH_SORT };

struct scan_answer {
    struct walk walk;
    struct scan_page *page;
    const struct key_routing *routing;
    char keys[DEPTH_HIT + 1][16]; /* last key of each open object */
    size_t sort_values; /* sort values in the current hit: Elasticsearch may add one of its own */
    size_t seen;        /* number of hits */
    size_t group;       /* with ids: index of the first document with the last source_id */
    struct buf before;  /* the source_id before it */
    bool grouped;       /* a source_id has been seen */
    bool answered;      /* the body is the answer to a search */
    bool partial;
    bool keyless;
    bool strange; /* a key that cannot be one of ours */
    bool foreign; /* an id that is the hash of another key than the source_id */
};

static bool scan_in_hits(const struct scan_answer *h)
{
    return strcmp(h->keys[DEPTH_TOP], "hits") == 0 && strcmp(h->keys[DEPTH_INNER], "hits") == 0;
}

static bool scan_in_sort(const struct scan_answer *h, unsigned depth)
{
    return depth == DEPTH_SORT && scan_in_hits(h) && strcmp(h->keys[DEPTH_HIT], "sort") == 0;
}

static bool scan_on_open(void *context, unsigned depth, bool array)
{
    struct scan_answer *h = context;
    (void)array;
    if (depth == DEPTH_HIT && scan_in_hits(h)) {
        h->seen++;
        h->sort_values = 0;
        h->keys[DEPTH_HIT][0] = '\0';
    }
    return true;
}

static bool scan_on_key(void *context, unsigned depth, struct span text)
{
    struct scan_answer *h = context;
    if (depth <= DEPTH_HIT) {
        size_t n = text.len < sizeof(h->keys[0]) - 1 ? text.len : sizeof(h->keys[0]) - 1;
        memcpy(h->keys[depth], text.data, n);
        h->keys[depth][n] = '\0';
    }
    return true;
}

/* Records the start of a group of hits with another source_id. In a hit, the id precedes the
 * source_id. */
static void scan_note_group(struct scan_answer *h, struct span text)
{
    struct buf *next = &h->page->next;
    if (h->grouped && span_equal(span_make(buf_text(next), next->len), text)) {
        return;
    }
    if (h->grouped) {
        buf_reset(&h->before);
        buf_push(&h->before, buf_text(next), next->len);
    }
    h->group = h->page->keys.count > 0 ? h->page->keys.count - 1 : 0;
    h->grouped = true;
    buf_reset(next);
    buf_push(next, text.data, text.len);
}

/* Replaces the last id by its key, if it is a hash. */
static void scan_take_hashed(struct scan_answer *h, struct span source_id)
{
    char hash[KEY_ID_BYTES];
    struct scan_list *ids = &h->page->keys;
    struct span id = ids->count > 0 ? scan_list_get(ids, ids->count - 1) : span_make("", 0);
    if (!h->routing->hashed || !key_is_hash(id)) {
        return;
    }
    h->foreign = h->foreign || !span_equal(key_id(hash, h->routing, source_id), id);
    scan_list_cut(ids, ids->count - 1);
    scan_list_push(ids, source_id);
}

static bool scan_on_string(void *context, unsigned depth, struct span text)
{
    struct scan_answer *h = context;
    bool sort = scan_in_sort(h, depth) && h->sort_values++ == 0;
    bool id = h->page->ids && depth == DEPTH_HIT && scan_in_hits(h) &&
              strcmp(h->keys[DEPTH_HIT], "_id") == 0;
    if (sort || id) {
        h->strange = h->strange || text.len >= WALK_TEXT_BYTES;
    }
    if (sort && h->page->ids) {
        scan_take_hashed(h, text);
        scan_note_group(h, text);
    } else if (sort || id) {
        if (h->page->keys.count == SCAN_PAGE) {
            return false;
        }
        scan_list_push(&h->page->keys, text);
    }
    return true;
}

static bool scan_on_scalar(void *context, unsigned depth, struct span text)
{
    struct scan_answer *h = context;
    if (scan_in_sort(h, depth) && h->sort_values++ == 0) {
        h->keyless = true;
        if (h->page->ids && h->page->keys.count > 0) {
            scan_list_cut(&h->page->keys, h->page->keys.count - 1);
        }
    } else if (depth == DEPTH_TOP && strcmp(h->keys[DEPTH_TOP], "timed_out") == 0) {
        h->answered = true;
        h->partial = h->partial || span_is(text, "true");
    } else if (depth == DEPTH_INNER && strcmp(h->keys[DEPTH_TOP], "_shards") == 0 &&
               strcmp(h->keys[DEPTH_INNER], "failed") == 0) {
        h->partial = h->partial || !span_is(text, "0");
    }
    return true;
}

/* Drops the last group from the page, because more documents may share its source_id. The next page
 * has them all. */
static void scan_leave_group(struct scan_answer *h)
{
    struct scan_page *page = h->page;
    if (page->ids && !page->last && h->group > 0) {
        scan_list_cut(&page->keys, h->group);
        buf_reset(&page->next);
        buf_push(&page->next, buf_text(&h->before), h->before.len);
    }
}

static int scan_explain(const struct scan_answer *h, const char *index, struct err *err)
{
    if (h->partial) {
        return err_set(err, ERR_TRANSIENT, "could not reach all shards of index \"%s\"", index);
    }
    if (h->strange || h->foreign) {
        return err_set(err, ERR_REJECTED,
                       "index \"%s\" has a document that rowferry cannot have written: its %s",
                       index,
                       h->strange ? "source_id is longer than a key can be"
                                  : "_id is a hash, but not that of its source_id");
    }
    return 0;
}

static int scan_read_hits(const struct http_answer *answer, const char *path, const char *index,
                          const struct key_routing *routing, size_t size, struct scan_page *page,
                          struct err *err)
{
    static const struct walk_events events = {.open = scan_on_open,
                                              .key = scan_on_key,
                                              .string = scan_on_string,
                                              .scalar = scan_on_scalar};
    struct scan_answer h = {.page = page, .routing = routing};
    buf_init(&h.before, WALK_TEXT_BYTES);
    walk_begin(&h.walk, &events, &h);
    h.walk.exact = true;
    bool whole = walk_feed(&h.walk, buf_text(&answer->body), answer->body.len) &&
                 walk_whole(&h.walk) && h.answered && !page->keys.bytes.failed;
    page->last = h.keyless || h.seen < size;
    scan_leave_group(&h);
    buf_release(&h.before);
    if (!whole) {
        return body_unreadable(answer, "POST", path, "it is not the answer to a search", err);
    }
    return scan_explain(&h, index, err);
}

/* --- the request --------------------------------------------------------------------------- */

size_t scan_window(const struct err *refusal)
{
    static const char words[] = "from + size must be less than or equal to: [";
    const char *at = strstr(refusal->detail, words);
    return refusal->http_status == 400 && at != NULL
               ? (size_t)strtoul(at + sizeof(words) - 1, NULL, 10)
               : 0;
}

/* A hit with its id is about twice as long. */
static size_t scan_sure_size(const struct service *s, const struct scan_page *page)
{
    size_t most = key_max_bytes(&s->options.routing) / KEY_MAX_BYTES;
    size_t sure = SCAN_SURE / most / (page->ids ? 2 : 1);
    return page->window > 0 && page->window < sure ? page->window : sure;
}

/* Returns the number of keys of the previous page's average length that fill a page. */
static size_t scan_size_after(const struct service *s, const struct scan_page *page)
{
    size_t bytes = page->keys.count > 0 ? page->keys.bytes.len / page->keys.count + 1 : 0;
    size_t most = page->window > 0 && page->window < SCAN_PAGE ? page->window : SCAN_PAGE;
    size_t sure = scan_sure_size(s, page);
    size_t fit = bytes > 0 ? SCAN_PAGE_BYTES / bytes / (page->ids ? 2 : 1) : sure;
    return fit < sure ? sure : fit > most ? most : fit;
}

/* Without stored fields a hit is only its sort value and is not fetched: twice as fast. */
static int scan_push_request(struct buf *body, struct span after, size_t size, bool ids,
                             struct err *err)
{
    buf_printf(body,
               "{\"size\":%zu,\"track_total_hits\":false,\"_source\":false,%s"
               "\"sort\":[{\"source_id\":\"asc\"}]",
               size, ids ? "" : "\"stored_fields\":\"_none_\",");
    if (after.data != NULL) {
        buf_push_literal(body, ",\"search_after\":[");
        text_json(body, after.data, after.len);
        buf_push_char(body, ']');
    }
    buf_push_char(body, '}');
    return body->failed ? err_set(err, ERR_INTERNAL, "a key of %zu bytes is too long", after.len)
                        : 0;
}

static int scan_some(struct service *s, const char *index, struct span after, size_t size,
                     struct scan_page *page, struct err *err)
{
    struct buf path;
    struct buf body;
    struct http_answer answer = {0};
    buf_init(&body, REQUEST_MAX_BYTES);
    ask_path(&path, index,
             "/_search?allow_partial_search_results=false&"
             "filter_path=timed_out,_shards.failed,hits.hits.sort");
    buf_push_text(&path, page->ids ? ",hits.hits._id" : "");
    int rc = scan_push_request(&body, after, size, page->ids, err);
    scan_page_reset(page); /* `after` may point into it */
    if (rc == 0) {
        rc = http_request(s, "POST", buf_text(&path), span_make(body.data, body.len), &answer, err);
    }
    if (rc == 0) {
        rc = answer.status == 200 ? scan_read_hits(&answer, buf_text(&path), index,
                                                   &s->options.routing, size, page, err)
                                  : http_refuse(&answer, "POST", buf_text(&path), err);
        size_t window = rc < 0 ? scan_window(err) : 0;
        page->window = window > 0 ? window : page->window;
        http_answer_release(&answer);
    }
    buf_release(&path);
    buf_release(&body);
    return rc;
}

/* Longer keys may exceed the limit of an answer, and the index may permit fewer hits. Then repeats
 * with fewer. */
int scan_next(struct service *s, const char *index, struct span after, struct scan_page *page,
              struct err *err)
{
    struct buf last; /* `after` may point into the page */
    size_t size = scan_size_after(s, page);
    buf_init(&last, REQUEST_MAX_BYTES);
    buf_push(&last, after.data, after.data != NULL ? after.len : 0);
    after.data = after.data != NULL ? buf_text(&last) : NULL;
    int rc = scan_some(s, index, after, size, page, err);
    if (rc < 0 && size > scan_sure_size(s, page)) {
        rc = scan_some(s, index, after, scan_sure_size(s, page), page, err);
    }
    buf_release(&last);
    return rc;
}
