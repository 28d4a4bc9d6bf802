/* SPDX-License-Identifier: Apache-2.0 */
/* Hits of a listing, prepared as one text. */
#include "sink_listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX_BYTES ((size_t)4 << 30)
#define SIZE_DEFAULT 10

static struct {
    struct buf text; /* {"sort":["1"]},{"sort":["10"]}, ... */
    size_t *starts;  /* offset of each hit, and of the end */
    long *ranks;     /* by key: its position in the order */
    long keys;
} listing;

static int by_text(const void *a, const void *b)
{
    char one[24];
    char other[24];
    snprintf(one, sizeof(one), "%ld", *(const long *)a);
    snprintf(other, sizeof(other), "%ld", *(const long *)b);
    return strcmp(one, other);
}

void listing_prepare(long keys)
{
    long *sorted = mem_zero((size_t)keys + 1, sizeof(*sorted));
    buf_init(&listing.text, TEXT_MAX_BYTES);
    listing.keys = keys;
    listing.starts = mem_zero((size_t)keys + 1, sizeof(*listing.starts));
    listing.ranks = mem_zero((size_t)keys + 1, sizeof(*listing.ranks));
    for (long i = 0; i < keys; i++) {
        sorted[i] = i + 1;
    }
    qsort(sorted, (size_t)keys, sizeof(*sorted), by_text);
    for (long i = 0; i < keys; i++) {
        listing.starts[i] = listing.text.len;
        listing.ranks[sorted[i]] = i;
        buf_printf(&listing.text, "{\"sort\":[\"%ld\"]},", sorted[i]);
    }
    listing.starts[keys] = listing.text.len;
    free(sorted);
}

long listing_keys(void)
{
    return listing.keys;
}

/* Returns the number after a member's name; -1 if the member is missing. */
static long number_after(struct span request, const char *name)
{
    const char *at = memmem(request.data, request.len, name, strlen(name));
    return at != NULL ? strtol(at + strlen(name), NULL, 10) : -1;
}

void listing_push(struct buf *body, struct span request)
{
    long size = number_after(request, "\"size\":");
    long after = number_after(request, "\"search_after\":[\"");
    long from = after > 0 && after <= listing.keys ? listing.ranks[after] + 1 : 0;
    size = size >= 0 ? size : SIZE_DEFAULT;
    long to = from + size < listing.keys ? from + size : listing.keys;
    buf_push_literal(body, "{\"timed_out\":false,\"_shards\":{\"failed\":0},\"hits\":{\"hits\":[");
    if (to > from) { /* without the last comma */
        buf_push(body, buf_text(&listing.text) + listing.starts[from],
                 listing.starts[to] - listing.starts[from] - 1);
    }
    buf_push_literal(body, "]}}");
}
