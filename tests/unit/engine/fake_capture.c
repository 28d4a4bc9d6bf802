/* SPDX-License-Identifier: Apache-2.0 */
/* A table in memory with a log of its changes, read in pages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_private.h"

struct fake_capture {
    struct capture base;
    struct fake *fake;
    bool copying;
    size_t row;              /* initial load: the next row */
    size_t log;              /* length of the log at the start of the load, or its read part */
    size_t end;              /* end of the page: a row during the load, else a length of the log */
    size_t keys[FAKE_LOG];   /* of a page of the log, or to read again */
    size_t places[FAKE_LOG]; /* for each key, the row or log entry of its first occurrence */
    size_t key_count, key_next, marked;
    bool rereading;
    size_t behind[FAKE_OPEN_MOST]; /* entries before `log` whose transactions were open */
    size_t behind_count;
    size_t open[FAKE_OPEN_MOST]; /* entries of the transactions open at the start of the page */
    size_t open_count;
    size_t late;    /* number of the page's keys that come from `behind` */
    size_t horizon; /* for a cursor: all transactions below had ended at the start of the pass */
    bool passed;    /* the pass is complete */
    size_t judged;  /* length of the log covered by a prescan */
    bool looking;   /* the page is a prescan */
    bool truncated; /* it found a TRUNCATE */
    bool leaving;   /* the page only reports that a member left */
    size_t told;    /* number of left members already reported */
    enum { SWEEP_NONE, SWEEP_DUE, SWEEP_TELLS } sweep; /* the scan after a re-snapshot */
    char position[128];
    char key[16];
    char number[32];
    struct value values[2];
    char consumer[300];
    size_t life; /* life of the server in which the session began */
};

static struct fake_capture *of(struct capture *c)
{
    return (struct fake_capture *)c;
}

/* Returns the first entry with an open transaction, or the length of the log. */
static size_t first_open(const struct fake *w)
{
    size_t place = w->log_count;
    for (size_t i = 0; i < w->open_count; i++) {
        place = w->opens[i].place < place ? w->opens[i].place : place;
    }
    return place;
}

static void register_consumer(struct fake_capture *f)
{
    struct fake *w = f->fake;
    if (strcmp(w->consumer, f->consumer) != 0) {
        fake_shelve_consumer(w);
    }
    snprintf(w->consumer, sizeof(w->consumer), "%s", f->consumer);
    w->mirror_log = -1;
    w->left_met = w->left;
    w->registered = (long)first_open(w);
    w->registration = ++w->registrations;
    w->durable = w->log_count;
}

static int capture_start(struct capture *c, struct buf *position, struct err *err)
{
    (void)err;
    struct fake *w = of(c)->fake;
    char life[32];
    w->begun_anew |= strcmp(w->resumed, of(c)->consumer) == 0;
    register_consumer(of(c));
    of(c)->life = w->life;
    fake_say_life(w, life, sizeof(life));
    buf_printf(position, "copy 0 from %zu%s", first_open(w), life);
    return 0;
}

/* The source has no data for a consumer that was dropped. So everything is loaded again in place,
 * and a scan finds the documents whose rows were deleted. */
static void copy_again(struct fake_capture *f)
{
    register_consumer(f);
    f->base.again = "the source does not know the consumer";
    f->sweep = SWEEP_DUE;
    f->copying = true;
    f->row = 0;
    f->log = first_open(f->fake);
    for (size_t i = 0; i < FAKE_ROWS; i++) {
        f->fake->unlogged[i] = true;
    }
}

/* The consumer was dropped, or registered again by a process that died before its checkpoint. */
static bool is_given_up(const struct fake_capture *f, const char *position)
{
    return f->fake->several && !f->fake->cursor &&
           (!fake_listen_to(f->fake, f->consumer) ||
            fake_registration(position) != f->fake->registration);
}

/* A crash of the server ends all sessions. */
static int check_session(const struct fake_capture *f, struct err *err)
{
    return f->life == f->fake->life ? 0 : err_set(err, ERR_TRANSIENT, "the server has crashed");
}

static int capture_resume(struct capture *c, const char *position, struct err *err)
{
    struct fake_capture *f = of(c);
    f->base.again = NULL;
    f->life = f->fake->life;
    f->sweep = strstr(position, " again") != NULL ? SWEEP_DUE : SWEEP_NONE;
    bool given_up = is_given_up(f, position);
    if (given_up) {
        copy_again(f);
    }
    snprintf(f->fake->resumed, sizeof(f->fake->resumed), "%s", f->consumer);
    if (given_up) {
        return 0;
    }
    if (sscanf(position, "copy %zu from %zu", &f->row, &f->log) == 2) {
        f->copying = true;
        return 0;
    }
    if (sscanf(position, "log %zu", &f->log) == 1) {
        f->copying = false;
        f->passed = true;
        f->behind_count = fake_open_read(position, f->behind);
        fake_fall_back(f->fake, position, &f->log, f->behind, &f->behind_count);
        f->horizon = f->log;
        return 0;
    }
    return err_set(err, ERR_STATE, "not a position: %s", position);
}

static void push_key(struct fake_capture *f, size_t key, size_t place)
{
    for (size_t i = 0; i < f->key_count; i++) {
        if (f->keys[i] == key) {
            return;
        }
    }
    f->places[f->key_count] = place;
    f->keys[f->key_count++] = key;
}

/* Decides if the page is a prescan, which covers the whole rest of the log. */
static void look_ahead(struct fake_capture *f, size_t start)
{
    const struct fake *w = f->fake;
    f->truncated = false;
    for (size_t i = start; !f->copying && start >= f->judged && i < w->log_count; i++) {
        f->truncated |= w->log[i] == FAKE_TRUNCATE;
    }
    bool large = f->base.guarded && w->log_count - start > (size_t)f->base.harmless;
    f->looking = !f->copying && !w->cursor && start >= f->judged && (f->truncated || large);
    f->fake->looks += f->looking;
}

/* Before a page of the log, as in the change log: reported once, and final from the next begin. */
static bool tells_left(struct fake_capture *f)
{
    struct fake *w = f->fake;
    if (f->copying || w->cursor || w->left == w->left_met) {
        return false;
    }
    if (f->told == w->left) {
        w->left_met = w->left;
        return false;
    }
    f->told = w->left;
    f->judged = 0;
    return true;
}

/* Reported once, and final from the next begin. */
static bool tells_sweep(struct fake_capture *f)
{
    if (f->copying || f->sweep == SWEEP_NONE) {
        return false;
    }
    f->sweep = f->sweep == SWEEP_DUE ? SWEEP_TELLS : SWEEP_NONE;
    f->judged = f->sweep == SWEEP_TELLS ? 0 : f->judged;
    return f->sweep == SWEEP_TELLS;
}

/* Returns true if the place is the row's last change, which is the only one a cursor sees. */
static bool is_last(const struct fake *w, size_t place)
{
    for (size_t i = place + 1; i < w->log_count; i++) {
        if (w->log[i] == w->log[place]) {
            return false;
        }
    }
    return w->rows[w->log[place]] >= 0;
}

/* Adds entries skipped earlier whose transactions have ended. */
static void push_behind(struct fake_capture *f)
{
    const struct fake *w = f->fake;
    for (size_t i = 0; i < f->behind_count; i++) {
        if (w->log[f->behind[i]] < FAKE_ROWS) {
            push_key(f, w->log[f->behind[i]], f->log);
        }
    }
    f->late = f->key_count;
}

static void push_page(struct fake_capture *f, size_t start)
{
    const struct fake *w = f->fake;
    for (size_t i = start; i < f->end; i++) {
        if (f->copying ? w->rows[i] >= 0 : w->log[i] < FAKE_ROWS && (!w->cursor || is_last(w, i))) {
            push_key(f, f->copying ? i : w->log[i], i);
        }
    }
}

/* Rows beyond the horizon are read again once the horizon has passed them. */
static void begin_pass(struct fake_capture *f)
{
    if (f->fake->cursor && !f->copying && f->passed) {
        f->log = f->horizon < f->log ? f->horizon : f->log;
        f->horizon = first_open(f->fake);
        f->passed = false;
    }
}

/* Records the entries of all transactions that are open at the start of the page. */
static void note_open(struct fake_capture *f)
{
    f->open_count = 0;
    for (size_t i = 0; i < f->fake->open_count; i++) {
        f->open[f->open_count++] = f->fake->opens[i].place;
    }
}

static int capture_begin(struct capture *c, struct err *err)
{
    struct fake_capture *f = of(c);
    struct fake *w = f->fake;
    (void)fake_listen_to(w, f->consumer); /* a rebuild may have selected another one */
    fake_step(w);
    if (w->between_pages != NULL) {
        w->between_pages(w, w->pages);
    }
    if (check_session(f, err) < 0) {
        return ERR_TRANSIENT;
    }
    w->pages++;
    f->rereading = false;
    f->key_count = 0;
    f->key_next = 0;
    f->marked = 0;
    f->late = 0;
    f->leaving = tells_left(f);
    if (f->leaving || tells_sweep(f)) {
        return 0;
    }
    begin_pass(f);
    note_open(f);
    size_t start = f->copying ? f->row : f->log;
    look_ahead(f, start);
    size_t last = f->copying ? FAKE_ROWS : start < f->judged ? f->judged : w->log_count;
    f->end = !f->looking && start + w->page_rows < last ? start + w->page_rows : last;
    if (!f->copying && !w->cursor) {
        push_behind(f);
    }
    push_page(f, start);
    return 0;
}

static int capture_begin_keys(struct capture *c, const struct span *keys, size_t count,
                              bool only_gone, struct err *err)
{
    struct fake_capture *f = of(c);
    if (check_session(f, err) < 0) {
        return ERR_TRANSIENT;
    }
    f->rereading = true;
    f->key_count = 0;
    f->key_next = 0;
    for (size_t i = 0; i < count; i++) {
        size_t key = (size_t)strtoul(keys[i].data + 1, NULL, 10);
        if (!only_gone || f->fake->rows[key] < 0) {
            push_key(f, key, 0);
        }
    }
    return 0;
}

static const char *again(const struct fake_capture *f)
{
    return f->sweep != SWEEP_NONE ? " again" : "";
}

/* Writes the position: the log is read up to `to`. It lists the entries that were open when the
 * page began, including some that were read anyway; reading them again is harmless. */
static void say_log(struct fake_capture *f, size_t to)
{
    const struct fake *w = f->fake;
    size_t open[FAKE_OPEN_MOST * 2];
    size_t count = 0;
    size_t place = w->cursor && f->horizon < to ? f->horizon : to;
    char life[32];
    fake_say_life(w, life, sizeof(life));
    snprintf(f->position, sizeof(f->position), "log %zu%s%s", place, life, again(f));
    for (size_t i = 0; !w->cursor && i < f->open_count; i++) {
        if (f->open[i] < to) {
            open[count++] = f->open[i];
        }
    }
    fake_open_print(f->position, sizeof(f->position), open, count);
}

static void say_copy(struct fake_capture *f, size_t row)
{
    char life[32];
    fake_say_life(f->fake, life, sizeof(life));
    snprintf(f->position, sizeof(f->position), "copy %zu from %zu%s%s", row, f->log, life,
             again(f));
}

static void end_page(struct fake_capture *f, struct change *change)
{
    change->kind = CHANGE_PAGE;
    if (f->rereading) {
        return;
    }
    if (f->leaving) {
        *change = (struct change){.kind = CHANGE_PRESCAN_END, .left = true};
        return;
    }
    if (f->sweep == SWEEP_TELLS) {
        *change = (struct change){.kind = CHANGE_PRESCAN_END, .again = true};
        return;
    }
    if (f->looking) {
        *change = (struct change){.kind = CHANGE_PRESCAN_END, .truncated = f->truncated};
        f->judged = f->end;
        return;
    }
    change->copying = f->copying;
    if (f->copying && f->end < FAKE_ROWS) {
        f->row = f->end;
        say_copy(f, f->row);
    } else {
        bool copied = f->copying;
        f->log = copied ? f->log : f->end;
        f->copying = false;
        f->passed = copied || f->end == f->fake->log_count;
        f->horizon = copied ? f->log : f->horizon;
        f->open_count = copied ? 0 : f->open_count;
        say_log(f, f->log);
        f->behind_count = fake_open_read(f->position, f->behind);
    }
    change->whole = change->copying || f->log >= f->judged;
    change->drained = !change->copying && f->end == f->fake->log_count;
    change->position = f->position;
}

/* Emits a safepoint: all later changes of the page are at or behind the place of the next key. */
static bool give_mark(struct fake_capture *f, struct change *change)
{
    size_t step = f->fake->mark_rows;
    if (f->rereading || f->leaving || f->looking || step == 0 || f->key_next < f->marked + step ||
        f->key_next == f->key_count || f->key_next < f->late) {
        return false;
    }
    f->marked = f->key_next;
    size_t place = f->places[f->key_next];
    if (f->copying) {
        say_copy(f, place);
    } else {
        say_log(f, place);
    }
    *change = (struct change){.kind = CHANGE_SAFEPOINT, .position = f->position};
    return true;
}

static int capture_next(struct capture *c, struct change *change, struct err *err)
{
    struct fake_capture *f = of(c);
    fake_step(f->fake);
    if (++f->fake->changes == f->fake->break_change) {
        return err_set(err, ERR_TRANSIENT, "connection lost");
    }
    if (check_session(f, err) < 0) {
        return ERR_TRANSIENT;
    }
    if (give_mark(f, change)) {
        return 0;
    }
    bool looking = f->looking && !f->leaving && !f->rereading;
    while (looking && f->key_next < f->key_count && f->fake->rows[f->keys[f->key_next]] >= 0) {
        f->key_next++;
    }
    if (f->key_next == f->key_count) {
        end_page(f, change);
        return 0;
    }
    size_t key = f->keys[f->key_next++];
    long n = f->fake->rows[key];
    snprintf(f->key, sizeof(f->key), "k%zu", key);
    snprintf(f->number, sizeof(f->number), "%ld", n);
    f->values[0] = (struct value){.text = f->key, .len = strlen(f->key)};
    f->values[1] = (struct value){.text = f->number, .len = strlen(f->number)};
    change->kind = n >= 0 ? CHANGE_UPSERT : looking ? CHANGE_PRESCAN_DELETE : CHANGE_DELETE;
    change->key = span_make(f->key, strlen(f->key));
    change->row = (struct row){.values = f->values, .count = 2};
    return 0;
}

static int capture_fd(const struct capture *c)
{
    (void)c;
    return -1;
}

static void capture_progress(const struct capture *c, struct capture_progress *out)
{
    (void)c;
    *out = (struct capture_progress){.rows_estimated = -1, .share = 1};
}

static int capture_release(struct capture *c, const struct mirror *mirror, bool now,
                           struct err *err)
{
    (void)now;
    struct fake *f = of(c)->fake;
    long log;
    fake_step(f);
    if (check_session(of(c), err) < 0) {
        return ERR_TRANSIENT;
    }
    if (f->cursor) {
        return 0; /* without installed objects, no backup can be stored */
    }
    bool kept = fake_listen_to(f, of(c)->consumer) && !f->mirror_lost &&
                strstr(mirror->position, " again") == NULL &&
                fake_life(mirror->position) == f->life;
    if (kept && sscanf(mirror->position, "log %ld", &log) == 1 && log >= f->mirror_log) {
        const char *open = strstr(mirror->position, " but");
        f->mirror_log = log;
        f->durable = f->log_count;
        snprintf(f->mirror_open, sizeof(f->mirror_open), "%s", open != NULL ? open : "");
        f->mirror_clock = mirror->clock;
        snprintf(f->mirror_letters, sizeof(f->mirror_letters), "%s", mirror->letters);
    }
    return 0;
}

static int capture_forget(struct capture *c, const char *consumer, struct err *err)
{
    (void)err;
    struct fake *w = of(c)->fake;
    snprintf(w->forgotten, sizeof(w->forgotten), "%s", consumer);
    for (size_t i = 0; i < FAKE_SHELF; i++) {
        if (strcmp(w->consumers[i].consumer, consumer) == 0) {
            w->consumers[i].consumer[0] = '\0';
        }
    }
    return 0;
}

static void capture_free(struct capture *c)
{
    free(c);
}

static const struct capture_ops fake_capture_ops = {
    .start = capture_start,
    .resume = capture_resume,
    .begin = capture_begin,
    .begin_keys = capture_begin_keys,
    .next = capture_next,
    .fd = capture_fd,
    .progress = capture_progress,
    .release = capture_release,
    .forget = capture_forget,
    .free = capture_free,
};

struct capture *fake_capture(struct fake *f, const char *consumer)
{
    struct fake_capture *c = mem_zero(1, sizeof(*c));
    c->base.ops = &fake_capture_ops;
    c->fake = f;
    snprintf(c->consumer, sizeof(c->consumer), "%s", consumer);
    (void)fake_listen_to(f, consumer);
    return &c->base;
}
