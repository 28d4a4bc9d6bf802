/* SPDX-License-Identifier: Apache-2.0 */
/* Draws progress on a terminal. */
#include "output/progress_line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "rowferry/base/clock.h"
#include "rowferry/base/file.h"
#include "rowferry/base/log.h"
#include "rowferry/base/text.h"

#define DRAWN_BYTES ((size_t)1 << 20)
#define DRAW_US 100000 /* least time between two draws of several lines */
#define WIDTH_DEFAULT 80
#define HEIGHT_DEFAULT 24

static const char erase[] = "\r\033[J";

void progress_line_init(struct progress_line *p, bool allowed)
{
    const char *kind = getenv("TERM");
    bool able = kind != NULL && strcmp(kind, "dumb") != 0 && isatty(STDERR_FILENO) == 1;
    *p = (struct progress_line){.wanted = allowed && able};
    pthread_mutex_init(&p->lock, NULL);
    if (p->wanted) {
        log_erase_with(erase);
    }
}

void progress_line_release(struct progress_line *p)
{
    if (p->wanted) {
        log_erase_with(NULL);
    }
    for (size_t i = 0; i < p->count; i++) {
        free(p->rows[i].text);
    }
    free(p->rows);
    pthread_mutex_destroy(&p->lock);
}

/* --- drawing; the lock is held ---------------------------------------------------------------- */

static struct progress_row *progress_line_row_of(struct progress_line *p, const char *pipeline)
{
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->rows[i].pipeline, pipeline) == 0) {
            return &p->rows[i];
        }
    }
    p->rows = mem_grow(p->rows, p->count + 1, sizeof(*p->rows));
    p->rows[p->count] = (struct progress_row){.pipeline = pipeline};
    return &p->rows[p->count++];
}

static size_t progress_line_count_breaks(const struct buf *lines)
{
    size_t n = 0;
    for (size_t i = 0; i < lines->len; i++) {
        n += buf_text(lines)[i] == '\n';
    }
    return n;
}

/* Draws the lines without wrapping, because the terminal may just have become narrower. Leaves the
 * last column and the last line free. */
static void progress_line_redraw(struct progress_line *p)
{
    struct winsize size;
    struct buf lines;
    struct buf drawn;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && size.ws_row > 1;
    size_t width = known ? size.ws_col : WIDTH_DEFAULT;
    size_t height = known ? size.ws_row : HEIGHT_DEFAULT;
    buf_init(&lines, DRAWN_BYTES);
    buf_init(&drawn, DRAWN_BYTES);
    progress_rows_push(&lines, p->rows, p->count, width - 1, height - 1);
    size_t breaks = progress_line_count_breaks(&lines);
    buf_printf(&drawn, "%s\033[?7l%s\033[?7h\r", erase, buf_text(&lines));
    if (breaks > 0) {
        buf_printf(&drawn, "\033[%zuA", breaks);
    }
    (void)file_write_all(STDERR_FILENO, buf_text(&drawn), drawn.len);
    p->shown = true;
    buf_release(&lines);
    buf_release(&drawn);
}

/* Sets what a pipeline does. A single line is drawn at once, because it may be the last report for
 * long; several lines are drawn often enough by the reports of all. */
static void progress_line_set(struct progress_line *p, const char *pipeline,
                              const struct progress *progress, const char *text)
{
    struct clock clock = clock_system();
    if (!p->wanted) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    struct progress_row *row = progress_line_row_of(p, pipeline);
    int64_t now_us = clock_monotonic_us(&clock);
    free(row->text);
    row->text = text != NULL ? text_copy(text) : NULL;
    row->progress = progress != NULL ? *progress : row->progress;
    row->at_work = true;
    if (p->count == 1 || now_us - p->drawn_us >= DRAW_US) {
        p->drawn_us = now_us;
        progress_line_redraw(p);
    }
    pthread_mutex_unlock(&p->lock);
}

/* --- for the commands ------------------------------------------------------------------------- */

void progress_line_add(struct progress_line *p, const char *pipeline)
{
    (void)progress_line_row_of(p, pipeline);
}

void progress_line_draw(void *context, const struct progress *progress)
{
    progress_line_set(context, progress->pipeline, progress, NULL);
}

void progress_line_show(struct progress_line *p, const char *pipeline, const char *text)
{
    progress_line_set(p, pipeline, NULL, text);
}

void progress_line_end(struct progress_line *p, const char *pipeline)
{
    struct clock clock = clock_system();
    if (!p->wanted) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    struct progress_row *row = progress_line_row_of(p, pipeline);
    row->at_work = false;
    row->done = true;
    p->drawn_us =
        clock_monotonic_us(&clock); /* leaves time for a result that goes through a pipe */
    if (p->shown) {
        (void)file_write_all(STDERR_FILENO, erase, sizeof(erase) - 1);
        p->shown = false;
    }
    pthread_mutex_unlock(&p->lock);
}
