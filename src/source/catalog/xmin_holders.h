/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the xmin holder. For holders whose age the source does not report, it remembers when they
 * were first seen: slots, standbys, and sessions whose activity this role may not see.
 */
#pragma once

#include "rowferry/source/catalog/xmin_holder.h"
#include "rowferry/source/pg/pg.h"

enum hold_kind { HOLD_SESSION, HOLD_UNSEEN, HOLD_PREPARED, HOLD_SLOT, HOLD_STANDBY, HOLD_KINDS };

struct hold_seen {
    char id[96]; /* empty: none */
    int64_t first_ms;
};

struct xmin_holders {
    struct hold_seen seen[HOLD_KINDS];
};

/* One row of migrations/source/holds.sql; texts may be null. */
struct hold_row {
    enum hold_kind kind;
    int64_t pid;
    int64_t age_us; /* negative: unknown */
    const char *xid, *name, *role, *state;
};

/* Called for one row after the other. Replaces *out if this holder is older. */
void xmin_holders_take(struct xmin_holders *h, const struct hold_row *row, int64_t now_ms,
                       struct xmin_holder *out);

/* Call it outside a transaction. all: see holds.sql. */
int xmin_holders_look(struct xmin_holders *h, struct pg *pg, bool all, struct xmin_holder *out,
                      struct err *err) MUST_CHECK;
