/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change log in the source database: schema rowferry, its tables, functions and triggers.
 *
 * Numbered migrations (migrations/source), each idempotent; triggers per (table, key columns).
 * The reader needs: USAGE on schema rowferry, SELECT on what it reads, and what `grants` prints.
 * A writer needs nothing: the trigger functions are SECURITY DEFINER with fixed settings.
 */
#ifndef ROWFERRY_SOURCE_INSTALL_H
#define ROWFERRY_SOURCE_INSTALL_H

#include "rowferry/base/buf.h"
#include "rowferry/source/catalog/catalog.h"

enum install_state {
    INSTALL_ABSENT, /* no schema, or no capture of this table and key */
    INSTALL_OLDER,  /* of an earlier version of ours */
    INSTALL_BROKEN, /* triggers missing, disabled or changed: `why` says which */
    INSTALL_CURRENT,
};

int install_look(struct pg *pg, const struct table *table, enum install_state *state,
                 struct buf *why, struct err *err) MUST_CHECK;

/* 0 where it is current; else ERR_REJECTED (absent, older) or ERR_STATE (broken) with what to do.
 */
int install_require(struct pg *pg, const struct table *table, struct err *err) MUST_CHECK;

/* Appends who has not come for a day for entries that are kept for it, `"name" since day, ..`;
 * nothing where there is nobody. A generation that was given up keeps its entries for ever. */
int install_stale(struct pg *pg, const struct table *table, struct buf *names,
                  struct err *err) MUST_CHECK;

/* Appends which members have left the table since somebody relied on them, `"consumer"
 * relies on name, ..`: their rows went without an entry, and the consumer's next sync will stop. */
int install_left(struct pg *pg, const struct table *table, struct buf *names,
                 struct err *err) MUST_CHECK;

/* Whom the change log concerns beside its readers. */
struct install_beside {
    char *publications; /* of all tables, `"a", "b"`: a subscriber without ours stops; null: none */
    char *dumper;       /* the table's owner, if pg_dump fails as that role; null: it does not */
};
int install_beside(struct pg *pg, const struct table *table, struct install_beside *out,
                   struct err *err) MUST_CHECK;
void install_beside_release(struct install_beside *b);

/* What to do about publications, as a remedy; about a dumper, after its name. */
#define INSTALL_PUBLICATIONS_REMEDY                                                                \
    "publish tables by their names instead (create publication .. for table ..), or create the "   \
    "tables of schema rowferry on the subscribers first"
#define INSTALL_DUMP_REMEDY "pg_dump --exclude-schema=rowferry"

/* Appends the SQL that `source install` would run for the table, and the grants for `reader` (a
 * role; null = a placeholder), as a script that a DBA can paste. */
int install_print(struct pg *pg, const struct table *table, const char *reader, struct buf *out,
                  struct err *err) MUST_CHECK;

/* Runs it, in short locks a table at a time; a second time changes nothing. */
int install_apply(struct pg *pg, const struct table *table, const char *reader,
                  struct err *err) MUST_CHECK;

/* Whether each statement that changes rows also sends NOTIFY, so that a reader who waits polls at
 * once. It costs a lock that all notifying commits of the server take one after the other, and
 * such transactions cannot be prepared (PREPARE TRANSACTION). */
int install_notifies(struct pg *pg, const struct table *table, bool *notifies,
                     struct err *err) MUST_CHECK;
/* Changes that of what is installed; it stays so until it is changed here again. */
int install_notify(struct pg *pg, const struct table *table, bool on, struct err *err) MUST_CHECK;
/* Appends the SQL that would do it, to be run after install_print's. */
int install_print_notify(struct pg *pg, const struct table *table, bool on, struct buf *out,
                         struct err *err) MUST_CHECK;

/* Removes the triggers of the table; the schema as well when nothing is captured any more. */
int install_remove(struct pg *pg, const struct table *table, struct err *err) MUST_CHECK;

#endif
