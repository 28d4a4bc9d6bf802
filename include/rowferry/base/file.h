/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files: reads a small one that the user named, which may be of any type; writes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct buf;

/* Appends the content of a regular file to out, or the data of a pipe whose writer closes it within
 * timeout_ms. Returns null, or the reason of a failure ("No such file or directory", "it is a
 * device"), valid until the thread's next call of strerror. If the content is larger than the
 * maximum of out, sets out->failed. found may be null. */
const char *file_read(const char *path, int64_t timeout_ms, struct buf *out, struct stat *found);

/* Writes all bytes. Returns false, with errno, if that fails. */
bool file_write_all(int fd, const char *bytes, size_t len);

/* Returns the directory part of a path, "." if it has no slash. The caller frees it. */
char *file_directory_of(const char *path);
