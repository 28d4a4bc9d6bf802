/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists a table's keys in their own order, one page at a time. Each page is a separate statement;
 * nothing is registered or held open in the source. It can also find out which of some keys are not
 * yet covered by a position.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/source/capture_mode.h"
#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/catalog/query.h"

/* All members are borrowed and must outlive the listing. */
struct listing_options {
    const char *table;
    const char *const *key; /* 0 columns: the primary key */
    size_t key_count;
    const char *where;  /* of the pipeline; null: all rows */
    const char *only;   /* a further condition on the table's columns; null: none */
    const char *query;  /* replaces the table's rows; all keys of the table are listed */
    int capture;        /* enum capture_mode */
    const char *cursor; /* the column that the capture follows; null: none */
    const struct dependency *dependencies;
    size_t dependency_count;
};

struct listing; /* opaque */

/* Takes ownership of the connection, even on error. */
int listing_open(struct listing **out, struct pg *pg, const struct listing_options *options,
                 struct err *err) MUST_CHECK;
void listing_free(struct listing *l); /* null is allowed */

int64_t listing_estimated_rows(const struct listing *l); /* -1: unknown */

/* Counts the current rows, without those that have a NULL in the key. */
int listing_count(struct listing *l, int64_t *rows, struct err *err) MUST_CHECK;

/* Each key is borrowed during the call. */
typedef void (*listing_each)(void *context, struct span key);

/* Passes at most `limit` keys after `after` to `each`; if `after.data` is null, it begins with the
 * first key. Fewer keys mean that the end was reached. */
int listing_next(struct listing *l, struct span after, size_t limit, listing_each each,
                 void *context, struct err *err) MUST_CHECK;

/* Passes `count` random keys to `each`, or all keys if the table has fewer. */
int listing_sample(struct listing *l, size_t count, listing_each each, void *context,
                   struct err *err) MUST_CHECK;

/* Sets *possible to true if a row can have this key: its parts are valid texts of the key columns'
 * types. */
int listing_possible(struct listing *l, struct span key, bool *possible,
                     struct err *err) MUST_CHECK;

/* Appends the key in the table's own notation, such as 5 for 05. *possible as above. */
int listing_text(struct listing *l, struct span key, struct buf *out, bool *possible,
                 struct err *err) MUST_CHECK;

/*
 * Passes to `each` the keys whose rows may have changed since `position`: a reader at that position
 * has not delivered all commits so far. Sets *all if the keys cannot be determined one by one, so
 * every key may have changed.
 */
int listing_unsettled(struct listing *l, const char *position, const struct span *keys,
                      size_t count, listing_each each, void *context, bool *all,
                      struct err *err) MUST_CHECK;
