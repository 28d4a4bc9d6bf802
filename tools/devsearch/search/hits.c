/* SPDX-License-Identifier: Apache-2.0 */
/* Formats the hits of a search. */
#include "base/glob.h"
#include "base/reader.h"
#include "base/tree.h"
#include "search/search.h"

#include <stdlib.h>

static bool name_wanted(struct json_object *names, struct span key)
{
    if (json_object_is_type(names, json_type_string)) {
        return glob_matches(tree_span(names), key);
    }
    bool wanted = false;
    for (size_t i = 0; !wanted && i < tree_length(names); i++) {
        wanted = glob_matches(tree_span(tree_item(names, i)), key);
    }
    return wanted;
}

/* Appends the requested top-level members of the source, unchanged. */
static void push_some_source(struct json_object *names, struct span source, struct buf *out)
{
    struct reader r;
    struct members mark = {0};
    struct span key;
    struct span raw;
    size_t pushed = 0;
    reader_init(&r, source);
    r.checked = true;
    reader_peek(&r);
    reader_enter(&r);
    buf_push_char(out, '{');
    while (reader_member(&r, &mark, &key) > 0) {
        bool wanted = name_wanted(names, key);
        size_t from = out->len;
        buf_push_text(out, wanted && pushed > 0 ? "," : "");
        push_json(out, key);
        if (reader_skip(&r, &raw) != 0) {
            break;
        }
        if (!wanted) {
            buf_truncate(out, from);
            continue;
        }
        pushed++;
        buf_push_char(out, ':');
        buf_push(out, raw.data, raw.len);
    }
    buf_push_char(out, '}');
    reader_release(&r);
}

static void push_number(long double n, struct buf *out)
{
    bool whole = n == value_whole(n) && n > -1e18L && n < 1e18L;
    if (whole) {
        buf_printf(out, "%lld", (long long)n);
    } else {
        buf_printf(out, "%.17Lg", n);
    }
}

static void push_missing(const struct hit *h, const struct sort_key *key, struct buf *out)
{
    const struct field *f = mapping_find(&h->index->mapping, key->path);
    if (f == NULL || f->type->family == FAMILY_KEYWORD || f->type->family == FAMILY_IP) {
        buf_push_literal(out, "null");
    } else if (f->type->family == FAMILY_REAL) {
        buf_push_text(out, key->descending ? "\"-Infinity\"" : "\"Infinity\"");
    } else {
        buf_push_text(out, key->descending ? "-9223372036854775808" : "9223372036854775807");
    }
}

static void push_sort(const struct asked *w, const struct hit *h, struct buf *out)
{
    buf_push_literal(out, ",\"sort\":[");
    for (size_t i = 0; i < w->sort_count; i++) {
        buf_push_text(out, i > 0 ? "," : "");
        if (h->missing[i]) {
            push_missing(h, &w->sort[i], out);
        } else if (h->keys[i].number) {
            push_number(h->keys[i].n, out);
        } else {
            push_json(out, span_make(h->keys[i].text, h->keys[i].len));
        }
    }
    buf_push_char(out, ']');
}

static int push_hit(const struct asked *w, const struct hit *h, struct buf *out,
                    struct refusal *refusal)
{
    struct stored doc;
    if (shelf_by_row(h->index->shelf, h->row, &doc, refusal) <= 0) {
        return refuse(refusal, 500, "exception", "a hit's document is gone");
    }
    buf_push_literal(out, "{\"_index\":");
    push_json_text(out, h->index->name);
    if (!w->nameless) {
        buf_push_literal(out, ",\"_id\":");
        push_json(out, doc.id);
    }
    if (w->version) {
        buf_printf(out, ",\"_version\":%lld", (long long)doc.version);
    }
    if (w->seq_no) {
        buf_printf(out, ",\"_seq_no\":%lld,\"_primary_term\":1", (long long)doc.seq);
    }
    if (w->sort_count > 0) {
        buf_push_literal(out, ",\"_score\":null");
    } else {
        buf_printf(out, ",\"_score\":%.7g", h->score);
    }
    if (w->source) {
        buf_push_literal(out, ",\"_source\":");
        if (w->source_names != NULL) {
            push_some_source(w->source_names, doc.source, out);
        } else {
            buf_push(out, doc.source.data, doc.source.len);
        }
    }
    if (w->sort_count > 0) {
        push_sort(w, h, out);
    }
    buf_push_char(out, '}');
    return 0;
}

int push_hits(const struct found *f, struct buf *out, struct refusal *refusal)
{
    const struct asked *w = f->asked;
    buf_push_literal(out, "\"hits\":{");
    if (w->track != 0) {
        bool more = f->total > w->track;
        buf_printf(out, "\"total\":{\"value\":%lld,\"relation\":\"%s\"},",
                   (long long)(more ? w->track : f->total), more ? "gte" : "eq");
    }
    if (w->sort_count > 0 || f->count == 0) {
        buf_push_literal(out, "\"max_score\":null,\"hits\":[");
    } else {
        buf_printf(out, "\"max_score\":%.7g,\"hits\":[", f->list[0].score);
    }
    for (size_t i = (size_t)w->from; i < f->count; i++) {
        buf_push_text(out, i > (size_t)w->from ? "," : "");
        if (push_hit(w, &f->list[i], out, refusal) != 0) {
            return -1;
        }
    }
    buf_push_literal(out, "]}");
    return 0;
}
