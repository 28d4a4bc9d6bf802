/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between a program and its calls: boundary.c decides, the others are the calls. */
#ifndef ROWFERRY_TESTS_BOUNDARY_H
#define ROWFERRY_TESTS_BOUNDARY_H

#include <stdbool.h>
#include <sys/types.h>

enum class { CLASS_BOUNDARY = 1, CLASS_SYSTEM, CLASS_MEMORY, CLASS_SQLITE };

/* What fails or kills before it is done: true where it fails, errno is set. */
bool boundary_fails(const char *function, enum class of);

/* The errno that failures have, of SQLite its code. */
int boundary_errno(void);

/* What reads: true where it fails before; afterwards its result goes through boundary_came. */
bool boundary_fails_before(const char *function, enum class of);
/* The same of a connection, which is closed both ways where its error says so. */
bool boundary_breaks(const char *function, int fd);
ssize_t boundary_came(const char *function, enum class of, ssize_t result);

/* What writes: how many of so many bytes go out, after which boundary_die where it is fewer; -1: it
 * fails. */
ssize_t boundary_goes(const char *function, int fd, size_t size);
void boundary_die(void) __attribute__((noreturn));

#endif
