/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the dead letters: key and reason of operations that the service will never accept as they
 * are. checkpoint_settle writes them. The document is not stored.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/store.h"

struct dead_letter {
    const char *key; /* borrowed during the callback */
    size_t key_len;
    enum operation_kind kind;
    const char *reason;
    const char *error_type; /* the service's error type; "" if it has none */
    int http_status;        /* 0: never sent */
    int64_t version;
    int64_t first_us, last_us;
    int64_t attempts;
};

int deadletter_count(struct state *s, int64_t *count, struct err *err) MUST_CHECK;

/* Selects letters; all members zero: all letters. */
struct dead_letter_filter {
    const char *key;
    const char *reason; /* part of the reason, or the error type */
    int64_t since_us;   /* of first_us, both limits inclusive */
    int64_t until_us;   /* 0: unlimited */
    int64_t limit;      /* maximum number of letters; 0: unlimited */
};

/*
 * Calls `each` for the selected letters in the order of first_us, key. A negative result of the
 * callback ends the loop. The letters are read in pages: this bounds the memory, and a slow
 * callback does not keep the lock holder from writing.
 */
int deadletter_select(struct state *s, const struct dead_letter_filter *filter,
                      int (*each)(void *context, const struct dead_letter *letter), void *context,
                      struct err *err) MUST_CHECK;
/* The same for all letters. */
int deadletter_each(struct state *s, int (*each)(void *context, const struct dead_letter *letter),
                    void *context, struct err *err) MUST_CHECK;

/* Letters with the same error type. */
struct dead_letter_group {
    const char *error_type; /* borrowed during the callback; may be "" */
    bool never_sent;
    int64_t count;
    int64_t first_us, last_us;
};

/* Calls `each` for each error type, in descending order of the number of letters. The limit counts
 * groups. The callback must not block. */
int deadletter_groups(struct state *s, const struct dead_letter_filter *filter,
                      int (*each)(void *context, const struct dead_letter_group *group),
                      void *context, struct err *err) MUST_CHECK;

/* Grows with every change of the letters through this connection; never 0. */
uint64_t deadletter_revision(const struct state *s);

/* Appends the letters as one ASCII text, for checkpoint_take_over: at most the oldest 10,000. If
 * the buffer is too small, appends only their number. */
#define DEADLETTER_EXPORT_MOST 10000
int deadletter_export(struct state *s, struct buf *out, struct err *err) MUST_CHECK;
