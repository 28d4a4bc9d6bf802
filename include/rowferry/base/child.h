/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a shell command with a time limit, in a process group of its own. If the limit is exceeded,
 * the command and all processes that it started are ended.
 */
#pragma once

#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

/*
 * Runs /bin/sh -c command. It reads `input` on its standard input; what it prints is appended to
 * `output`, or dropped if that is null. Returns 0 with *status, the exit status or 128 plus the
 * signal that ended it; ETIMEDOUT; ECANCELED if stop_fd became readable (-1: none); or the errno of
 * what failed.
 */
int child_run(const char *command, struct span input, int64_t timeout_ms, int stop_fd,
              struct buf *output, int *status);
