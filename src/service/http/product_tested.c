/* SPDX-License-Identifier: Apache-2.0 */
/* Reads services.tested: a line "PRODUCT VERSION HOW: TEST, TEST ..." for each run of the tests on
 * a real server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/embed.h"
#include "rowferry/base/text.h"
#include "rowferry/service/http/product.h"

#define LIST_MAX_BYTES 16384
#define ITEM_MAX_BYTES 128

struct tested_line {
    struct span product, version, how, tests; /* tests: "A, B" */
};

static struct span product_tested_until(const char **at, const char *end)
{
    const char *found = strstr(*at, end);
    struct span part = span_make(*at, found != NULL ? (size_t)(found - *at) : strlen(*at));
    *at += part.len + (found != NULL ? strlen(end) : 0);
    return part;
}

/* Returns false at the end of the table. */
static bool product_tested_next(const char **at, struct tested_line *out)
{
    bool any = **at != '\0';
    if (any) {
        out->product = product_tested_until(at, " ");
        out->version = product_tested_until(at, " ");
        out->how = product_tested_until(at, ": ");
        out->tests = product_tested_until(at, "\n");
    }
    return any;
}

/* Adds the items of "A, B" to the list, except those that it or `others` has. Every item of a list
 * is between ", " and ",". */
static void product_tested_add(struct buf *list, const struct buf *others, struct span items)
{
    while (items.len > 0) {
        char item[ITEM_MAX_BYTES];
        const char *comma = memchr(items.data, ',', items.len);
        size_t len = comma != NULL ? (size_t)(comma - items.data) : items.len;
        size_t next = comma != NULL ? len + 2 : len;
        snprintf(item, sizeof(item), ", %.*s,", (int)len, items.data);
        if (!span_contains(span_make(list->data, list->len), item) &&
            (others == NULL || !span_contains(span_make(others->data, others->len), item))) {
            buf_truncate(list, list->len - (list->len > 0));
            buf_push_text(list, item);
        }
        items = span_make(items.data + next, items.len - next);
    }
}

static void product_tested_push(struct buf *out, const char *before, const struct buf *list)
{
    if (list->len > 0) {
        buf_printf(out, "%s%.*s", before, (int)list->len - 3, list->data + 2);
    }
}

enum product_tested product_tested(const struct product_info *info, struct buf *out)
{
    const char *table = embed_text(service_tested, "services");
    const char *name = product_name(info->product);
    struct buf ran, how, near, all, missing;
    struct tested_line line;
    buf_init(&ran, LIST_MAX_BYTES);
    buf_init(&how, LIST_MAX_BYTES);
    buf_init(&near, LIST_MAX_BYTES);
    buf_init(&all, LIST_MAX_BYTES);
    buf_init(&missing, LIST_MAX_BYTES);
    for (const char *at = table; product_tested_next(&at, &line);) {
        char release[ITEM_MAX_BYTES];
        int len = snprintf(release, sizeof(release), "%.*s %.*s", (int)line.product.len,
                           line.product.data, (int)line.version.len, line.version.data);
        product_tested_add(&all, NULL, span_make(release, (size_t)len));
        if (span_is(line.product, name) && strtol(line.version.data, NULL, 10) == info->major) {
            product_tested_add(&near, NULL, span_make(release, (size_t)len));
        }
        if (span_is(line.product, name) && span_is(line.version, info->version)) {
            product_tested_add(&how, NULL, line.how);
            product_tested_add(&ran, NULL, line.tests);
        }
    }
    for (const char *at = table; how.len > 0 && product_tested_next(&at, &line);) {
        product_tested_add(&missing, &ran, line.tests);
    }
    enum product_tested result = how.len > 0    ? PRODUCT_TESTED
                                 : near.len > 0 ? PRODUCT_TESTED_NEAR
                                                : PRODUCT_UNTESTED;
    product_tested_push(out, "", how.len > 0 ? &how : near.len > 0 ? &near : &all);
    product_tested_push(out, "; not tested with it: ", &missing);
    buf_release(&ran);
    buf_release(&how);
    buf_release(&near);
    buf_release(&all);
    buf_release(&missing);
    return result;
}
