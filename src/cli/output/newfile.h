/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a file completely or not at all, and never replaces an existing one without permission.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

/* Call before the work. Returns ERR_CONFIG if the file cannot be created there. Refuses an existing
 * file unless `replace` is set, and anything but a regular file always. */
int newfile_check(const char *path, bool replace, struct err *err) MUST_CHECK;

/* Writes the file. If that fails, removes the temporary file beside it. */
int newfile_save(const char *path, bool replace, const struct buf *text,
                 struct err *err) MUST_CHECK;
