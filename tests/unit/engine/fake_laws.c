/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants between a state file, an index and a log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_private.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/deadletter.h"
#include "suite.h"

struct excused {
    bool rows[FAKE_ROWS];
};

static int excuse(void *context, const struct dead_letter *letter)
{
    ((struct excused *)context)->rows[strtoul(letter->key + 1, NULL, 10)] = true;
    return 0;
}

/* Returns the row's last entry in the log, or FAKE_LOG. */
static size_t last_place(const struct fake *f, size_t row)
{
    for (size_t i = f->log_count; i-- > 0;) {
        if (f->log[i] == row) {
            return i;
        }
    }
    return FAKE_LOG;
}

static bool waits_for(const size_t *open, size_t count, size_t place)
{
    for (size_t i = 0; i < count; i++) {
        if (open[i] == place) {
            return true;
        }
    }
    return false;
}

static void expect_behind(const struct fake *f, const char *position, const struct excused *excused)
{
    size_t rows = FAKE_ROWS;
    size_t log = 0;
    size_t open[FAKE_OPEN_MOST];
    size_t open_count = fake_open_read(position, open);
    if (sscanf(position, "copy %zu from %zu", &rows, &log) != 2) {
        ck_assert_int_eq(sscanf(position, "log %zu", &log), 1);
    }
    for (size_t i = 0; i < rows; i++) {
        const struct fake_document *d = &f->documents[i];
        size_t place = last_place(f, i);
        bool read = place == FAKE_LOG || (place < log && !waits_for(open, open_count, place));
        bool told = !f->cursor || f->rows[i] >= 0;
        if (read && told && !excused->rows[i] && !f->unlogged[i]) {
            ck_assert_msg(d->present == (f->rows[i] >= 0) && (!d->present || d->n == f->rows[i]),
                          "the checkpoint is ahead: at \"%s\" row %zu is %ld and its document %ld",
                          position, i, f->rows[i], d->present ? d->n : -1);
        }
    }
}

void fake_expect_checkpoint(struct fake *f)
{
    struct err err;
    struct state *state;
    struct checkpoint c;
    struct excused excused = {0};
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(checkpoint_load(state, &c, &err), 0);
    ck_assert_int_eq(deadletter_each(state, excuse, &excused, &err), 0);
    if (c.index_uuid != NULL && fake_look_at(f, c.generation) &&
        strcmp(c.index_uuid, f->uuid) == 0) {
        ck_assert_int_ge(c.clock_ceiling, f->highest_sent);
        if (c.position != NULL && fake_life(c.position) == f->life) {
            expect_behind(f, c.position, &excused);
        }
    }
    checkpoint_release(&c);
    state_close(state);
}

static int forgive(void *context, const struct dead_letter *letter)
{
    struct fake *f = context;
    size_t row = (size_t)strtoul(letter->key + 1, NULL, 10);
    f->documents[row].present = f->rows[row] >= 0;
    f->documents[row].n = f->rows[row];
    return 0;
}

/* Open dead letters explain differences of their documents; all others are errors. */
static void forgive_letters(struct fake *f)
{
    struct err err;
    struct state *state;
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(deadletter_each(state, forgive, f, &err), 0);
    state_close(state);
}

void fake_expect_end(struct fake *f)
{
    (void)fake_look_at(f, f->alias);
    forgive_letters(f);
    ck_assert_msg(!f->version_went_back, "a version went back");
    /* checked separately, because a reconcile repairs the effect of a second load */
    ck_assert_msg(!f->begun_anew, "a reading that had a position began again from the start");
    ck_assert_msg(fake_equal(f), "index and table differ");
}

void fake_forget_sent(struct fake *f)
{
    f->highest_sent = 0;
    memset(f->sent, 0, sizeof(f->sent));
    for (size_t i = 0; i < FAKE_SHELF; i++) {
        f->indices[i].highest_sent = 0;
        memset(f->indices[i].sent, 0, sizeof(f->indices[i].sent));
        f->consumers[i].resumed = false;
    }
    f->resumed[0] = '\0';
}
