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
    const char *error_type; /* the service's word for it; "" where it has none */
    int http_status;        /* 0: never sent */
    int64_t version;
    int64_t first_us, last_us;
    int64_t attempts;
};

int deadletter_count(struct state *s, int64_t *count, struct err *err) MUST_CHECK;

/* Which letters; all zero: all. */
struct dead_letter_filter {
    const char *key;
    const char *reason; /* the reason holds this text, or it is the error type */
    int64_t since_us;   /* of first_us, both inclusive */
    int64_t until_us;   /* 0: no end */
    int64_t limit;      /* at most so many; 0: no limit */
};

/*
 * Calls each in the order of first_us, key; a negative result of the callback ends it. They are
 * read a page at a time: memory stays small, and a callback that takes its time does not keep the
 * holder from writing.
 */
int deadletter_select(struct state *s, const struct dead_letter_filter *filter,
                      int (*each)(void *context, const struct dead_letter *letter), void *context,
                      struct err *err) MUST_CHECK;
/* The same of all. */
int deadletter_each(struct state *s, int (*each)(void *context, const struct dead_letter *letter),
                    void *context, struct err *err) MUST_CHECK;

/* Letters of one error type. */
struct dead_letter_group {
    const char *error_type; /* borrowed during the callback; "" where there is none */
    bool never_sent;
    int64_t count;
    int64_t first_us, last_us;
};

/* The same by error type, those with the most letters first; limit counts groups. The callback is
 * not to wait for anything. */
int deadletter_groups(struct state *s, const struct dead_letter_filter *filter,
                      int (*each)(void *context, const struct dead_letter_group *group),
                      void *context, struct err *err) MUST_CHECK;

/* Grows with every change of the letters through this connection; never 0. */
uint64_t deadletter_revision(const struct state *s);

/* Appends the letters as one text in ASCII, for checkpoint_take_over: the oldest 10,000 of them, or
 * only how many there are where the buffer cannot hold them. */
#define DEADLETTER_EXPORT_MOST 10000
int deadletter_export(struct state *s, struct buf *out, struct err *err) MUST_CHECK;

#endif
