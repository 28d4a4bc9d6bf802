/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters: key and reason of operations that the service will never accept as they are.
 *
 * They are written by checkpoint_settle; here they are read. The document is not kept.
 */
#ifndef ROWFERRY_STATE_DEADLETTER_H
#define ROWFERRY_STATE_DEADLETTER_H

#include "rowferry/base/buf.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/store.h"

struct dead_letter {
    const char *key; /* borrowed during the callback */
    size_t key_len;
    enum operation_kind kind;
    const char *reason;
    int http_status;
    int64_t version;
    int64_t first_us, last_us;
    int64_t attempts;
};

int deadletter_count(struct state *s, int64_t *count, struct err *err) MUST_CHECK;

/* Calls each in the order of first_us, key; a negative result of the callback ends it. */
int deadletter_each(struct state *s, int (*each)(void *context, const struct dead_letter *letter),
                    void *context, struct err *err) MUST_CHECK;

/* Grows with every change of the letters through this connection; never 0. */
uint64_t deadletter_revision(const struct state *s);

/* Appends the letters as one text in ASCII, for checkpoint_take_over: the oldest 10,000 of them. */
#define DEADLETTER_EXPORT_MOST 10000
int deadletter_export(struct state *s, struct buf *out, struct err *err) MUST_CHECK;

#endif
