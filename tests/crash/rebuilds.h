/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world with a live and a former generation whose rebuild is killed somewhere, and the checks
 * after the next command.
 */
#pragma once

#include "crash.h"

/* Creates two generations of `rows` rows, the older one former, with configured settings. */
void rebuilds_world(struct world *w, long rows);

/* Changes, deletes and adds rows, and changes a key. n varies the choice. */
void rebuilds_change(const struct world *w, int n);

/* Runs rowferry reindex with the word (null: none), which must succeed. */
void rebuilds_run(const struct world *w, const char *word);

/* Returns true if the state file has a rebuild in progress. */
bool rebuilds_underway(const struct world *w);

/*
 * Recovers after a kill. n chooses the command: reindex, sync, reindex --abort, or the killed one
 * again. Then resumes a rebuild that is still in progress. Finally the index must equal the table,
 * with only the live and one former generation, both with the configured settings. The state file
 * must have no rebuild, and the source only their consumers.
 */
void rebuilds_recover(struct world *w, const char *killed, int n);
