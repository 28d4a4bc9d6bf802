/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a small file that a person named, which may be anything.
 */
#ifndef ROWFERRY_BASE_FILE_H
#define ROWFERRY_BASE_FILE_H

#include <stdint.h>
#include <sys/stat.h>

struct buf;

/* Appends the content of a regular file to out, or what arrives by a pipe whose writer ends within
 * timeout_ms. Returns null, or why it cannot be read ("No such file or directory", "it is a
 * device"), borrowed until the thread's next call of strerror. If the content is larger than the
 * maximum of out, out->failed is set. found may be null. */
const char *file_read(const char *path, int64_t timeout_ms, struct buf *out, struct stat *found);

#endif
