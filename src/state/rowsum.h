/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sum over the values of a row, by which a row that was damaged on disk is known.
 */
#ifndef ROWFERRY_STATE_ROWSUM_H
#define ROWFERRY_STATE_ROWSUM_H

#include <sqlite3.h>

/* Makes row_sum(value, ...) known to the connection; SQLite's code. */
int rowsum_register(sqlite3 *db);

#endif
