/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the "_index" of an item with the index that the request was meant for. */
#include "bulk/written_index.h"

#include <string.h>

#include "rowferry/base/ascii.h"

#define INDEX_MAX_BYTES 512
#define AT_MAX_BYTES 1024
#define HTTP_CONFLICT 409
#define MEMBER "\"_index\":\""

void written_index_init(struct written_index *w)
{
    buf_init(&w->sent_to, INDEX_MAX_BYTES);
    buf_init(&w->plain, INDEX_MAX_BYTES);
    buf_init(&w->at, AT_MAX_BYTES);
}

void written_index_release(struct written_index *w)
{
    buf_release(&w->sent_to);
    buf_release(&w->plain);
    buf_release(&w->at);
}

void written_index_expect(struct written_index *w, bool stream, const char *index)
{
    static const char alias[] = "-WRITE"; /* the name of an index has no upper case letters */
    buf_reset(&w->sent_to);
    buf_reset(&w->plain);
    w->stream = stream;
    if (index == NULL) {
        return;
    }
    const char *end = stream ? NULL : strstr(index, alias);
    size_t len = end != NULL ? (size_t)(end - index) : strlen(index);
    buf_push_text(&w->sent_to, index);
    buf_printf(&w->plain, MEMBER "%s%.*s%s", stream ? ".ds-" : "", (int)len, index,
               stream ? "-" : "");
}

size_t written_index_number(struct span text)
{
    size_t len = 0;
    while (len < text.len &&
           (text.data[len] == '-' || text.data[len] == '.' || ascii_is_digit(text.data[len]))) {
        len++;
    }
    return len;
}

static bool written_index_is_right(const struct written_index *w, struct span at)
{
    size_t head = sizeof(MEMBER) - 1;
    return skip(&at, w->plain.data + head, w->plain.len - head) &&
           at.len == (w->stream ? written_index_number(at) : 0);
}

void written_index_look(const struct written_index *w, enum operation_kind kind, struct item *item)
{
    struct span at = span_make(w->at.data, w->at.len);
    if (kind != OPERATION_UPSERT || item->diverted || at.len == 0 || w->sent_to.len == 0 ||
        (item->has_error && item->status != HTTP_CONFLICT) || written_index_is_right(w, at)) {
        return;
    }
    bool named = span_equal(at, span_make(w->sent_to.data, w->sent_to.len));
    item->dropped = named && !item->has_error;
    item->moved = !named;
}

void written_index_explain(const struct written_index *w, const struct item *item, struct buf *type,
                           struct buf *reason)
{
    buf_reset(type);
    buf_reset(reason);
    if (item->dropped) {
        buf_push_literal(type, "document_dropped");
        buf_push_literal(reason, "an ingest pipeline dropped the document");
    } else {
        buf_push_literal(type, "document_moved");
        buf_printf(reason, "an ingest pipeline moved the document to index \"%s\"",
                   buf_text(&w->at));
    }
}
