/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The installation in the source for a table: a single look-up for install and change log.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/source/catalog/install.h"

#define INSTALLED_VERSION 7 /* written by the migrations of migrations/source */

struct installed {
    enum install_state state;
    bool schema;        /* our schema exists, and its owner may have triggers on the table */
    bool installs;      /* this role may install: objects there run with their owner's rights */
    char installer[64]; /* a role that may install; empty if this one may */
    char owner[64];     /* of the schema, truncated if it is longer; empty if there is none */
    int version;        /* of its migrations */
    char capture[16];   /* the id as text, empty if there is none */
    bool notifies;      /* the triggers notify readers */
    char lacks[320];    /* the grant that this role needs to see the capture; empty if none */
};

/* why: null, or receives what is missing if the state is not CURRENT. */
int installed_look(struct pg *pg, const struct table *table, struct installed *out, struct buf *why,
                   struct err *err) MUST_CHECK;

/* Adds triggers to members that joined. Then returns ERR_REJECTED (absent, older) or ERR_STATE
 * (broken) with a remedy; 0 if current. */
int installed_require(struct pg *pg, const struct table *table, struct installed *out,
                      struct err *err) MUST_CHECK;
