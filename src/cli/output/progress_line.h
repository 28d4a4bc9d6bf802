/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress on a terminal: one line, or one for each of several pipelines and a total, refreshed in
 * place on stderr. Shared by the pipelines' threads.
 *
 * Between two writes the cursor is at the first column of the first line, and nothing but these
 * lines is below it. Whoever prints something else first erases them (log_erase_with), and the next
 * report draws them again below it. So no writer needs to wait for another.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "output/progress_rows.h"

struct progress_line {
    bool wanted; /* stderr is a terminal, and --no-progress was not given */
    bool shown;
    int64_t drawn_us;
    pthread_mutex_t lock;
    struct progress_row *rows;
    size_t count;
};

void progress_line_init(struct progress_line *p, bool allowed);
void progress_line_release(struct progress_line *p);

/* Announces one of several pipelines; they are shown in this order. The name is borrowed. */
void progress_line_add(struct progress_line *p, const char *pipeline);

/* The callback of pipeline_hooks; the context is the progress line. */
void progress_line_draw(void *context, const struct progress *progress);

/* Shows a text of the caller for a pipeline. */
void progress_line_show(struct progress_line *p, const char *pipeline, const char *text);

/* Removes the line of a pipeline that is done, before its result is printed. */
void progress_line_end(struct progress_line *p, const char *pipeline);
