/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checksum over the values of a row, which detects damage on disk.
 */
#pragma once

#include <sqlite3.h>

/* Registers row_sum(value, ...) with the connection. Returns SQLite's code. */
int rowsum_register(sqlite3 *db);
