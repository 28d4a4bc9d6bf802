/* SPDX-License-Identifier: Apache-2.0 */
/* Lays out the lines of progress. */
#include "output/progress_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/terminal.h"
#include "rowferry/base/text.h"
#include "rowferry/base/units.h"

#define LINE_BYTES 4096
#define CELL_BYTES 64
#define GAP 2 /* between two columns */
#define BAR_COLUMNS 22
#define BAR_COLUMNS_LEAST 10

enum cell { CELL_NAME, CELL_STAGE, CELL_BAR, CELL_SHARE, CELL_ROWS, CELL_RATE, CELL_LEFT, CELLS };

struct table_line {
    char cell[CELLS][CELL_BYTES]; /* the bar's is empty: its width is known last */
    const char *text;             /* in place of all cells after the name; null: none */
    double share;                 /* negative if unknown */
};

struct columns_shown {
    size_t width[CELLS]; /* 0: left out */
};

/* --- one line --------------------------------------------------------------------------------- */

static char *progress_rows_left(char out[UNITS_BYTES], int64_t remaining_ms)
{
    return units_duration(out, (remaining_ms + 999) / 1000 * 1000);
}

void progress_rows_push_line(struct buf *out, const struct progress *progress)
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
        buf_printf(out, ", %s left", progress_rows_left(left, progress->remaining_ms));
    }
}

/* Appends a line that is safe for a terminal and has at most `width` columns. */
static void progress_rows_push_cut(struct buf *out, const struct buf *line, size_t width)
{
    struct buf safe;
    buf_init(&safe, LINE_BYTES);
    terminal_push_safe(&safe, buf_text(line), line->len);
    buf_push(out, buf_text(&safe), text_cut(buf_text(&safe), safe.len, width));
    buf_release(&safe);
}

static void progress_rows_push_only(struct buf *out, const struct progress_row *row, size_t width)
{
    struct buf line;
    buf_init(&line, LINE_BYTES);
    if (row->text != NULL) {
        buf_printf(&line, "%s: %s", row->pipeline, row->text);
    } else {
        progress_rows_push_line(&line, &row->progress);
    }
    progress_rows_push_cut(out, &line, width);
    buf_release(&line);
}

/* --- a table ---------------------------------------------------------------------------------- */

static void progress_rows_fill_numbers(struct table_line *l, const struct progress *p)
{
    char text[UNITS_BYTES];
    if (p->counters.rows_read == 0) {
        return;
    }
    if (p->share >= 0) {
        l->share = p->share;
        snprintf(l->cell[CELL_SHARE], CELL_BYTES, "%d %%", (int)(p->share * 100));
    }
    snprintf(l->cell[CELL_ROWS], CELL_BYTES, "%s rows", units_count(text, p->counters.rows_read));
    snprintf(l->cell[CELL_RATE], CELL_BYTES, "%s/s",
             units_count(text, (int64_t)p->rows_per_second));
    if (p->remaining_ms >= 0) {
        snprintf(l->cell[CELL_LEFT], CELL_BYTES, "%s left",
                 progress_rows_left(text, p->remaining_ms));
    }
}

static void progress_rows_fill(struct table_line *l, const struct progress_row *row)
{
    *l = (struct table_line){.text = row->text, .share = -1};
    snprintf(l->cell[CELL_NAME], CELL_BYTES, "%s", row->pipeline);
    if (row->text == NULL) {
        snprintf(l->cell[CELL_STAGE], CELL_BYTES, "%s", row->progress.stage);
        progress_rows_fill_numbers(l, &row->progress);
    }
}

/* The rows of pipelines that are done count too. The time left is the longest. */
static void progress_rows_fill_total(struct table_line *l, const struct progress_row *rows,
                                     size_t count)
{
    struct progress sum = {.share = -1, .remaining_ms = -1};
    size_t done = 0;
    for (size_t i = 0; i < count; i++) {
        const struct progress *p = &rows[i].progress;
        done += rows[i].done;
        sum.counters.rows_read += p->counters.rows_read;
        if (rows[i].at_work && rows[i].text == NULL) {
            sum.rows_per_second += p->rows_per_second;
            sum.remaining_ms =
                p->remaining_ms > sum.remaining_ms ? p->remaining_ms : sum.remaining_ms;
        }
    }
    *l = (struct table_line){.cell = {"total"}, .share = -1};
    snprintf(l->cell[CELL_STAGE], CELL_BYTES, "%zu/%zu done", done, count);
    progress_rows_fill_numbers(l, &sum);
}

static size_t progress_rows_sum(const struct columns_shown *shown)
{
    size_t sum = 0;
    for (size_t c = 0; c < CELLS; c++) {
        sum += shown->width[c] > 0 ? shown->width[c] + GAP : 0;
    }
    return sum > 0 ? sum - GAP : 0;
}

/* Chooses the columns that fit. */
static void progress_rows_measure(struct columns_shown *shown, const struct table_line *lines,
                                  size_t count, size_t width)
{
    static const enum cell dropped[] = {CELL_BAR, CELL_ROWS, CELL_RATE, CELL_LEFT, CELL_SHARE};
    *shown = (struct columns_shown){0};
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < CELLS; c++) {
            size_t len = strlen(lines[i].cell[c]);
            shown->width[c] = len > shown->width[c] ? len : shown->width[c];
        }
    }
    if (shown->width[CELL_NAME] > width / 2) {
        shown->width[CELL_NAME] = width / 2;
    }
    size_t used = progress_rows_sum(shown) + GAP;
    if (shown->width[CELL_SHARE] > 0 && used + BAR_COLUMNS_LEAST <= width) {
        shown->width[CELL_BAR] = width - used < BAR_COLUMNS ? width - used : BAR_COLUMNS;
    }
    for (size_t d = 0; d < sizeof(dropped) / sizeof(dropped[0]); d++) {
        if (progress_rows_sum(shown) > width) {
            shown->width[dropped[d]] = 0;
        }
    }
}

static void progress_rows_push_bar(struct buf *line, double share, size_t columns)
{
    size_t inner = columns - 2;
    size_t full = share >= 1 ? inner : share > 0 ? (size_t)(share * (double)inner) : 0;
    buf_push_char(line, '[');
    for (size_t i = 0; i < inner; i++) {
        buf_push_char(line, i < full ? '#' : '-');
    }
    buf_push_char(line, ']');
}

/* Appends a cell, with the blanks that its line needs before it: `at` is its first column. */
static void progress_rows_push_cell(struct buf *line, const struct table_line *l, enum cell cell,
                                    size_t width, size_t at)
{
    const char *text = l->cell[cell];
    size_t len = strlen(text) < width ? strlen(text) : width;
    bool bar = cell == CELL_BAR && l->share >= 0;
    if (len == 0 && !bar) {
        return;
    }
    size_t begin = cell > CELL_BAR ? at + width - len : at;
    while (line->len < begin) {
        buf_push_char(line, ' ');
    }
    if (bar) {
        progress_rows_push_bar(line, l->share, width);
    } else {
        buf_push(line, text, len);
    }
}

static void progress_rows_push_table_line(struct buf *out, const struct table_line *l,
                                          const struct columns_shown *shown, size_t width)
{
    struct buf line;
    size_t at = 0;
    buf_init(&line, LINE_BYTES);
    for (enum cell c = CELL_NAME; c < CELLS; c++) {
        if (shown->width[c] > 0) {
            progress_rows_push_cell(&line, l, c, shown->width[c], at);
            at += shown->width[c] + GAP;
        }
        if (c == CELL_NAME && l->text != NULL) {
            buf_printf(&line, "%*s%s", (int)(at - line.len), "", l->text);
            break;
        }
    }
    progress_rows_push_cut(out, &line, width);
    buf_release(&line);
}

static void progress_rows_push_table(struct buf *out, const struct progress_row *rows, size_t count,
                                     size_t at_work, size_t width, size_t height)
{
    char more[CELL_BYTES];
    struct columns_shown shown;
    size_t n = 0;
    /* one line is the total, another one counts the pipelines without a line */
    size_t most = at_work < height ? at_work : height > 2 ? height - 2 : 0;
    struct table_line *lines = mem_zero(most + 2, sizeof(*lines));
    for (size_t i = 0; i < count && n < most; i++) {
        if (rows[i].at_work) {
            progress_rows_fill(&lines[n++], &rows[i]);
        }
    }
    if (most < at_work && height > 1) {
        snprintf(more, sizeof(more), "and %zu more at work", at_work - most);
        lines[n++] = (struct table_line){.text = more};
    }
    progress_rows_fill_total(&lines[n++], rows, count);
    progress_rows_measure(&shown, lines, n, width);
    for (size_t i = 0; i < n; i++) {
        buf_push_text(out, i > 0 ? "\n" : "");
        progress_rows_push_table_line(out, &lines[i], &shown, width);
    }
    free(lines);
}

void progress_rows_push(struct buf *out, const struct progress_row *rows, size_t count,
                        size_t width, size_t height)
{
    size_t at_work = 0;
    for (size_t i = 0; i < count; i++) {
        at_work += rows[i].at_work;
    }
    if (at_work > 0 && count == 1) {
        progress_rows_push_only(out, &rows[0], width);
    } else if (at_work > 0) {
        progress_rows_push_table(out, rows, count, at_work, width, height);
    }
}
