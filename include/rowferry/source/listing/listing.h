/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table's keys in their own order, a page at a time, each page a statement of its own: nothing is
 * registered or held open in the source. And which of some keys a position does not cover yet.
 */
#ifndef ROWFERRY_SOURCE_LISTING_H
#define ROWFERRY_SOURCE_LISTING_H

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/catalog/query.h"

/* All borrowed; outlive the listing. */
struct listing_options {
    const char *table;
    const char *const *key; /* 0 columns: the primary key */
    size_t key_count;
    const char *where;  /* of the pipeline; null: all rows */
    const char *only;   /* a further condition on the table's columns; null: none */
    const char *query;  /* in place of the table's rows: all keys of the table are listed */
    const char *cursor; /* the column that is followed; null: the change log */
    const struct dependency *dependencies;
    size_t dependency_count;
};

struct listing; /* opaque */

/* Takes the connection, after an error too. */
int listing_open(struct listing **out, struct pg *pg, const struct listing_options *options,
                 struct err *err) MUST_CHECK;
void listing_free(struct listing *l); /* null is allowed */

int64_t listing_estimated_rows(const struct listing *l); /* -1: not known */

/* How many rows there are now, those with a NULL in the key apart. */
int listing_count(struct listing *l, int64_t *rows, struct err *err) MUST_CHECK;

/* Each key is borrowed during the call. */
typedef void (*listing_each)(void *context, struct span key);

/* At most `limit` keys after that one (data null: from the first on); fewer: they were the last. */
int listing_next(struct listing *l, struct span after, size_t limit, listing_each each,
                 void *context, struct err *err) MUST_CHECK;

/* So many keys by chance, or all where there are fewer. */
int listing_sample(struct listing *l, size_t count, listing_each each, void *context,
                   struct err *err) MUST_CHECK;

/* Whether a row can have this key: its parts are texts of the key columns' types. */
int listing_possible(struct listing *l, struct span key, bool *possible,
                     struct err *err) MUST_CHECK;

/* How the table writes the key that this text means: 5 for 05. *possible as above. */
int listing_text(struct listing *l, struct span key, struct buf *out, bool *possible,
                 struct err *err) MUST_CHECK;

/*
 * Tells those of the keys whose rows may have changed since the position: a reader at the position
 * has not delivered all that is committed now. *all: that cannot be told key by key, so it may be
 * any.
 */
int listing_unsettled(struct listing *l, const char *position, const struct span *keys,
                      size_t count, listing_each each, void *context, bool *all,
                      struct err *err) MUST_CHECK;

#endif
