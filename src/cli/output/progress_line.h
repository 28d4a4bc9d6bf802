/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress line of a terminal: refreshed in place on stderr, and shared by the pipelines'
 * threads.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/engine/counters.h"

struct progress_line {
    bool wanted; /* stderr is a terminal, and --no-progress was not given */
    bool shown;
    pthread_mutex_t lock;
};

void progress_line_init(struct progress_line *p, bool allowed);
void progress_line_release(struct progress_line *p);

/* The callback of pipeline_hooks; the context is the progress line. */
void progress_line_draw(void *context, const struct progress *progress);

/* Shows a text of the caller. */
void progress_line_show(struct progress_line *p, const char *text);

/* Removes the line before other output is written. */
void progress_line_clear(struct progress_line *p);

/* Appends the text for a progress report. Pure. */
void progress_line_push(struct buf *out, const struct progress *progress);
