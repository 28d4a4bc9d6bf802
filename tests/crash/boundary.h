/* SPDX-License-Identifier: Apache-2.0 */
/* Interface between a program's system calls and boundary.c, which decides their fate; the other
 * files implement the calls. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum class { CLASS_BOUNDARY = 1, CLASS_SYSTEM, CLASS_MEMORY, CLASS_SQLITE };

/* For calls that fail, or kill, before they are carried out. Returns true, with errno set, if the
 * call fails. */
bool boundary_fails(const char *function, enum class of);

/* Returns the errno of failures, or the SQLite code. */
int boundary_errno(void);

/* For calls that read. Returns true if the call fails; otherwise its result must be passed to
 * boundary_came. */
bool boundary_fails_before(const char *function, enum class of);
/* Same for a connection, which is shut down both ways if the error implies it. */
bool boundary_breaks(const char *function, int fd);
ssize_t boundary_came(const char *function, enum class of, ssize_t result);

/* For calls that write. Returns how many of the `size` bytes may go out, followed by boundary_die
 * if that is fewer; -1: the call fails. */
ssize_t boundary_goes(const char *function, int fd, size_t size);
void boundary_die(void) __attribute__((noreturn));
