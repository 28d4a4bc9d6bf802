/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents by id (_mget, the search of a data stream), the listings of ids, and the comparison of
 * returned documents with a row.
 */
#include <string.h>

#include "rowferry/document/compare/compare.h"
#include "rowferry/service/index/documents.h"
#include "served.h"

#define MOST_BYTES ((size_t)1 << 20)

static const struct span keys[] = {{"1", 1}, {"eu:2", 4}, {"\"\\\n", 3}};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

static const char row[] =
    "{\"title\":\"a\",\"price\":1.50,\"tags\":[\"x\",{\"y\":null}],\"v\":[1,2]}";

static void see(void *context, const struct difference *d)
{
    size_t *bytes = context;
    *bytes += strlen(d->path) + d->row.len + d->indexed.len;
}

static void compare(struct span source, enum source_form form)
{
    static struct mapping mapping;
    struct err err;
    size_t bytes = 0;
    if (mapping.json == NULL) {
        int rc = mapping_parse(&mapping,
                               "{\"properties\":{\"title\":{\"type\":\"text\"},\"price\":{\"type\":"
                               "\"double\"},\"tags\":{\"type\":\"keyword\"},\"v\":{\"type\":"
                               "\"dense_vector\",\"dims\":2}}}",
                               &err);
        FUZZ_EXPECT(rc == 0, "%s", err.message);
    }
    struct compare_rules rules = {.mapping = &mapping, .form = form};
    (void)compare_documents(&rules, (struct span){row, sizeof(row) - 1}, source, see, &bytes);
}

static void get(struct service *s, bool with_source)
{
    struct documents d;
    struct err err;
    documents_init(&d);
    int rc = documents_get(s, "shop", keys, KEYS, with_source, MOST_BYTES, &d, &err);
    served_result(rc, DOCUMENTS_TOO_LARGE, &err);
    FUZZ_EXPECT(rc != 0 || d.count == KEYS, "%zu", d.count);
    const char *from = buf_text(&d.answer.body);
    for (size_t i = 0; rc == 0 && i < d.count; i++) {
        struct span source = d.items[i].source;
        FUZZ_EXPECT(source.len == 0 || (source.data >= from &&
                                        source.data + source.len <= from + d.answer.body.len),
                    "a source beside the answer");
        if (source.len > 0) {
            compare(source, SOURCE_AS_SENT);
            compare(source, SOURCE_VECTORS_APART);
            compare(source, SOURCE_DERIVED);
        }
    }
    documents_release(&d);
}

static void many(struct service *s)
{
    get(s, true);
}

static void many_without_sources(struct service *s)
{
    s->options.routing = (struct key_routing){.part = 0, .count = 2};
    get(s, false);
}

static void many_of_stream(struct service *s)
{
    s->options.stream = true;
    get(s, true);
}

static void form(struct service *s)
{
    enum source_form found;
    struct err err;
    served_result(documents_form(s, "shop", &found, &err), 0, &err);
    FUZZ_EXPECT(found <= SOURCE_DERIVED, "%d", (int)found);
}

static size_t page_bytes(const struct scan_page *page)
{
    size_t bytes = 0;
    FUZZ_EXPECT(page->keys.count <= SCAN_PAGE && !page->keys.bytes.failed, "%zu keys",
                page->keys.count);
    for (size_t i = 0; i < page->keys.count; i++) {
        bytes += scan_list_get(&page->keys, i).len;
    }
    return bytes;
}

static void nameless(struct service *s)
{
    struct scan_page page;
    struct err err;
    scan_page_init(&page);
    served_result(documents_nameless(s, "shop", &page, &err), 0, &err);
    FUZZ_EXPECT(page_bytes(&page) == page.keys.bytes.len, "%zu bytes", page.keys.bytes.len);
    scan_page_release(&page);
}

static void scan(struct service *s)
{
    struct scan_page page;
    struct err err;
    struct span after = {NULL, 0};
    scan_page_init(&page);
    for (int i = 0; i < 4; i++) {
        int rc = scan_next(s, "shop", after, &page, &err);
        served_result(rc, 0, &err);
        FUZZ_EXPECT(page_bytes(&page) == page.keys.bytes.len, "%zu bytes", page.keys.bytes.len);
        if (rc != 0 || page.keys.count == 0 || page.last) {
            break;
        }
        after = scan_list_get(&page.keys, page.keys.count - 1);
    }
    scan_page_release(&page);
}

static const served_reader readers[] = {many, many_without_sources, many_of_stream, form, nameless,
                                        scan};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    served(readers, sizeof(readers) / sizeof(readers[0]), data, size);
    return 0;
}
