/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of a table: itself, its partitions, the tables that inherit from it. Told as
 * rowferry.members tells them: a line each, "oid triggers name", by oid.
 */
#ifndef ROWFERRY_SOURCE_MEMBERS_H
#define ROWFERRY_SOURCE_MEMBERS_H

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/source/pg/pg.h"

enum members_news {
    MEMBERS_SAME,    /* whatever they are called */
    MEMBERS_JOINED,  /* `name` is new */
    MEMBERS_LEFT,    /* `name` is gone, and so are its rows */
    MEMBERS_CHANGED, /* `name` has other triggers than it had */
};

/* The gravest of what happened. `name` is of one of the two texts. */
enum members_news members_compare(const char *was, const char *is, struct span *name);

/* Whether one has no triggers yet: `name`. */
bool members_uncovered(const char *members, struct span *name);

/* Those of `was` that are in `is` too, as they were. */
void members_keep(struct buf *out, const char *was, const char *is);

/* Has triggers and entries made for members that joined, with the rights of whoever installed;
 * `joined` tells whether there were any. */
int members_join(struct pg *pg, const char *capture, bool *joined, struct err *err) MUST_CHECK;

#endif
