/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world with a live and a former generation, whose rebuild is killed somewhere, and what has to
 * hold after the next command.
 */
#ifndef ROWFERRY_TESTS_CRASH_REBUILDS_H
#define ROWFERRY_TESTS_CRASH_REBUILDS_H

#include "crash.h"

/* Two generations of so many rows (the older one former); the settings are configured ones. */
void rebuilds_world(struct world *w, long rows);

/* Some rows are changed, deleted, added and get another key; n makes it another choice. */
void rebuilds_change(const struct world *w, int n);

/* rowferry reindex with the word (null: none), which has to end well. */
void rebuilds_run(const struct world *w, const char *word);

/* Whether the state file knows of a rebuild that is under way. */
bool rebuilds_underway(const struct world *w);

/*
 * After a kill: what n says is run (reindex, sync, reindex --abort, or the killed command again),
 * and whatever is then still under way is gone on with. Then the index equals the table, there are
 * the live and one former generation and no other index, both with the configured settings, the
 * state file knows of no rebuild, and the source of no consumer but theirs.
 */
void rebuilds_recover(struct world *w, const char *killed, int n);

#endif
