/* SPDX-License-Identifier: Apache-2.0 */
/* Searches sorted by source_id, their hits read in one walk over the answer. */
#include "rowferry/service/scan.h"

#include <stdlib.h>
#include <string.h>

#include "walk.h"

#define KEYS_MAX_BYTES ((size_t)8 << 20)
#define REQUEST_MAX_BYTES ((size_t)16 << 10)
#define PATH_MAX_BYTES 1024

void scan_page_init(struct scan_page *page)
{
    *page = (struct scan_page){0};
    buf_init(&page->bytes, KEYS_MAX_BYTES);
}

void scan_page_release(struct scan_page *page)
{
    buf_release(&page->bytes);
    free(page->ends);
    page->ends = NULL;
    page->count = 0;
}

void scan_page_reset(struct scan_page *page)
{
    buf_reset(&page->bytes);
    page->count = 0;
    page->last = false;
}

void scan_page_push(struct scan_page *page, struct span key)
{
    if (page->ends == NULL) {
        page->ends = mem_zero(SCAN_PAGE, sizeof(*page->ends));
    }
    buf_push(&page->bytes, key.data, key.len);
    page->ends[page->count++] = page->bytes.len;
}

struct span scan_page_key(const struct scan_page *page, size_t i)
{
    size_t from = i > 0 ? page->ends[i - 1] : 0;
    return span_make(buf_text(&page->bytes) + from, page->ends[i] - from);
}

/* --- the answer ---------------------------------------------------------------------------- */

/* {"timed_out":..,"_shards":{"failed":..},"hits":{"hits":[{"sort":[..]},..]}}: the depths of its
 * containers say what is what. */
enum depth { DEPTH_TOP = 1, DEPTH_INNER, DEPTH_LIST, DEPTH_HIT, DEPTH_SORT };

struct hits {
    struct walk walk;
    struct scan_page *page;
    char keys[DEPTH_HIT + 1][16]; /* the last key of each open object */
    size_t sort_values;           /* of the hit so far: Elasticsearch may add one of its own */
    size_t seen;                  /* hits */
    bool answered;                /* it is the answer of a search */
    bool partial;
    bool keyless;
    bool strange; /* a key that cannot be one of ours */
};

static bool in_hits(const struct hits *h)
{
    return strcmp(h->keys[DEPTH_TOP], "hits") == 0 && strcmp(h->keys[DEPTH_INNER], "hits") == 0;
}

static bool in_sort(const struct hits *h, unsigned depth)
{
    return depth == DEPTH_SORT && in_hits(h) && strcmp(h->keys[DEPTH_HIT], "sort") == 0;
}

static bool on_open(void *context, unsigned depth, bool array)
{
    struct hits *h = context;
    (void)array;
    if (depth == DEPTH_HIT && in_hits(h)) {
        h->seen++;
        h->sort_values = 0;
        h->keys[DEPTH_HIT][0] = '\0';
    }
    return true;
}

static bool on_close(void *context, unsigned depth)
{
    (void)context;
    (void)depth;
    return true;
}

static bool on_key(void *context, unsigned depth, struct span text)
{
    struct hits *h = context;
    if (depth <= DEPTH_HIT) {
        size_t n = text.len < sizeof(h->keys[0]) - 1 ? text.len : sizeof(h->keys[0]) - 1;
        memcpy(h->keys[depth], text.data, n);
        h->keys[depth][n] = '\0';
    }
    return true;
}

static bool on_string(void *context, unsigned depth, struct span text)
{
    struct hits *h = context;
    if (in_sort(h, depth) && h->sort_values++ == 0) {
        h->strange = h->strange || text.len >= WALK_TEXT_BYTES;
        if (h->page->count == SCAN_PAGE) {
            return false;
        }
        scan_page_push(h->page, text);
    }
    return true;
}

static bool on_scalar(void *context, unsigned depth, struct span text)
{
    struct hits *h = context;
    if (in_sort(h, depth) && h->sort_values++ == 0) {
        h->keyless = true;
    } else if (depth == DEPTH_TOP && strcmp(h->keys[DEPTH_TOP], "timed_out") == 0) {
        h->answered = true;
        h->partial = h->partial || span_is(text, "true");
    } else if (depth == DEPTH_INNER && strcmp(h->keys[DEPTH_TOP], "_shards") == 0 &&
               strcmp(h->keys[DEPTH_INNER], "failed") == 0) {
        h->partial = h->partial || !span_is(text, "0");
    }
    return true;
}

static int read_hits(const struct http_answer *answer, const char *index, size_t size,
                     struct scan_page *page, struct err *err)
{
    static const struct walk_events events = {.open = on_open,
                                              .close = on_close,
                                              .key = on_key,
                                              .string = on_string,
                                              .scalar = on_scalar};
    struct hits h = {.page = page};
    walk_begin(&h.walk, &events, &h);
    h.walk.exact = true;
    if (!walk_feed(&h.walk, buf_text(&answer->body), answer->body.len) || !walk_whole(&h.walk) ||
        !h.answered || page->bytes.failed) {
        return err_set(err, ERR_TRANSIENT, "could not read a page of index \"%s\"", index);
    }
    if (h.partial) {
        return err_set(err, ERR_TRANSIENT, "could not reach all shards of index \"%s\"", index);
    }
    if (h.strange) {
        return err_set(err, ERR_REJECTED,
                       "index \"%s\" holds a document that rowferry cannot have written: its "
                       "source_id is longer than a key can be",
                       index);
    }
    page->last = h.keyless || h.seen < size;
    return 0;
}

/* --- the request --------------------------------------------------------------------------- */

/* So many that their keys fill a page's bytes, were they as long as those of the page before. */
static size_t size_after(const struct scan_page *page)
{
    size_t bytes = page->count > 0 ? page->bytes.len / page->count + 1 : 0;
    size_t fit = bytes > 0 ? SCAN_PAGE_BYTES / bytes : SCAN_SURE;
    return fit < SCAN_SURE ? SCAN_SURE : fit > SCAN_PAGE ? SCAN_PAGE : fit;
}

/* Without stored fields a hit is its sort value and nothing has to be fetched: twice as fast. */
static int push_request(struct buf *body, struct span after, size_t size, struct err *err)
{
    buf_printf(
        body,
        "{\"size\":%zu,\"track_total_hits\":false,\"_source\":false,\"stored_fields\":\"_none_\","
        "\"sort\":[{\"source_id\":\"asc\"}]",
        size);
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
    buf_init(&path, PATH_MAX_BYTES);
    buf_init(&body, REQUEST_MAX_BYTES);
    buf_push_char(&path, '/');
    http_push_segment(&path, index, strlen(index));
    buf_push_literal(&path, "/_search?allow_partial_search_results=false&"
                            "filter_path=timed_out,_shards.failed,hits.hits.sort");
    int rc = push_request(&body, after, size, err);
    scan_page_reset(page); /* `after` may have been in it */
    if (rc == 0) {
        rc = http_request(s, "POST", buf_text(&path), span_make(body.data, body.len), &answer, err);
    }
    if (rc == 0) {
        rc = answer.status == 200 ? read_hits(&answer, index, size, page, err)
                                  : http_refuse(&answer, "POST", buf_text(&path), err);
        http_answer_release(&answer);
    }
    buf_release(&path);
    buf_release(&body);
    return rc;
}

/* Keys that are longer all at once may be too much: fewer are not. */
int scan_next(struct service *s, const char *index, struct span after, struct scan_page *page,
              struct err *err)
{
    struct buf last; /* `after` may be in the page */
    size_t size = size_after(page);
    buf_init(&last, REQUEST_MAX_BYTES);
    buf_push(&last, after.data, after.data != NULL ? after.len : 0);
    after.data = after.data != NULL ? buf_text(&last) : NULL;
    int rc = scan_some(s, index, after, size, page, err);
    if (rc < 0 && size > SCAN_SURE) {
        rc = scan_some(s, index, after, SCAN_SURE, page, err);
    }
    buf_release(&last);
    return rc;
}
