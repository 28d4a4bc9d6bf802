/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is written whole or not at all, and never over another one unasked.
 */
#ifndef ROWFERRY_CLI_NEWFILE_H
#define ROWFERRY_CLI_NEWFILE_H

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

/* Before the work; ERR_CONFIG: whether it can be created there. What is there already is refused
 * unless replace says otherwise, and what is no regular file in every case. */
int newfile_check(const char *path, bool replace, struct err *err) MUST_CHECK;

/* The file beside it that was begun is gone again where that fails. */
int newfile_save(const char *path, bool replace, const struct buf *text,
                 struct err *err) MUST_CHECK;

#endif
