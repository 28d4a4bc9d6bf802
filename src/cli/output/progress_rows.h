/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of progress on a terminal. Pure.
 *
 * A command with one pipeline has one line. With several, each pipeline at work has a line, and the
 * last one is their total. The columns are as wide as their contents; if the terminal is too
 * narrow, the bar is left out first, then rows, rate, time left and share.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/buf.h"
#include "rowferry/engine/counters.h"

/* A pipeline of the command. */
struct progress_row {
    const char *pipeline; /* borrowed */
    bool at_work;
    bool done;
    char *text; /* what it does, if it cannot be measured; null: `progress` */
    struct progress progress;
};

/* Appends the lines of all rows at work, separated by line breaks. None is longer than `width`
 * columns, and there are at most `height`. Appends nothing if no row is at work. */
void progress_rows_push(struct buf *out, const struct progress_row *rows, size_t count,
                        size_t width, size_t height);

/* Appends the line of a single pipeline, whatever its length. */
void progress_rows_push_line(struct buf *out, const struct progress *progress);
