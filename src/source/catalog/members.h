/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of a table: itself, its partitions, and the tables that inherit from it. The text has
 * the format of rowferry.members: one line each, "oid triggers name", ordered by oid.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/source/pg/pg.h"

enum members_news {
    MEMBERS_SAME,    /* unchanged, apart from names */
    MEMBERS_JOINED,  /* `name` is new */
    MEMBERS_LEFT,    /* `name` and its rows are no longer part of the table */
    MEMBERS_CHANGED, /* the triggers of `name` have changed */
};

/* Returns the most serious difference. `name` points into one of the two texts. */
enum members_news members_compare(const char *was, const char *is, struct span *name);

/* Returns true if a member has no triggers yet: `name`. */
bool members_uncovered(const char *members, struct span *name);

/* Appends the members of `was` that are also in `is`, as they were. */
void members_keep(struct buf *out, const char *was, const char *is);

/* Compares how members are stored (page_look.sql): one line each, "oid storage versions", ordered
 * by oid. Returns true if ALTER TABLE has rewritten a member of both lists, which changes both. */
bool members_rewritten(const char *was, const char *is);

/* Appends the lines to record: all of `is`, and those of `was` that are gone but in `relied` (one
 * line each, ordered by oid). Such a member may come back before its departure is handled. */
void members_note_stored(struct buf *out, const char *was, const char *is, const char *relied);

/* Creates triggers and entries for members that joined, with the rights of the role that installed
 * the change log. Sets *joined if there were any. */
int members_join(struct pg *pg, const char *capture, bool *joined, struct err *err) MUST_CHECK;
