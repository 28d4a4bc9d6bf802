/* SPDX-License-Identifier: Apache-2.0 */
/* A table in memory with a log of its changes, read in pages; and the world around it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_private.h"
#include "rowferry/state/store.h"

struct fake_capture {
    struct capture base;
    struct fake *fake;
    bool copying;
    size_t row;              /* copy: the next row */
    size_t log;              /* where the log was noted, or stands */
    size_t end;              /* of the page: a row while copying, else a length of the log */
    size_t keys[FAKE_LOG];   /* of a page of the log, or to read again */
    size_t places[FAKE_LOG]; /* of each the row or entry at which it was first met */
    size_t key_count, key_next, marked;
    bool rereading;
    size_t judged;  /* so much of the log was looked through */
    bool looking;   /* the page is a look ahead, */
    bool truncated; /* which found that */
    bool leaving;   /* the page tells that a member left, and nothing else */
    size_t told;    /* so many of those that left */
    char position[64];
    char key[16];
    char number[32];
    struct value values[2];
    char consumer[300];
};

static struct fake_capture *of(struct capture *c)
{
    return (struct fake_capture *)c;
}

static int capture_start(struct capture *c, struct buf *position, struct err *err)
{
    (void)err;
    struct fake *w = of(c)->fake;
    w->begun_anew |= strcmp(w->resumed, of(c)->consumer) == 0;
    snprintf(w->consumer, sizeof(w->consumer), "%s", of(c)->consumer);
    w->mirror_log = -1;
    w->left_met = w->left;
    buf_printf(position, "copy 0 from %zu", of(c)->fake->log_count);
    return 0;
}

static int capture_resume(struct capture *c, const char *position, struct err *err)
{
    struct fake_capture *f = of(c);
    snprintf(f->fake->resumed, sizeof(f->fake->resumed), "%s", f->consumer);
    if (sscanf(position, "copy %zu from %zu", &f->row, &f->log) == 2) {
        f->copying = true;
        return 0;
    }
    if (sscanf(position, "log %zu", &f->log) == 1) {
        f->copying = false;
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

/* The whole of the log's rest in one page. */
static void look_ahead(struct fake_capture *f, size_t start)
{
    const struct fake *w = f->fake;
    f->truncated = false;
    for (size_t i = start; !f->copying && start >= f->judged && i < w->log_count; i++) {
        f->truncated |= w->log[i] == FAKE_TRUNCATE;
    }
    bool large = f->base.guarded && w->log_count - start > (size_t)f->base.harmless;
    f->looking = !f->copying && start >= f->judged && (f->truncated || large);
    f->fake->looks += f->looking;
}

/* Before a page of the log, as the change log does: told once, and relied on from the next begin.
 */
static bool tells_left(struct fake_capture *f)
{
    struct fake *w = f->fake;
    if (f->copying || w->left == w->left_met) {
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

static int capture_begin(struct capture *c, struct err *err)
{
    (void)err;
    struct fake_capture *f = of(c);
    struct fake *w = f->fake;
    fake_step(w);
    if (w->between_pages != NULL) {
        w->between_pages(w, w->pages);
    }
    w->pages++;
    f->rereading = false;
    f->key_count = 0;
    f->key_next = 0;
    f->marked = 0;
    f->leaving = tells_left(f);
    if (f->leaving) {
        return 0;
    }
    size_t start = f->copying ? f->row : f->log;
    look_ahead(f, start);
    size_t last = f->copying ? FAKE_ROWS : start < f->judged ? f->judged : w->log_count;
    f->end = !f->looking && start + w->page_rows < last ? start + w->page_rows : last;
    for (size_t i = start; i < f->end; i++) {
        if (!f->copying && w->log[i] != FAKE_TRUNCATE) {
            push_key(f, w->log[i], i);
        } else if (!f->copying) {
            continue;
        } else if (w->rows[i] >= 0) {
            push_key(f, i, i);
        }
    }
    return 0;
}

static int capture_begin_keys(struct capture *c, const struct span *keys, size_t count,
                              bool only_gone, struct err *err)
{
    (void)err;
    struct fake_capture *f = of(c);
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

static void end_page(struct fake_capture *f, struct change *change)
{
    change->kind = CHANGE_PAGE;
    if (f->rereading) {
        return;
    }
    if (f->leaving) {
        *change = (struct change){.kind = CHANGE_JUDGE, .left = true};
        return;
    }
    if (f->looking) {
        *change = (struct change){.kind = CHANGE_JUDGE, .truncated = f->truncated};
        f->judged = f->end;
        return;
    }
    change->copying = f->copying;
    if (f->copying && f->end < FAKE_ROWS) {
        f->row = f->end;
        snprintf(f->position, sizeof(f->position), "copy %zu from %zu", f->row, f->log);
    } else {
        f->log = f->copying ? f->log : f->end;
        f->copying = false;
        snprintf(f->position, sizeof(f->position), "log %zu", f->log);
    }
    change->whole = change->copying || f->log >= f->judged;
    change->drained = !change->copying && f->end == f->fake->log_count;
    change->position = f->position;
}

/* What comes from here on is all at or behind the place of the next key. */
static bool give_mark(struct fake_capture *f, struct change *change)
{
    size_t step = f->fake->mark_rows;
    if (f->rereading || f->leaving || f->looking || step == 0 || f->key_next < f->marked + step ||
        f->key_next == f->key_count) {
        return false;
    }
    f->marked = f->key_next;
    size_t place = f->places[f->key_next];
    if (f->copying) {
        snprintf(f->position, sizeof(f->position), "copy %zu from %zu", place, f->log);
    } else {
        snprintf(f->position, sizeof(f->position), "log %zu", place);
    }
    *change = (struct change){.kind = CHANGE_MARK, .position = f->position};
    return true;
}

static int capture_next(struct capture *c, struct change *change, struct err *err)
{
    struct fake_capture *f = of(c);
    fake_step(f->fake);
    if (++f->fake->changes == f->fake->break_change) {
        return err_set(err, ERR_TRANSIENT, "connection lost");
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
    change->kind = n >= 0 ? CHANGE_ROW : looking ? CHANGE_FORESEEN : CHANGE_GONE;
    change->key = span_make(f->key, strlen(f->key));
    change->row = (struct row){f->values, 2};
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
    (void)err;
    struct fake *f = of(c)->fake;
    long log;
    fake_step(f);
    if (!f->mirror_lost && sscanf(mirror->position, "log %ld", &log) == 1 && log >= f->mirror_log) {
        f->mirror_log = log;
        f->mirror_clock = mirror->clock;
        snprintf(f->mirror_letters, sizeof(f->mirror_letters), "%s", mirror->letters);
    }
    return 0;
}

static int capture_forget(struct capture *c, const char *consumer, struct err *err)
{
    (void)err;
    snprintf(of(c)->fake->forgotten, sizeof(of(c)->fake->forgotten), "%s", consumer);
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

/* --- the port ------------------------------------------------------------------------------ */

struct fake_table {
    struct fake *fake;
    struct mapping mapping;
    struct columns columns;
    struct column column[1];
    struct plan plan;
};

static int source_connect(void *self, struct source_facts *facts, struct err *err)
{
    struct fake_table *t = self;
    if (t->fake->fail_connects > 0) {
        t->fake->fail_connects--;
        return err_set(err, ERR_TRANSIENT, "could not connect");
    }
    *facts = (struct source_facts){"1/fake", FAKE_FINGERPRINT, &t->plan, NULL};
    return 0;
}

static int source_mirrored(void *self, const char *consumer, const char *own, struct mirrored *out,
                           struct err *err)
{
    const struct fake *f = ((struct fake_table *)self)->fake;
    if (f->held) {
        return err_set(err, ERR_HELD, "held by another session");
    }
    if (strcmp(f->consumer, consumer) != 0 || f->mirror_log < 0) {
        *out = (struct mirrored){0};
        err_set(&out->why, ERR_STATE, "the source keeps nothing");
        return 0;
    }
    char text[32];
    snprintf(text, sizeof(text), "log %ld", f->mirror_log);
    *out = (struct mirrored){.usable = true, .clock = f->mirror_clock};
    out->order = own == NULL || f->mirror_log > strtol(own + 4, NULL, 10);
    out->position = text_copy(text);
    out->letters = text_copy(f->mirror_letters);
    return 0;
}

static int source_capture(void *self, const char *consumer, struct capture **out, struct err *err)
{
    (void)err;
    struct fake_capture *f = mem_zero(1, sizeof(*f));
    f->base.ops = &fake_capture_ops;
    f->fake = ((struct fake_table *)self)->fake;
    snprintf(f->consumer, sizeof(f->consumer), "%s", consumer);
    *out = &f->base;
    return 0;
}

const struct source_port_ops fake_source_ops = {
    .connect = source_connect, .capture = source_capture, .mirrored = source_mirrored};

/* --- the world ----------------------------------------------------------------------------- */

static int64_t world_monotonic(void *context)
{
    return ((struct fake *)context)->now_us;
}

static int64_t world_wall(void *context)
{
    const struct fake *f = context;
    return f->now_us + f->wall_jump_us;
}

static uint64_t world_random(void *context)
{
    struct fake *f = context;
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return f->random ^ (f->random >> 29);
}

void fake_init(struct fake *f, size_t rows)
{
    *f = (struct fake){.now_us = INT64_C(1700000000000000),
                       .page_rows = 8,
                       .max_in_flight = 3,
                       .guard_share = 0.1,
                       .guard_count = 100,
                       .source = "1/fake",
                       .to_index = "things"};
    for (size_t i = 0; i < FAKE_ROWS; i++) {
        f->rows[i] = i < rows ? (long)i * 10 : -1;
    }
    /* in memory where that is possible: nothing here tests the disk */
    snprintf(f->folder, sizeof(f->folder), "%s/rowferry-fake-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(f->folder) == NULL) {
        abort();
    }
    snprintf(f->path, sizeof(f->path), "%s/state.db", f->folder);
}

void fake_lose_state(struct fake *f)
{
    static const char *const endings[] = {"", "-journal", ".lock"};
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s%s", f->path, endings[i]);
        unlink(path);
    }
    f->resumed[0] = '\0';
}

void fake_release(struct fake *f)
{
    fake_lose_state(f);
    rmdir(f->folder);
}

void fake_write(struct fake *f, size_t row, long value)
{
    f->rows[row] = value;
    f->log[f->log_count++] = row;
}

void fake_truncate(struct fake *f)
{
    for (size_t i = 0; i < FAKE_ROWS; i++) {
        f->rows[i] = -1;
    }
    f->log[f->log_count++] = FAKE_TRUNCATE;
}

void fake_leave(struct fake *f, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        f->rows[i] = -1;
    }
    f->left++;
}

static int table_compile(struct fake_table *t, struct err *err)
{
    t->column[0] = (struct column){.name = (char[]){"n"},
                                   .type = (char[]){"int8"},
                                   .declared = (char[]){"bigint"},
                                   .category = 'b'};
    t->columns = (struct columns){t->column, 1};
    int rc = mapping_parse(&t->mapping, "{\"properties\":{\"n\":{\"type\":\"long\"}}}", err);
    if (rc < 0) {
        return rc;
    }
    struct plan_input input = {
        .mapping = &t->mapping, .columns = &t->columns, .document_bytes = 1 << 20};
    return plan_compile(&t->plan, &input, NULL, err);
}

static int world_sync(struct fake *f, struct fake_table *t, struct state *state,
                      struct pipeline_result *result, struct err *err)
{
    struct pipeline_options options = {.name = "things",
                                       .requests_only = f->requests_only,
                                       .guard_share = f->guard_share,
                                       .guard_count = f->guard_count,
                                       .reconcile_ms = f->reconcile_ms,
                                       .allow_deletes = f->allow_deletes,
                                       .alias = f->to_index,
                                       .mapping = &t->mapping,
                                       .batch_bytes = 512,
                                       .batch_operations = 5,
                                       .in_flight = (unsigned)f->max_in_flight,
                                       .window_bytes = 4096,
                                       .document_bytes = 1 << 20,
                                       .retry_budget_ms = 60000};
    struct pipeline_ports ports = {
        .source = {&fake_source_ops, t},
        .service = {&fake_service_ops, f},
        .state = state,
        .clock = {world_wall, world_monotonic, world_random, f},
    };
    return pipeline_sync(&options, &ports, result, err);
}

int fake_sync(struct fake *f, struct pipeline_result *result, struct err *err)
{
    struct pipeline_result ignored;
    struct fake_table t = {.fake = f};
    struct state *state = NULL;
    f->pages = 0;
    f->changes = f->looks = f->counts = f->scans = f->asked = f->deleted = 0;
    f->operations = 0;
    f->in_flight = 0;
    memset(f->told_times, 0, sizeof(f->told_times));
    int rc = state_open(&state, f->path, "things", err);
    if (rc == 0) {
        rc = table_compile(&t, err);
    }
    if (rc == 0) {
        rc = world_sync(f, &t, state, result != NULL ? result : &ignored, err);
    }
    plan_release(&t.plan);
    mapping_release(&t.mapping);
    state_close(state);
    return rc;
}
