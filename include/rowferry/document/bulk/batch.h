/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that travel in one bulk request, and the bytes of that request.
 *
 * The batch owns its bytes; batch_reset is the only point where they are given up, and keeps the
 * memory. bytes is exactly the body of a bulk request: action line, newline, document, newline of
 * each operation in order (a delete has no document). An operation that is being written and turns
 * out to be impossible is rolled back to where it began, so half an operation is never in it.
 */
#ifndef ROWFERRY_DOCUMENT_BATCH_H
#define ROWFERRY_DOCUMENT_BATCH_H

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/key.h"
#include "rowferry/document/model/operation.h"

struct batch {
    struct buf bytes;   /* the request's body */
    struct buf keys;    /* key texts, one after the other */
    struct buf reasons; /* what the service said of those that it did not take */
    struct operation *operations;
    size_t count;
    size_t capacity;
    size_t max_operations;
    struct key_routing routing; /* action lines name it; set once after batch_init */
    bool creates;               /* for a data stream: of a document that is there stays what is
                                   there, and deletes are refused; set as routing is */
    size_t full_bytes;          /* of memory: batch_full where the next one would reach it */
    size_t send_limit;          /* how many operations travel in the next request; 0 = all */
    unsigned http_status;       /* of the whole request; 0 = no answer arrived */
    struct err failure;     /* what befell the whole request, class ERR_NONE where nothing did */
    int64_t retry_after_ms; /* for how long the service asked to be left alone; 0 = unsaid */
    bool short_of_memory;   /* so was the service: less at a time will help */
    bool cut_off;           /* the connection was reset while the request was sent */
};

/* full_bytes: the memory that a batch aims at, request, keys and operations; max_bytes: the
 * greatest document. A batch that is not full always has room for one more operation of that size;
 * it is full where one as large as the last would reach its aim.
 */
void batch_init(struct batch *b, size_t full_bytes, size_t max_bytes, size_t max_operations);
void batch_release(struct batch *b);
void batch_reset(struct batch *b);

bool batch_full(const struct batch *b);

static inline bool batch_empty(const struct batch *b)
{
    return b->count == 0;
}

/* How many operations, from the first, are in the present request, and their bytes. */
static inline size_t batch_travelling(const struct batch *b)
{
    return b->send_limit == 0 || b->send_limit > b->count ? b->count : b->send_limit;
}

static inline size_t batch_travelling_bytes(const struct batch *b)
{
    size_t n = batch_travelling(b);
    return n == 0 ? 0 : b->operations[n - 1].offset + b->operations[n - 1].len;
}

/*
 * Begins an operation: remembers key, version, page and where its bytes start. Then write to
 * b->bytes (action line, newline, document, newline) and either commit or roll back. It counts
 * from the commit on; the pointer is valid until the next begin.
 */
struct operation *batch_begin(struct batch *b, enum operation_kind kind, struct span key,
                              int64_t version, uint64_t page);
/* False where a buffer's maximum was passed: the operation is then rolled back. */
bool batch_commit(struct batch *b);
void batch_rollback(struct batch *b);

/*
 * After an answer: drops the operations that are settled and keeps, in order and without encoding
 * them again, those that repeat (UNKNOWN, RETRY) and those that did not travel.
 */
void batch_keep_unsettled(struct batch *b);

/* Drops all operations but the first count ones. */
void batch_truncate(struct batch *b, size_t count);

/* The first operation goes behind all others. */
void batch_defer_first(struct batch *b);

struct span batch_key(const struct batch *b, const struct operation *o);
struct span batch_reason(const struct batch *b, const struct operation *o);
/* The type that the reason begins with; empty where it has none. */
struct span batch_error_type(const struct batch *b, const struct operation *o);

/* Keeps "type: reason" of an operation, cut to 512 bytes on a character's boundary. */
void batch_set_reason(struct batch *b, struct operation *o, struct span type, struct span reason);

#endif
