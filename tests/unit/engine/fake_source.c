/* SPDX-License-Identifier: Apache-2.0 */
/* The port to a table in memory, and the simulated environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_private.h"
#include "rowferry/engine/rebuild/rebuild.h"
#include "rowferry/state/store.h"

struct fake_table {
    struct fake *fake;
    struct mapping mapping;
    struct columns columns;
    struct column column[1];
    struct plan plan;
};

static struct fake *source_fake(struct table_source *self)
{
    return ((struct fake_table *)(void *)self)->fake;
}

static int source_connect(struct table_source *self, struct source_facts *facts, struct err *err)
{
    struct fake_table *t = (void *)self;
    if (t->fake->fail_connects > 0) {
        t->fake->fail_connects--;
        return err_set(err, ERR_TRANSIENT, "could not connect");
    }
    *facts = (struct source_facts){"1/fake", FAKE_FINGERPRINT, &t->plan, NULL, 150018, NULL};
    return 0;
}

/* Returns the progress of a position. If two have the same length, the one with fewer open entries
 * is further. */
static int64_t reached(const char *position)
{
    size_t open[FAKE_OPEN_MOST];
    long log = -1;
    (void)sscanf(position, "log %ld", &log);
    return (int64_t)log * (FAKE_OPEN_MOST + 1) - (int64_t)fake_open_read(position, open);
}

static int source_mirrored(struct table_source *self, const char *consumer, const char *own,
                           struct mirrored *out, struct err *err)
{
    struct fake *f = source_fake(self);
    if (f->held) {
        return err_set(err, ERR_HELD, "held by another session");
    }
    if (!fake_listen_to(f, consumer) || f->mirror_log < 0) {
        *out = (struct mirrored){0};
        err_set(&out->why, ERR_STATE, "the source keeps nothing");
        return 0;
    }
    char text[128];
    snprintf(text, sizeof(text), "log %ld as %zu%s", f->mirror_log, f->registration,
             f->mirror_open);
    int64_t ahead = own != NULL ? reached(text) - reached(own) : 1;
    *out = (struct mirrored){.usable = ahead >= 0, .clock = f->mirror_clock};
    out->order = (ahead > 0) - (ahead < 0);
    if (!out->usable) {
        err_set(&out->why, ERR_STATE, "the source keeps an older one");
    }
    out->position = text_copy(text);
    out->letters = text_copy(f->mirror_letters);
    return 0;
}

static int source_claim(struct table_source *self, const char *name, struct err *err)
{
    (void)name;
    return source_fake(self)->held ? err_set(err, ERR_HELD, "held by another session") : 0;
}

static int source_capture(struct table_source *self, const char *consumer, struct capture **out,
                          struct err *err)
{
    (void)err;
    *out = fake_capture(source_fake(self), consumer);
    return 0;
}

const struct source_port_ops fake_source_ops = {.connect = source_connect,
                                                .claim = source_claim,
                                                .capture = source_capture,
                                                .mirrored = source_mirrored};

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
    /* in memory if possible, because the disk is not tested here */
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
    for (size_t i = 0; i < FAKE_SHELF; i++) {
        f->consumers[i].resumed = false;
    }
}

void fake_release(struct fake *f)
{
    fake_lose_state(f);
    rmdir(f->folder);
}

void fake_write(struct fake *f, size_t row, long value)
{
    f->before[f->log_count] = f->rows[row];
    f->rows[row] = value;
    f->unlogged[row] = false;
    f->log[f->log_count++] = row;
}

void fake_truncate(struct fake *f)
{
    for (size_t i = 0; i < FAKE_ROWS; i++) {
        f->unlogged[i] |= f->rows[i] >= 0;
        f->rows[i] = -1;
    }
    f->log[f->log_count++] = FAKE_TRUNCATE;
    f->durable = f->log_count;
}

void fake_leave(struct fake *f, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        f->unlogged[i] |= f->rows[i] >= 0;
        f->rows[i] = -1;
    }
    f->left++;
    f->durable = f->log_count;
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

static struct pipeline_options world_options(const struct fake *f, const struct fake_table *t)
{
    return (struct pipeline_options){
        .mode = f->requests_only ? PIPELINE_REQUESTS : PIPELINE_SYNC,
        .definition = {.name = "things",
                       .alias = f->to_index,
                       .mapping = &t->mapping,
                       .keep = f->keep},
        .limits = {.batch_bytes = 512,
                   .batch_operations = 5,
                   .in_flight = (unsigned)f->max_in_flight,
                   .window_bytes = FAKE_WINDOW_BYTES,
                   .document_bytes = 1 << 20,
                   .retry_budget_ms = 60000},
        .guard = {.share = f->guard_share, .count = f->guard_count},
        .reconcile_ms = f->reconcile_ms,
        .permission = {.deletes = f->allow_deletes},
        .rivals = f->rivals,
    };
}

typedef int (*work)(const struct pipeline_options *options, const struct pipeline_ports *ports,
                    struct pipeline_result *result, struct err *err);

/* Options of a rebuild, which runs beside a pipeline that has already checked for rivals. */
static struct rebuild_options beside(const struct pipeline_options *options,
                                     struct pipeline_options *own)
{
    *own = *options;
    own->rivals = RIVALS_NONE;
    return (struct rebuild_options){.pipeline = own,
                                    .keep = options->definition.keep,
                                    .allow_deletes = options->permission.deletes};
}

static int rebuild(const struct pipeline_options *options, const struct pipeline_ports *ports,
                   struct pipeline_result *result, struct err *err)
{
    struct pipeline_options own;
    struct rebuild_result rebuilt = {0};
    const struct rebuild_options wanted = beside(options, &own);
    const struct verify_ports used = {.pipeline = ports};
    (void)result;
    int rc = rebuild_want(&wanted, &used, REBUILD_NEW, false, err);
    return rc == 0 ? rebuild_swap(&wanted, &used, &rebuilt, err) : rc;
}

/* If `stop` is null, runs up to the swap, which its owner makes. */
static int fill_until(const struct pipeline_options *options, const struct pipeline_ports *ports,
                      const volatile sig_atomic_t *stop, struct err *err)
{
    struct pipeline_options own;
    struct rebuild_result rebuilt = {0};
    const struct rebuild_options wanted = beside(options, &own);
    const struct verify_ports used = {.pipeline = ports};
    struct fake *f = fake_of(ports->service.self);
    int rc = rebuild_fill(&wanted, &used, &rebuilt, err);
    own.hooks.stop = stop;
    rc = rc == 0 && stop != NULL ? rebuild_swap(&wanted, &used, &rebuilt, err) : rc;
    snprintf(f->filled, sizeof(f->filled), "%s", rebuilt.swapped ? rebuilt.generation : "");
    return rc;
}

static int fill(const struct pipeline_options *options, const struct pipeline_ports *ports,
                struct pipeline_result *result, struct err *err)
{
    (void)result;
    return fill_until(options, ports, NULL, err);
}

static int fill_and_stop(const struct pipeline_options *options, const struct pipeline_ports *ports,
                         struct pipeline_result *result, struct err *err)
{
    static const volatile sig_atomic_t stop = 1;
    (void)result;
    return fill_until(options, ports, &stop, err);
}

static int end_rebuild(const struct pipeline_options *options, const struct pipeline_ports *ports,
                       struct pipeline_result *result, struct err *err)
{
    struct pipeline_options own;
    struct rebuild_aborted aborted;
    const struct rebuild_options wanted = beside(options, &own);
    const struct verify_ports used = {.pipeline = ports};
    (void)result;
    return rebuild_abort(&wanted, &used, &aborted, err);
}

struct clock fake_clock(struct fake *f)
{
    return (struct clock){world_wall, world_monotonic, world_random, f};
}

int fake_open(struct fake *f, struct state *state, struct pipeline_ports *out,
              struct fake_table **table, struct err *err)
{
    struct fake_table *t = mem_zero(1, sizeof(*t));
    t->fake = f;
    *table = t;
    f->pages = 0;
    f->changes = f->looks = f->counts = f->scans = f->asked = f->deleted = 0;
    f->operations = 0;
    f->in_flight = 0;
    memset(f->told_times, 0, sizeof(f->told_times));
    *out = (struct pipeline_ports){
        .source = {&fake_source_ops, (void *)t},
        .service = fake_service_port(f),
        .state = state,
        .clock = fake_clock(f),
    };
    return table_compile(t, err);
}

void fake_close(struct fake_table *t)
{
    if (t != NULL) {
        plan_release(&t->plan);
        mapping_release(&t->mapping);
        free(t);
    }
}

static int world_work(struct fake *f, work run, struct pipeline_result *result, struct err *err)
{
    struct pipeline_result ignored;
    struct pipeline_ports ports;
    struct fake_table *t = NULL;
    struct state *state = NULL;
    int rc = state_open(&state, f->path, "things", err);
    if (rc == 0) {
        rc = fake_open(f, state, &ports, &t, err);
    }
    if (rc == 0) {
        const struct pipeline_options options = world_options(f, t);
        rc = run(&options, &ports, result != NULL ? result : &ignored, err);
    }
    fake_close(t);
    state_close(state);
    return rc;
}

int fake_sync(struct fake *f, struct pipeline_result *result, struct err *err)
{
    return world_work(f, pipeline_run, result, err);
}

int fake_rebuild(struct fake *f, struct err *err)
{
    return world_work(f, rebuild, NULL, err);
}

int fake_rebuild_fill(struct fake *f, struct err *err)
{
    return world_work(f, fill, NULL, err);
}

int fake_rebuild_stopped(struct fake *f, struct err *err)
{
    return world_work(f, fill_and_stop, NULL, err);
}

int fake_rebuild_abort(struct fake *f, struct err *err)
{
    return world_work(f, end_rebuild, NULL, err);
}
