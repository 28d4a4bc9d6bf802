/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of a source: from which server an index is written.
 *
 * A copy of a database (clone, branch, restored snapshot) has the system identifier, the timeline,
 * the oids and the positions of its original. Two processes could write one index from both. So the
 * `_meta` of an index names the place it was last written from:
 *
 *     <timeline> <start of the server> <address of the server, or -> <database and configured host>
 *
 * The start is the mark of one server: a copy has another one, and so has the same server after a
 * restart. The process continues after a restart if the configured host or the server's own address
 * is still the same, and also on a higher timeline, which a promotion or a restore begins. If
 * nothing agrees, the server may be a copy, and the process is refused by name. Any proxy or tunnel
 * leads to the same start.
 *
 * The latest writer keeps the index. When the place changes, the write alias changes too, so the
 * requests of a former writer fail at once. The state file has the place it wrote last: if its own
 * server is still running since then, and the index names one with a later start or a higher
 * timeline, the process was replaced, and is refused. An earlier start is that of an index that was
 * put back. What cannot be told apart is a copy behind the same host name that starts while no
 * process watches the original.
 *
 * An index of an older version has no place; the next sync adds it. If the place is the same,
 * nothing is written.
 */
#pragma once

#include "generation/generation.h"
#include "rowferry/state/written_place.h"

enum place_verdict {
    PLACE_SAME,
    PLACE_MOVED, /* the same database after a restart, a promotion, or with another address */
    PLACE_TAKEN, /* another server has taken the index over from this one */
    PLACE_OTHER, /* perhaps a copy */
};

/* Compares the place of an index with that of the source. `last` is the row of the state file, of
 * the same index; zero: none. */
enum place_verdict place_judge(const char *index, const char *own,
                               const struct written_place *last);

/* Returns ERR_REJECTED, with a hint, if the index is written from another server. Otherwise keeps
 * its place for place_settle. Does nothing if t->observes is set or the source has no place. */
int place_check(struct generation *t, const struct index_info *at, struct err *err) MUST_CHECK;

/* Writes the source's place to the generation's `_meta` and then to the state file, if they name
 * another one. */
int place_settle(struct generation *t, struct err *err) MUST_CHECK;
