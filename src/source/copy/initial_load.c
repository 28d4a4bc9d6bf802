/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change log as a capture for the engine: one connection, and more during an initial load.
 *
 * A page of the initial load consists of one range per snapshot worker. Each range is read in a
 * transaction of its own under its own lock. The page ends when all of them have ended. All begin
 * after the page's version was taken. Two ranges have different snapshots: a row that was moved
 * from one to the other is read twice or not at all. The log mends this: it has an entry for the
 * move, and is read from before the load began.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "copy/snapshot_ranges.h"
#include "copy/snapshot_worker.h"
#include "copy/split.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"

#define TEXT_MAX_BYTES ((size_t)1 << 20)
#define TURN_ROWS 64       /* rows of one worker before the next one's turn, to keep all busy */
#define WORTH_KEY_PAGES 4U /* smaller tables are not divided */

struct snapshot_worker {
    struct changelog *log;
    size_t part;
    bool reading;
};

struct initial_load {
    struct changelog log; /* must be first: the leader, and the capture's own state */
    struct capture_ops ops;
    struct snapshot_worker workers[CHANGELOG_READERS_MOST];
    size_t worker_count; /* the first is the leader, and the only one outside an initial load */
    size_t readers;      /* as configured */
    bool grown;          /* the other workers were added, as far as useful */

    struct snapshot_ranges left; /* ranges to be read */
    bool open;                   /* a page of the load is open */
    size_t reading;
    size_t turn; /* index of the worker whose turn it is */
    size_t turn_rows;
    int epoll; /* the workers' sockets; -1: not needed yet */
    struct buf text;
};

static struct initial_load *initial_load_of(struct capture *capture)
{
    return (struct initial_load *)capture;
}

/* Sets the change's position to that of the load. Returns false if the load is complete. */
static bool initial_load_report_position(struct initial_load *c, struct change *change)
{
    buf_reset(&c->text);
    bool more = snapshot_ranges_print(&c->left, c->log.position.at.last, &c->text);
    changelog_position_print_history(&c->log.position, &c->log.catalogue, &c->text);
    change->position = buf_text(&c->text);
    return more;
}

/* --- readers --------------------------------------------------------------------------------- */

/* Returns to one connection, between pages. */
static void initial_load_alone(struct initial_load *c)
{
    for (size_t i = 1; i < c->worker_count; i++) {
        struct changelog *log = c->workers[i].log;
        c->log.position.rows_read += log->position.rows_read;
        changelog_ops.free(&log->capture);
    }
    if (c->epoll >= 0) {
        close(c->epoll);
    }
    c->epoll = -1;
    c->worker_count = 1;
    c->workers[0].reading = false;
    c->reading = 0;
    c->open = false;
    c->grown = false;
}

/* Divides the keys into a range per worker; one range if the server has no statistics. */
static int initial_load_divide(struct initial_load *c, struct err *err)
{
    char *values[CHANGELOG_READERS_MOST];
    size_t count = 0;
    struct changelog *log = &c->log;
    const struct copy_range *all = &c->left.items[0].range;
    bool whole = c->left.count == 1 && all->until == NULL;
    if (!whole || log->catalogue.table->estimated_rows <
                      (int64_t)(WORTH_KEY_PAGES * log->options->page_rows)) {
        return 0;
    }
    int rc = split_find(log->pg, log->catalogue.table, all, c->readers, values, &count, err);
    snapshot_ranges_divide(&c->left, (const char *const *)values, count);
    for (size_t i = 0; i < count; i++) {
        free(values[i]);
    }
    return rc == ERR_REJECTED ? 0 : rc; /* then the key merely cannot be divided */
}

/* Adds as many workers as have something to read. If a connection fails, fewer are used. */
static int initial_load_grow(struct initial_load *c, struct err *err)
{
    if (c->grown || c->readers == 1) {
        return 0;
    }
    c->grown = true;
    bool by_keys = c->left.kind == POSITION_KEYS;
    int rc = by_keys ? initial_load_divide(c, err) : 0;
    size_t pages =
        (size_t)((snapshot_ranges_blocks_left(&c->left) + c->log.options->page_blocks - 1) /
                 c->log.options->page_blocks);
    size_t of_use = by_keys ? c->left.count : pages;
    while (rc == 0 && c->worker_count < c->readers && c->worker_count < of_use) {
        struct changelog *helper;
        struct err why;
        if (snapshot_worker_open(&helper, &c->log, &why) < 0) {
            break;
        }
        c->workers[c->worker_count++] = (struct snapshot_worker){.log = helper};
    }
    if (rc == 0 && c->worker_count > 1 && c->epoll < 0) {
        c->epoll = epoll_create1(EPOLL_CLOEXEC);
        rc = c->epoll < 0 ? err_set(err, ERR_TRANSIENT,
                                    "could not wait for several connections: %s", strerror(errno))
                          : 0;
    }
    return rc;
}

static int initial_load_watch(struct initial_load *c, const struct snapshot_worker *worker,
                              int operation, struct err *err)
{
    struct epoll_event event = {.events = EPOLLIN};
    int fd = PQsocket(worker->log->pg->conn);
    if (c->epoll >= 0 && epoll_ctl(c->epoll, operation, fd, &event) < 0) {
        return err_set(err, ERR_TRANSIENT, "could not wait for several connections: %s",
                       strerror(errno));
    }
    return 0;
}

/* --- pages ----------------------------------------------------------------------------------- */

/* Sets a worker to the beginning of a range; returns false if none is left. */
static bool initial_load_assign(struct initial_load *c, struct snapshot_worker *worker)
{
    bool leads = worker == &c->workers[0];
    char *last = text_copy(c->log.position.at.last);
    worker->part = snapshot_ranges_take(&c->left, c->log.options->page_blocks, leads);
    if (worker->part != SNAPSHOT_RANGES_NONE) {
        snapshot_ranges_position(&c->left, worker->part, last, &worker->log->position.at);
    }
    free(last);
    return worker->part != SNAPSHOT_RANGES_NONE;
}

/* The table was rewritten to another file: the leader has begun with its first blocks. */
static void initial_load_restart(struct initial_load *c)
{
    snapshot_ranges_set(&c->left, &c->log.position.at);
    for (size_t i = 1; i < c->worker_count; i++) {
        c->workers[i].log->position.rows_read = 0;
    }
    c->workers[0].part = snapshot_ranges_take(&c->left, c->log.options->page_blocks, true);
}

static int initial_load_start_worker(struct initial_load *c, struct snapshot_worker *worker,
                                     struct err *err)
{
    worker->reading = true;
    c->reading++;
    return initial_load_watch(c, worker, EPOLL_CTL_ADD, err);
}

static int initial_load_begin_leader(struct initial_load *c, struct err *err)
{
    struct snapshot_worker *worker = &c->workers[0];
    (void)initial_load_assign(c, worker);
    int rc = changelog_ops.begin(&worker->log->capture, err);
    if (rc == 0 && worker->log->position.at.filenode != c->left.filenode) {
        initial_load_restart(c);
    }
    return rc == 0 ? initial_load_start_worker(c, worker, err) : rc;
}

static int initial_load_begin_helper(struct initial_load *c, struct snapshot_worker *worker,
                                     struct err *err)
{
    if (!initial_load_assign(c, worker)) {
        return 0;
    }
    int rc = snapshot_worker_begin(worker->log, err);
    c->log.capture.adapted = worker->log->capture.adapted;
    if (rc > 0) {
        c->left.items[worker->part].taken = false;
        return 0;
    }
    if (rc == 0 && worker->log->position.at.filenode != c->left.filenode) {
        rc = err_set(err, ERR_TRANSIENT, "the table was rewritten just now");
    }
    return rc == 0 ? initial_load_start_worker(c, worker, err) : rc;
}

static int initial_load_begin_copy(struct initial_load *c, struct err *err)
{
    int rc = initial_load_grow(c, err);
    if (rc == 0) {
        rc = initial_load_begin_leader(c, err);
    }
    for (size_t i = 1; i < c->worker_count && rc == 0; i++) {
        rc = initial_load_begin_helper(c, &c->workers[i], err);
    }
    c->open = rc == 0;
    c->turn = c->turn_rows = 0;
    return rc;
}

/* Ends the initial load; the leader continues with the log. */
static void initial_load_leave_copy(struct initial_load *c)
{
    struct position *at = &c->log.position.at;
    const struct position log = {.kind = POSITION_LOG, .last = text_copy(at->last)};
    position_release(at);
    *at = log;
    snapshot_ranges_set(&c->left, at);
    initial_load_alone(c);
}

/* Ends a worker's range: with the page if it was the last one, else with a safepoint. */
static int initial_load_end_worker(struct initial_load *c, struct snapshot_worker *worker,
                                   struct change *change, struct err *err)
{
    snapshot_ranges_move(&c->left, worker->part, &worker->log->position.at);
    worker->reading = false;
    c->reading--;
    change->kind = c->reading > 0 ? CHANGE_SAFEPOINT : CHANGE_PAGE;
    bool more = initial_load_report_position(c, change);
    int rc = initial_load_watch(c, worker, EPOLL_CTL_DEL, err);
    if (c->reading > 0) {
        return rc;
    }
    c->open = false;
    snapshot_ranges_drop_done(&c->left);
    if (!more) {
        initial_load_leave_copy(c);
    }
    return rc;
}

static void initial_load_pass_turn(struct initial_load *c)
{
    c->turn = (c->turn + 1) % c->worker_count;
    c->turn_rows = 0;
}

/* Returns the next change of the worker whose turn it is. */
static int initial_load_step(struct initial_load *c, struct change *change, struct err *err)
{
    struct snapshot_worker *worker = &c->workers[c->turn];
    int rc = changelog_ops.next(&worker->log->capture, change, err);
    if (rc < 0) {
        c->log.capture.adapted = worker->log->capture.adapted;
        return rc;
    }
    switch (change->kind) {
    case CHANGE_WAIT:
        initial_load_pass_turn(c);
        return 0;
    case CHANGE_SAFEPOINT:
        snapshot_ranges_move(&c->left, worker->part, &worker->log->page.safepoint.position);
        (void)initial_load_report_position(c, change);
        return 0;
    case CHANGE_PAGE:
        return initial_load_end_worker(c, worker, change, err);
    default:
        if (++c->turn_rows == TURN_ROWS) {
            initial_load_pass_turn(c);
        }
        return 0;
    }
}

/* --- the capture ----------------------------------------------------------------------------- */

static int initial_load_start(struct capture *capture, struct buf *position, struct err *err)
{
    struct initial_load *c = initial_load_of(capture);
    initial_load_alone(c);
    int rc = changelog_ops.start(capture, position, err);
    if (rc == 0) {
        snapshot_ranges_set(&c->left, &c->log.position.at);
    }
    return rc;
}

/* The position of a load by keys does not contain its progress, so the share of the rest is
 * estimated once. */
static int initial_load_count_read(struct initial_load *c, struct err *err)
{
    double left = 1;
    struct changelog *log = &c->log;
    if (c->left.kind != POSITION_KEYS || log->position.rows_read > 0 ||
        log->catalogue.table->estimated_rows <= 0) {
        return 0;
    }
    int rc = split_left(log->pg, log->catalogue.table, &c->left, &left, err);
    log->position.rows_read = (int64_t)((1 - left) * (double)log->catalogue.table->estimated_rows);
    return rc == ERR_REJECTED ? 0 : rc; /* then the share of such a key is merely unknown */
}

static int initial_load_resume(struct capture *capture, const char *position, struct err *err)
{
    struct initial_load *c = initial_load_of(capture);
    initial_load_alone(c);
    int rc = changelog_ops.resume(capture, position, err);
    if (rc == 0) {
        snapshot_ranges_set(&c->left, &c->log.position.at);
        rc = initial_load_count_read(c, err);
    }
    return rc;
}

static int initial_load_begin(struct capture *capture, struct err *err)
{
    struct initial_load *c = initial_load_of(capture);
    return c->left.kind == POSITION_LOG ? changelog_ops.begin(capture, err)
                                        : initial_load_begin_copy(c, err);
}

static int initial_load_next(struct capture *capture, struct change *change, struct err *err)
{
    struct initial_load *c = initial_load_of(capture);
    if (!c->open) {
        return changelog_ops.next(capture, change, err);
    }
    for (size_t waiting = 0; waiting < c->worker_count; waiting++) {
        if (!c->workers[c->turn].reading) {
            initial_load_pass_turn(c);
            continue;
        }
        int rc = initial_load_step(c, change, err);
        if (rc < 0 || change->kind != CHANGE_WAIT) {
            return rc;
        }
    }
    *change = (struct change){.kind = CHANGE_WAIT};
    return 0;
}

static int initial_load_fd(const struct capture *capture)
{
    const struct initial_load *c = (const struct initial_load *)capture;
    const struct changelog *log = &c->log;
    if (c->open && c->reading > 1) {
        return c->epoll;
    }
    for (size_t i = 1; i < c->worker_count; i++) {
        log = c->workers[i].reading ? c->workers[i].log : log;
    }
    return PQsocket(log->pg->conn);
}

static void initial_load_progress(const struct capture *capture, struct capture_progress *out)
{
    const struct initial_load *c = (const struct initial_load *)capture;
    const struct table *table = c->log.catalogue.table;
    *out = (struct capture_progress){table != NULL ? table->estimated_rows : -1, 0, 1};
    for (size_t i = 0; i < c->worker_count; i++) {
        out->rows_read += c->workers[i].log->position.rows_read;
    }
    if (c->left.kind == POSITION_BLOCKS && c->left.blocks > 0) {
        out->share = 1 - (double)snapshot_ranges_blocks_left(&c->left) / (double)c->left.blocks;
    } else if (c->left.kind == POSITION_KEYS) {
        double rows = (double)out->rows_estimated;
        out->share = rows > (double)out->rows_read ? (double)out->rows_read / rows : 0;
    }
}

static void initial_load_free(struct capture *capture)
{
    struct initial_load *c = initial_load_of(capture);
    initial_load_alone(c);
    snapshot_ranges_release(&c->left);
    buf_release(&c->text);
    changelog_ops.free(capture);
}

int changelog_open(struct capture **out, struct pg *pg, const struct changelog_options *o,
                   struct err *err)
{
    (void)err;
    struct initial_load *c = mem_zero(1, sizeof(*c));
    changelog_init(&c->log, pg, o);
    c->ops = changelog_ops;
    c->ops.start = initial_load_start;
    c->ops.resume = initial_load_resume;
    c->ops.begin = initial_load_begin;
    c->ops.next = initial_load_next;
    c->ops.fd = initial_load_fd;
    c->ops.progress = initial_load_progress;
    c->ops.free = initial_load_free;
    c->log.capture.ops = &c->ops;
    c->workers[0].log = &c->log;
    c->worker_count = 1;
    c->readers = o->readers > 1 ? o->readers : 1;
    c->readers = c->readers < CHANGELOG_READERS_MOST ? c->readers : CHANGELOG_READERS_MOST;
    c->left.kind = POSITION_LOG;
    c->epoll = -1;
    buf_init(&c->text, TEXT_MAX_BYTES);
    *out = &c->log.capture;
    return 0;
}
