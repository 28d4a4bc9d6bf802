/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmark of the reader of bulk responses, without a service: reads the same response repeatedly.
 *
 *   answers [KIND [ITEMS]]    prints "KIND bytes-per-item ns-per-item"
 *
 * gate.sh runs it under callgrind and counts instructions instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"
#include "rowferry/service/bulk/answer.h"

#define OPERATIONS 1000                /* per request */
#define PIECE_BYTES ((size_t)16 << 10) /* size in which data arrives from the network */

#define WELL "{\"index\":{\"_index\":\"events-1\",\"_id\":\"471100\",\"status\":201}}"
#define FULL                                                                                       \
    "{\"index\":{\"_index\":\"events-1\",\"_id\":\"471100\",\"_version\":1763719200000000,"        \
    "\"result\":\"created\",\"_shards\":{\"total\":2,\"successful\":1,\"failed\":0},"              \
    "\"_seq_no\":471099,\"_primary_term\":1,\"status\":201}}"
#define BUSY                                                                                       \
    "{\"index\":{\"_index\":\"events-1\",\"_id\":\"471100\",\"status\":429,\"error\":{\"type\":"   \
    "\"es_rejected_execution_"                                                                     \
    "exception\","                                                                                 \
    "\"reason\":\"rejected execution of primary operation [coordinating_and_primary_bytes=104]\"}" \
    "}}"
#define REFUSED                                                                                    \
    "{\"index\":{\"_index\":\"events-1\",\"_id\":\"471100\",\"status\":400,\"error\":{\"type\":"   \
    "\"mapper_parsing_"                                                                            \
    "exception\",\"reason\":"                                                                      \
    "\"failed to parse field [amount] of type [double]\",\"caused_by\":{\"type\":"                 \
    "\"number_format_exception\",\"reason\":\"For input string: \\\"NaN\\\"\"}}}}"

/* Every tenth item is the second one. */
static const struct kind {
    const char *name;
    const char *item;
    const char *tenth;
} kinds[] = {
    {"well", WELL, WELL},
    {"full", FULL, FULL},
    {"busy", WELL, BUSY},
    {"refused", WELL, REFUSED},
};

static void fail(const char *message)
{
    fprintf(stderr, "answers: %s\n", message);
    exit(EXIT_FAILURE);
}

static void fill_batch(struct batch *b)
{
    batch_init(b, 5 << 20, 16 << 20, OPERATIONS);
    for (size_t i = 0; i < OPERATIONS; i++) {
        batch_begin(b, OPERATION_UPSERT, span_make("471100", 6), INT64_C(1763719200000000), 1);
        buf_push_literal(&b->bytes, "{}\n{}\n");
        if (!batch_commit(b)) {
            fail("a batch has no room");
        }
    }
}

static void fill_answer(struct buf *text, const struct kind *kind)
{
    buf_init(text, 1 << 20);
    buf_push_literal(text, "{\"items\":[");
    for (size_t i = 0; i < OPERATIONS; i++) {
        buf_printf(text, "%s%s", i > 0 ? "," : "", i % 10 == 9 ? kind->tenth : kind->item);
    }
    buf_push_literal(text, "]}");
}

static void read_once(struct answer *a, struct batch *b, const struct buf *text)
{
    struct err err;
    const char *bytes = buf_text(text);
    buf_reset(&b->reasons);
    answer_begin(a, b, "events-1-WRITE-5f0c");
    for (size_t at = 0; at < text->len; at += PIECE_BYTES) {
        size_t left = text->len - at;
        (void)answer_feed(a, bytes + at, left < PIECE_BYTES ? left : PIECE_BYTES);
    }
    if (answer_end(a, &err) != 0) {
        fail(err.message);
    }
}

static void measure(const struct kind *kind, long items)
{
    struct batch b;
    struct buf text;
    struct clock clock = clock_system();
    struct answer *a = answer_new();
    fill_batch(&b);
    fill_answer(&text, kind);
    int64_t start = clock_monotonic_us(&clock);
    long read = 0;
    for (; read < items; read += OPERATIONS) {
        read_once(a, &b, &text);
    }
    int64_t took_us = clock_monotonic_us(&clock) - start;
    printf("%-8s %5zu bytes %7.1f ns\n", kind->name, text.len / OPERATIONS,
           (double)took_us * 1000 / (double)read);
    answer_free(a);
    buf_release(&text);
    batch_release(&b);
}

int main(int argc, char **argv)
{
    long items = argc > 2 ? strtol(argv[2], NULL, 10) : 10000000;
    bool known = false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (argc < 2 || strcmp(argv[1], kinds[i].name) == 0) {
            measure(&kinds[i], items);
            known = true;
        }
    }
    if (!known || items < 1) {
        fail("expects a kind (well, full, busy, refused) and a number of items");
    }
    return EXIT_SUCCESS;
}
