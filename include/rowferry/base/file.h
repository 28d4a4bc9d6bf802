/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a small file that the user named, which may be of any type.
 */
#pragma once

#include <stdint.h>
#include <sys/stat.h>

struct buf;

/* Appends the content of a regular file to out, or the data of a pipe whose writer closes it within
 * timeout_ms. Returns null, or the reason of a failure ("No such file or directory", "it is a
 * device"), valid until the thread's next call of strerror. If the content is larger than the
 * maximum of out, sets out->failed. found may be null. */
const char *file_read(const char *path, int64_t timeout_ms, struct buf *out, struct stat *found);
