/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is installed in the source for a table: the one look-up behind install and change log.
 */
#ifndef ROWFERRY_SOURCE_INSTALLED_H
#define ROWFERRY_SOURCE_INSTALLED_H

#include <stdbool.h>

#include "rowferry/source/catalog/install.h"

#define INSTALLED_VERSION 6 /* what migrations/source writes into rowferry.migration */

struct installed {
    enum install_state state;
    bool schema;      /* there is one of ours, of a role that may have triggers on the table */
    bool installs;    /* this role may install there: nothing there may do more than its owner */
    char owner[64];   /* of the schema, cut if it is longer; empty if there is none */
    int version;      /* of its migrations */
    char capture[16]; /* the id as text, empty where there is none */
    bool notifies;    /* the triggers wake who reads */
};

/* why: null, or gets what is missing where the state is not CURRENT. */
int installed_look(struct pg *pg, const struct table *table, struct installed *out, struct buf *why,
                   struct err *err) MUST_CHECK;

/* Takes in members that joined, then sets ERR_REJECTED (absent, older) or ERR_STATE (broken) with
 * what to do; 0 where current. */
int installed_require(struct pg *pg, const struct table *table, struct installed *out,
                      struct err *err) MUST_CHECK;

#endif
