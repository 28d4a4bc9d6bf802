/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of one bulk request, and the bytes of that request.
 *
 * `bytes` is exactly the request body: for each operation in order, the action line, a newline, the
 * document and a newline. A delete has no document. If an operation turns out to be impossible
 * while it is written, it is rolled back, so a batch never contains half an operation. The batch
 * owns its bytes. Only batch_reset discards them, and it keeps the memory.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/key.h"
#include "rowferry/document/model/operation.h"

struct batch {
    struct buf bytes;   /* the request body */
    struct buf keys;    /* key texts, one after the other */
    struct buf reasons; /* the service's reasons for the operations that it did not accept */
    struct operation *operations;
    size_t count;
    size_t capacity;
    size_t max_operations;
    struct key_routing routing; /* of keys to _id and "routing"; set after batch_init */
    bool creates;      /* for a data stream: existing documents stay as they are, and deletes are
                          refused; set after batch_init */
    int64_t read_us;   /* wall-clock time of the read, for "provenance"; set before encode_upsert */
    size_t full_bytes; /* target size in memory: batch_full if the next operation would reach it */
    size_t send_limit; /* maximum number of operations in the next request; 0 = all */
    unsigned http_status;   /* of the whole request; 0 = no answer arrived */
    struct err failure;     /* error of the whole request; class ERR_NONE if it succeeded */
    int64_t retry_after_ms; /* pause requested by the service (Retry-After); 0 = not given */
    bool short_of_memory;   /* the service was short of memory: smaller batches will help */
    bool cut_off;           /* the connection was reset while the request was sent */
};

/* full_bytes is the target size in memory of request, keys and operations; max_bytes is the size of
 * the largest document. A batch that is not full always has room for one more operation of
 * max_bytes. It is full if another operation as large as the last one would reach the target. */
void batch_init(struct batch *b, size_t full_bytes, size_t max_bytes, size_t max_operations);
void batch_release(struct batch *b);
void batch_reset(struct batch *b);

bool batch_full(const struct batch *b);

static inline bool batch_empty(const struct batch *b)
{
    return b->count == 0;
}

/* Returns how many operations, from the first, the current request contains. */
static inline size_t batch_in_flight(const struct batch *b)
{
    return b->send_limit == 0 || b->send_limit > b->count ? b->count : b->send_limit;
}

static inline size_t batch_in_flight_bytes(const struct batch *b)
{
    size_t n = batch_in_flight(b);
    return n == 0 ? 0 : b->operations[n - 1].offset + b->operations[n - 1].len;
}

/*
 * Begins an operation and records its key, version, page and start offset. The caller then writes
 * to b->bytes (action line, newline, document, newline) and either commits or rolls back. The
 * operation counts only after the commit. The pointer is valid until the next batch_begin.
 */
struct operation *batch_begin(struct batch *b, enum operation_kind kind, struct span key,
                              int64_t version, uint64_t page);
/* Returns false, and rolls the operation back, if it exceeded a buffer's maximum. */
bool batch_commit(struct batch *b);
void batch_rollback(struct batch *b);

/*
 * To be called after an answer. Drops the settled operations. Keeps, in order and without encoding
 * them again, the operations to repeat (UNKNOWN, RETRY) and those that were not part of the
 * request.
 */
void batch_keep_unsettled(struct batch *b);

/* Drops all operations except the first `count`. */
void batch_truncate(struct batch *b, size_t count);

/* Moves the first operation behind all others. */
void batch_defer_first(struct batch *b);

struct span batch_key(const struct batch *b, const struct operation *o);
struct span batch_reason(const struct batch *b, const struct operation *o);
/* Returns the error type at the start of the reason; empty if it has none. */
struct span batch_error_type(const struct batch *b, const struct operation *o);

/* Records "type: reason" of an operation, cut to 512 bytes at a character boundary. */
void batch_set_reason(struct batch *b, struct operation *o, struct span type, struct span reason);
