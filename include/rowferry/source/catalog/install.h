/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Installs the change log in the source database: schema rowferry, its tables, functions and
 * triggers.
 *
 * The migrations (migrations/source) are numbered and idempotent. Triggers are created per (table,
 * key columns). A reader needs USAGE on schema rowferry, SELECT on what it reads, and the grants
 * that install_print prints. A writer needs no rights: the trigger functions are SECURITY DEFINER
 * with fixed settings.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/source/catalog/catalog.h"

enum install_state {
    INSTALL_ABSENT, /* the schema, or the capture of this table and key, is missing */
    INSTALL_OLDER,  /* from an earlier version of rowferry */
    INSTALL_BROKEN, /* triggers missing, disabled or changed: `why` names them */
    INSTALL_CURRENT,
};

int installed_read(struct pg *pg, const struct table *table, enum install_state *state,
                   struct buf *why, struct err *err) MUST_CHECK;

/* Adds the command that completes the installation to an error. Returns its class. */
int installed_hint(struct pg *pg, const struct table *table, struct err *err);

/* Returns 0 if the installation is current. Otherwise ERR_REJECTED (absent, older) or ERR_STATE
 * (broken), with a remedy. */
int installed_require_current(struct pg *pg, const struct table *table, struct err *err) MUST_CHECK;

/* Appends the consumers that were absent for a day while entries are kept for them: `"name" since
 * day, ..`. A generation that was given up keeps its entries for ever. */
int installed_stale(struct pg *pg, const struct table *table, struct buf *names,
                    struct err *err) MUST_CHECK;

/* Appends the members that left the table although a consumer relies on them: `"consumer" relies on
 * name, ..`. Their rows disappeared without an entry, and the consumer's next sync will fail. */
int installed_left(struct pg *pg, const struct table *table, struct buf *names,
                   struct err *err) MUST_CHECK;

/* Third parties that the change log affects. */
struct install_beside {
    char *
        publications; /* for all tables, `"a", "b"`: subscribers without the log stop; null: none */
    char *dumper;     /* the table's owner, if pg_dump fails as that role; else null */
};
int installed_beside(struct pg *pg, const struct table *table, struct install_beside *out,
                     struct err *err) MUST_CHECK;
void installed_beside_release(struct install_beside *b);

/* Remedies: a complete text for publications; a text that follows the name of the dumper. */
#define INSTALL_PUBLICATIONS_REMEDY                                                                \
    "publish tables by their names instead (create publication .. for table ..), or create the "   \
    "tables of schema rowferry on the subscribers first"
#define INSTALL_DUMP_REMEDY "pg_dump --exclude-schema=rowferry"

/* Appends the SQL that `source install` would run for the table, and the grants for `reader` (a
 * role; null = a placeholder), as a script that a DBA can paste. It creates the reader if it does
 * not exist, and is made for the server that `pg` is connected to: it also has the statement that
 * lets the reader pass row security there. */
int install_print(struct pg *pg, const struct table *table, const char *reader, struct buf *out,
                  struct err *err) MUST_CHECK;

/* Runs that SQL, with short locks on one table at a time. A second run changes nothing. */
int install_apply(struct pg *pg, const struct table *table, const char *reader,
                  struct err *err) MUST_CHECK;

/* Sets *notifies to true if each statement that changes rows also sends NOTIFY, so that a waiting
 * reader polls at once. NOTIFY needs a lock that serializes all notifying commits of the server.
 * Transactions that notify cannot be prepared (PREPARE TRANSACTION). */
int install_notifies(struct pg *pg, const struct table *table, bool *notifies,
                     struct err *err) MUST_CHECK;
/* Changes that setting permanently. */
int install_notify(struct pg *pg, const struct table *table, bool on, struct err *err) MUST_CHECK;
/* Appends the SQL that would do it, to be run after install_print's. */
void install_print_notify(const struct table *table, bool on, struct buf *out);

/* Removes the triggers of the table, and the schema if no other table is captured. */
int install_remove(struct pg *pg, const struct table *table, struct err *err) MUST_CHECK;
