/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checksum over the values of a row, which detects damage on disk.
 */
#ifndef ROWFERRY_STATE_ROWSUM_H
#define ROWFERRY_STATE_ROWSUM_H

#include <sqlite3.h>

/* Registers row_sum(value, ...) with the connection. Returns SQLite's code. */
int rowsum_register(sqlite3 *db);

#endif
