/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the pipeline worker through random histories: those of the engine's simulation
 * (tests/unit/engine/test_simulation.c), and the worker's own events: reloads, pauses, guard stops
 * and their permissions, a source that cannot be opened, a lease that is lost and returned, and
 * stops at any moment. The same invariants must hold after each process (fake_laws.c). After a calm
 * period the index must equal the table.
 *
 * Each run is a separate process, as there. ROWFERRY_SEEDS is the number of seeds,
 * ROWFERRY_SEEDS_FROM the first; ROWFERRY_SEED runs a single one.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "fake_worker.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/live_progress.h"
#include "storm.h"

#define PROCESSES 5
#define STEPS_TO_STOP 600
#define HOUR_MS INT64_C(3600000)
#define CALM_MS INT64_C(1200000) /* twice the longest wait for requests on their way, and more */
#define SILENT ((enum log_level)(LOG_ERROR + 1))

enum worker_happening {
    WORKER_RELOADED,
    WORKER_PAUSED,
    WORKER_RESUMED,
    WORKER_PERMITTED,
    WORKER_AWAY,
    WORKER_LOST,
    WORKER_TOOK_OVER,
    WORKER_STOPPED,
    WORKER_HAPPENED_COUNT,
};

static const char *const names[WORKER_HAPPENED_COUNT] = {
    "reloads",          "pauses",      "resumes",   "permissions",
    "unopened sources", "lost leases", "takeovers", "stops"};

/* In memory shared by all processes of a history. */
struct shared {
    struct storm storm;
    size_t stop_after; /* steps of the next run */
    int64_t until_us;  /* if calm: the end of the run */
    long happened[WORKER_HAPPENED_COUNT];
};

static struct shared *shared;
static struct fake_worker w; /* of a child */

static void note(enum worker_happening happening)
{
    shared->happened[happening]++;
}

/* --- events of the worker, in a child --------------------------------------------------------- */

static void stop_if_due(void)
{
    const struct fake *f = w.fake;
    if (storm->calm ? f->now_us >= shared->until_us : --shared->stop_after == 0) {
        fake_worker_stop(&w);
        shared->happened[WORKER_STOPPED] += !storm->calm;
    }
}

static void reload(struct fake *f)
{
    w.pipeline.limits.batch_operations = 1 + (int64_t)fake_dice(f, 5);
    w.pipeline.delete_guard.count = (int64_t)fake_dice(f, 30);
    fake_worker_reload(&w);
    pipeline_worker_send_order(&w.worker, PIPELINE_WORKER_BEGIN_ANEW);
    note(WORKER_RELOADED);
}

/* At each call of a port. */
static void step(struct fake *f)
{
    storm_step(f);
    stop_if_due();
    size_t dice = storm->calm ? 300 : fake_dice(f, 300);
    if (dice == 0) {
        reload(f);
    } else if (dice == 1) {
        fake_worker_ask(&w, REQUEST_PAUSE, "");
        note(WORKER_PAUSED);
    } else if (dice == 2 && w.lease_state == LEASE_HOLDER_HOLDS) {
        fake_worker_lease(&w, LEASE_HOLDER_TAKEN);
        note(WORKER_LOST);
    }
}

static int open_or_fail(struct fake_worker *worker, struct err *err)
{
    if (storm->calm || fake_dice(worker->fake, 6) > 0) {
        return 0;
    }
    note(WORKER_AWAY);
    return err_set(err, ERR_TRANSIENT, "could not open the source");
}

/* Permits what the guard refused. */
static void permit(void)
{
    struct err err;
    struct guard_stop stop;
    bool known = false;
    char at[32];
    OK(guard_stop_read(w.worker.session.state, &stop, &known, &err));
    if (known) {
        snprintf(at, sizeof(at), "%lld", (long long)stop.at_us);
        fake_worker_ask(&w, stop.operations > 0 ? REQUEST_ALLOW_REJECTIONS : REQUEST_ALLOW_DELETES,
                        at);
        note(WORKER_PERMITTED);
    }
}

/* Ends what the worker waits for. */
static void help(void)
{
    const char *stage = pipeline_worker_stage(&w.worker);
    if (strcmp(stage, "guard") == 0) {
        permit();
    } else if (strcmp(stage, LIVE_PROGRESS_PAUSED) == 0) {
        fake_worker_ask(&w, REQUEST_RESUME, "");
        note(WORKER_RESUMED);
    } else if (strcmp(stage, LIVE_PROGRESS_STANDING_BY) == 0) {
        fake_worker_lease(&w, LEASE_HOLDER_HOLDS);
        note(WORKER_TOOK_OVER);
    }
}

/* At each wait between two rounds. */
static void waited(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    stop_if_due();
    if (!storm->calm && fake_dice(worker->fake, 3) == 0) {
        storm_writes(worker->fake, 3);
    }
    if (storm->calm || fake_dice(worker->fake, 4) == 0) {
        help();
    }
}

static int work(struct fake *f)
{
    fake_worker_init(&w, f);
    w.opened = open_or_fail;
    w.waited = waited;
    f->step = step;
    w.pipeline.limits.poll_max_ms = storm->calm ? 30000 : 1000;
    fake_worker_reload(&w);
    /* a cursor cannot stand by for another host */
    w.worker.mode = !f->cursor && (storm->calm || fake_dice(f, 3) > 0)
                        ? PIPELINE_WORKER_STANDS_BY
                        : PIPELINE_WORKER_ENDS_IF_HELD;
    (void)fake_worker_run(&w);
    const struct err *err = w.worker.outcome.err;
    int rc = err != NULL ? (int)err->class : 0;
    if (rc < 0 && storm->calm) {
        fprintf(stderr, "%s\n", err->message);
    }
    fake_worker_release(&w);
    return -rc;
}

/* --- processes -------------------------------------------------------------------------------- */

static int in_a_process(struct fake *f)
{
    storm->steps = 0;
    pid_t pid = fork();
    if (pid == 0) {
        int code = work(f);
        _exit(code == 0 ? 0 : 10 + code); /* a failed check ends with 1 */
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    fake_expect_checkpoint(f);
    ck_assert_msg(!f->double_key, "two operations of one key were in flight together");
    return WEXITSTATUS(status);
}

static void stormy_process(struct fake *f)
{
    storm_writes(f, 20);
    if (fake_dice(f, 6) == 0) {
        storm_truncate(f);
    }
    if (fake_dice(f, 4) == 0) {
        storm_leave(f);
    }
    if (!f->cursor && fake_dice(f, 4) == 0) {
        storm_switch_host(f);
    }
    if (fake_dice(f, 8) == 0) {
        storm_lose_state(f);
    }
    if (f->alias[0] != '\0' && fake_dice(f, 4) == 0) {
        storm_meddle(f);
    }
    shared->stop_after = 1 + fake_dice(f, STEPS_TO_STOP);
    storm->crash_after = fake_dice(f, 3) > 0 ? 0 : 1 + fake_dice(f, 300);
    storm->server_crash_after = f->cursor || fake_dice(f, 4) > 0 ? 0 : 1 + fake_dice(f, 300);
    f->break_change = fake_dice(f, 3) > 0 ? 0 : 1 + fake_dice(f, 40);
    f->fail_connects = (int)fake_dice(f, 3);
    storm->happened[HAPPENED_BREAK] += f->break_change > 0;
    int rc = in_a_process(f);
    ck_assert_msg(rc == 0 || rc == CRASHED || rc == 10 - ERR_TRANSIENT || rc == 10 - ERR_STATE ||
                      rc == 10 - ERR_HELD,
                  "a worker ended with %d", rc);
}

/* Runs without faults until every scan that may be due has been made. */
static void calm_process(struct fake *f)
{
    storm->calm = true;
    storm->crash_after = storm->server_crash_after = storm->jump_dice = 0;
    f->break_change = 0;
    fake_end_open(f, true);
    shared->until_us = f->now_us + (CALM_MS + 2 * f->reconcile_ms) * 1000;
    int rc = in_a_process(f);
    ck_assert_msg(rc == 0, "a calm worker ended with %d (cursor %d)", rc, f->cursor);
}

static void init_storm(struct fake *f, uint64_t seed)
{
    fake_init(f, 40);
    f->random = seed * UINT64_C(0x9E3779B97F4A7C15) + 7;
    f->fault = storm_fault;
    f->judge = storm_judge;
    f->between_pages = storm_between_pages;
    f->page_rows = 3 + fake_dice(f, 8);
    f->mark_rows = fake_dice(f, 4);
    f->guard_count = (int64_t)fake_dice(f, 30);
    f->guard_share = 0.5;
    f->cursor = fake_dice(f, 4) == 0;
    f->reconcile_ms = f->cursor || fake_dice(f, 5) == 0 ? HOUR_MS : 0;
    f->several = true;
    f->keep = (int64_t)fake_dice(f, 2);
    snprintf(storm->other_path, sizeof(storm->other_path), "%s/other.db", f->folder);
    storm->poisoned = FAKE_ROWS;
    storm->happened[HAPPENED_CURSOR] += f->cursor;
    storm->calm = false;
    storm->fault_dice = fake_dice(f, 2) == 0 ? 4 : 12;
    storm->jump_dice = fake_dice(f, 2) == 0 ? 100 : 500;
}

static void run_seed(uint64_t seed)
{
    struct fake *f = &storm->fake;
    storm->seed = seed;
    init_storm(f, seed);
    for (size_t processes = 1 + fake_dice(f, PROCESSES); processes > 0; processes--) {
        stormy_process(f);
    }
    fake_deliver(f, true); /* might otherwise arrive after a reconcile listed the index */
    calm_process(f);
    fake_expect_end(f);
    storm_release(f);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

START_TEST(after_quiet_the_index_equals_the_table)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    storm = &shared->storm;
    log_configure(getenv("ROWFERRY_SEED") != NULL ? LOG_INFO : SILENT, LOG_TEXT);
    if (getenv("ROWFERRY_SEED") != NULL) {
        run_seed(setting("ROWFERRY_SEED", 0));
        return;
    }
    uint64_t seeds = setting("ROWFERRY_SEEDS", 60);
    uint64_t from = setting("ROWFERRY_SEEDS_FROM", 1);
    for (uint64_t seed = from; seed < from + seeds; seed++) {
        run_seed(seed);
    }
    printf("simulation: %llu seeds of the worker from %llu on", (unsigned long long)seeds,
           (unsigned long long)from);
    for (size_t i = 0; i < WORKER_HAPPENED_COUNT; i++) {
        printf(", %ld %s", shared->happened[i], names[i]);
        ck_assert_msg(seeds < 60 || shared->happened[i] > 0, "%s never happened", names[i]);
    }
    printf("\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("daemon/worker_simulation");
    TCase *seeds = tcase_create("seeds");
    tcase_set_timeout(seeds, 0);
    tcase_add_test(seeds, after_quiet_the_index_equals_the_table);
    suite_add_tcase(suite, seeds);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    if (failed > 0) {
        printf("seed %llu failed: ROWFERRY_SEED repeats it\n", (unsigned long long)storm->seed);
    }
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
