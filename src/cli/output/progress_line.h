/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress line of a terminal: refreshed in place on stderr, and shared by the pipelines'
 * threads.
 */
#ifndef ROWFERRY_CLI_PROGRESS_LINE_H
#define ROWFERRY_CLI_PROGRESS_LINE_H

#include <pthread.h>
#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/engine/counters.h"

struct progressline {
    bool wanted; /* stderr is a terminal, and --no-progress was not given */
    bool shown;
    pthread_mutex_t lock;
};

void progressline_init(struct progressline *p, bool allowed);
void progressline_release(struct progressline *p);

/* The callback of pipeline_options; the context is the progress line. */
void progressline_draw(void *context, const struct progress *progress);

/* Shows a text of the caller. */
void progressline_show(struct progressline *p, const char *text);

/* Removes the line before other output is written. */
void progressline_clear(struct progressline *p);

/* Appends the text for a progress report. Pure. */
void progressline_push(struct buf *out, const struct progress *progress);

#endif
