/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the progress line. */
#include "output/progress_line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "output/terminal.h"
#include "rowferry/base/text.h"
#include "rowferry/base/units.h"

#define LINE_BYTES 4096
#define WIDTH_DEFAULT 80

void progress_line_init(struct progress_line *p, bool allowed)
{
    const char *kind = getenv("TERM");
    bool able = kind != NULL && strcmp(kind, "dumb") != 0 && isatty(STDERR_FILENO) == 1;
    *p = (struct progress_line){.wanted = allowed && able};
    pthread_mutex_init(&p->lock, NULL);
}

void progress_line_release(struct progress_line *p)
{
    pthread_mutex_destroy(&p->lock);
}

void progress_line_push(struct buf *out, const struct progress *progress)
{
    char count[UNITS_BYTES];
    char rate[UNITS_BYTES];
    char left[UNITS_BYTES];
    buf_printf(out, "%s: %s", progress->pipeline, progress->stage);
    if (progress->counters.rows_read == 0) {
        return;
    }
    if (progress->share >= 0) {
        buf_printf(out, " %d %%", (int)(progress->share * 100));
    }
    buf_printf(out, ", %s rows, %s/s", units_count(count, progress->counters.rows_read),
               units_count(rate, (int64_t)progress->rows_per_second));
    if (progress->remaining_ms >= 0) {
        buf_printf(out, ", %s left",
                   units_duration(left, (progress->remaining_ms + 999) / 1000 * 1000));
    }
}

static size_t progress_line_terminal_width(void)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : WIDTH_DEFAULT;
}

static void progress_line_write_out(const struct buf *line)
{
    ssize_t ignored = write(STDERR_FILENO, buf_text(line), line->len);
    (void)ignored;
}

/* Leaves the cursor at the start of the line, so that a log line overwrites it. */
void progress_line_show(struct progress_line *p, const char *text)
{
    if (!p->wanted) {
        return;
    }
    struct buf line;
    buf_init(&line, LINE_BYTES);
    buf_push_literal(&line, "\r\033[K");
    terminal_push_safe(&line, text,
                       text_cut(text, strlen(text), progress_line_terminal_width() - 1));
    buf_push_char(&line, '\r');
    pthread_mutex_lock(&p->lock);
    progress_line_write_out(&line);
    p->shown = true;
    pthread_mutex_unlock(&p->lock);
    buf_release(&line);
}

void progress_line_draw(void *context, const struct progress *progress)
{
    struct progress_line *p = context;
    struct buf text;
    buf_init(&text, LINE_BYTES);
    if (p->wanted) {
        progress_line_push(&text, progress);
        progress_line_show(p, buf_text(&text));
    }
    buf_release(&text);
}

void progress_line_clear(struct progress_line *p)
{
    static const char erase[] = "\r\033[K";
    pthread_mutex_lock(&p->lock);
    if (p->shown) {
        ssize_t ignored = write(STDERR_FILENO, erase, sizeof(erase) - 1);
        (void)ignored;
        p->shown = false;
    }
    pthread_mutex_unlock(&p->lock);
}
