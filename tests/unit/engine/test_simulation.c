/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline against random histories from a seed: changes, lost and late requests, refusals,
 * lost connections, jumping clocks, crashes. After quiet the index equals the table.
 *
 * Each sync runs in a process of its own, which a crash ends at once; table, service and what is on
 * its way live in shared memory, the state file on disk. ROWFERRY_SEEDS says how many seeds,
 * ROWFERRY_SEED runs one.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deletes.h"
#include "fake.h"
#include "rowferry/base/log.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/deadletter.h"
#include "suite.h"

#define ROUNDS 6
#define CRASHED 99
#define TOLD_MOST 5 /* what was read before waits for its key, and is outrun as well */

/* What really happened, over all seeds; a class that never did proves nothing. */
enum happening {
    HAPPENED_CRASH,
    HAPPENED_LOST,
    HAPPENED_UNANSWERED,
    HAPPENED_LATE,
    HAPPENED_RETRY,
    HAPPENED_REJECTED,
    HAPPENED_OUTRUN,
    HAPPENED_BREAK,
    HAPPENED_DURING,
    HAPPENED_JUMP,
    HAPPENED_JUMP_BACK,
    HAPPENED_STATE_LOST,
    HAPPENED_TAKEN_OVER,
    HAPPENED_REBUILT,
    HAPPENED_TRUNCATED,
    HAPPENED_LEFT,
    HAPPENED_GUARDED,
    HAPPENED_LOOKED,
    HAPPENED_COUNT,
};

static const char *const happening_names[HAPPENED_COUNT] = {"crashes",
                                                            "lost",
                                                            "unanswered",
                                                            "late",
                                                            "retries",
                                                            "refused",
                                                            "outruns",
                                                            "broken reads",
                                                            "writes during a sync",
                                                            "jumps on",
                                                            "jumps back",
                                                            "lost state files",
                                                            "takeovers",
                                                            "rebuilds",
                                                            "truncates",
                                                            "members that left",
                                                            "guarded",
                                                            "looks ahead"};

struct world {
    struct fake fake;
    bool calm; /* no faults from now on */
    size_t crash_after;
    size_t fault_dice; /* so many sides, of which three are faults */
    size_t jump_dice;  /* the same, and one is a jump of the clock */
    long happened[HAPPENED_COUNT];
};

static struct world *world;

/* The wall clock is set by up to half a day, in the middle of whatever is done. Where nothing runs
 * it may as well be so much later, and what was on its way has arrived. */
static void jump(struct fake *f, bool living)
{
    int64_t hours = (int64_t)fake_dice(f, 24) - 12;
    int64_t to_us = hours * INT64_C(3600000000) + (int64_t)fake_dice(f, 1000000);
    world->happened[to_us < f->wall_jump_us ? HAPPENED_JUMP_BACK : HAPPENED_JUMP]++;
    if (!living && to_us > f->wall_jump_us) {
        fake_deliver(f, true);
    }
    f->wall_jump_us = to_us;
}

static void random_step(struct fake *f)
{
    if (world->jump_dice > 0 && fake_dice(f, world->jump_dice) == 0) {
        jump(f, true);
    }
    if (world->crash_after > 0 && --world->crash_after == 0) {
        world->happened[HAPPENED_CRASH]++;
        _exit(CRASHED);
    }
}

static enum fake_fault random_fault(struct fake *f)
{
    size_t well = world->fault_dice - 3;
    size_t dice = world->calm ? 0 : fake_dice(f, world->fault_dice);
    static const enum fake_fault faults[] = {FAULT_LOST, FAULT_UNANSWERED, FAULT_LATE};
    if (!world->calm && fake_dice(f, 6) == 0) {
        fake_deliver(f, false);
    }
    if (dice < well) {
        return FAULT_NONE;
    }
    world->happened[HAPPENED_LOST + (dice - well)]++;
    return faults[dice - well];
}

static enum outcome random_judge(void *context, const char *key, long attempt)
{
    (void)key;
    (void)attempt;
    size_t dice = world->calm ? 99 : fake_dice(context, 100);
    if (dice < 10) {
        world->happened[HAPPENED_RETRY]++;
        return OUTCOME_RETRY;
    }
    if (dice < 12) {
        world->happened[HAPPENED_REJECTED]++;
        return OUTCOME_REJECTED;
    }
    return OUTCOME_DONE;
}

static void random_writes(struct fake *f, size_t most)
{
    for (size_t n = fake_dice(f, most + 1); n > 0 && f->log_count < FAKE_LOG; n--) {
        size_t row = fake_dice(f, FAKE_ROWS);
        fake_write(f, row, fake_dice(f, 3) == 0 ? -1 : (long)fake_dice(f, 100000));
    }
}

/* Some rows go with a member that leaves. */
static void leave(struct fake *f)
{
    size_t from = fake_dice(f, FAKE_ROWS);
    fake_leave(f, from, from + fake_dice(f, FAKE_ROWS - from));
    world->happened[HAPPENED_LEFT]++;
}

static void truncate_table(struct fake *f)
{
    if (f->log_count < FAKE_LOG) {
        fake_truncate(f);
        world->happened[HAPPENED_TRUNCATED]++;
    }
}

static void writes_during(struct fake *f, size_t page)
{
    (void)page;
    if (!world->calm && fake_dice(f, 3) == 0) {
        world->happened[HAPPENED_DURING]++;
        random_writes(f, 4);
    }
    if (!world->calm && fake_dice(f, 20) == 0) {
        leave(f);
    }
    if (!world->calm && fake_dice(f, 40) == 0) {
        truncate_table(f);
    }
}

/* Another writer, whose version is ahead of ours. */
static void meddle(struct fake *f)
{
    struct fake_document *d = &f->documents[fake_dice(f, FAKE_ROWS)];
    size_t row = (size_t)(d - f->documents);
    d->version = f->now_us + (int64_t)fake_dice(f, 36000) * 1000000;
    fake_write(f, row, (long)fake_dice(f, 100000));
    world->happened[HAPPENED_OUTRUN]++;
}

/* No version was sent that the state file would forget. */
static void expect_ceiling_above_versions(struct fake *f)
{
    struct err err;
    struct state *state;
    struct checkpoint checkpoint;
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(checkpoint_load(state, &checkpoint, &err), 0);
    ck_assert_int_ge(checkpoint.clock_ceiling, f->highest_sent);
    checkpoint_release(&checkpoint);
    state_close(state);
}

/* What the guard stopped, a person permits: as many deletes as it had counted. */
static int sync_in_a_process(void)
{
    struct fake *f = &world->fake;
    pid_t pid = fork();
    if (pid == 0) {
        struct err err;
        int rc = fake_sync(f, NULL, &err);
        if (rc < 0 && rc != ERR_TRANSIENT) {
            fprintf(stderr, "%s\n", err.message);
        }
        _exit(rc == 0 ? 0 : -rc);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    expect_ceiling_above_versions(f);
    f->double_key = false; /* what was in flight died with the process */
    world->happened[HAPPENED_LOOKED] += (long)f->looks;
    f->allow_deletes = WEXITSTATUS(status) == -ERR_STATE;
    world->happened[HAPPENED_GUARDED] += f->allow_deletes;
    return WEXITSTATUS(status);
}

/* A lost state file takes the last seconds of the clock with it, and the clock may have been set
 * back since: that versions grow is a law within the life of a state file, after it a higher
 * version is stepped over. So what is on its way arrives before. */
static void lose_state(struct fake *f)
{
    fake_deliver(f, true);
    fake_lose_state(f);
    f->highest_sent = 0;
    memset(f->sent, 0, sizeof(f->sent));
    world->happened[HAPPENED_STATE_LOST]++;
}

static void note_takeover(const struct fake *f, const char *before)
{
    bool same = before[0] != '\0' && strcmp(f->alias, before) == 0;
    world->happened[same ? HAPPENED_TAKEN_OVER : HAPPENED_REBUILT]++;
}

static void stormy_round(struct fake *f)
{
    char before[256];
    bool lost = fake_dice(f, 4) == 0;
    snprintf(before, sizeof(before), "%s", f->alias);
    random_writes(f, 20);
    if (fake_dice(f, 6) == 0) {
        truncate_table(f);
        random_writes(f, 20);
    }
    if (fake_dice(f, 4) == 0) {
        leave(f);
    }
    if (lost) {
        lose_state(f);
    }
    if (f->index[0] != '\0' && fake_dice(f, 4) == 0) {
        meddle(f);
    }
    if (fake_dice(f, 3) == 0) {
        jump(f, false);
    }
    world->crash_after = fake_dice(f, 3) == 0 ? 0 : 1 + fake_dice(f, 150);
    f->break_change = fake_dice(f, 3) == 0 ? 1 + fake_dice(f, 40) : 0;
    world->happened[HAPPENED_BREAK] += f->break_change > 0;
    int rc = sync_in_a_process();
    ck_assert_msg(rc == 0 || rc == CRASHED || rc == -ERR_TRANSIENT || rc == -ERR_STATE,
                  "sync ended with %d", rc);
    if (lost && rc == 0) {
        note_takeover(f, before);
    }
}

static int forgive(void *context, const struct dead_letter *letter)
{
    struct fake *f = context;
    size_t row = (size_t)strtoul(letter->key + 1, NULL, 10);
    f->documents[row].present = f->rows[row] >= 0;
    f->documents[row].n = f->rows[row];
    return 0;
}

/* The letters that are open explain their documents, and nothing else is explained. */
static void forgive_letters(struct fake *f)
{
    struct err err;
    struct state *state;
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(deadletter_each(state, forgive, f, &err), 0);
    state_close(state);
}

static void init_storm(struct fake *f, uint64_t seed)
{
    fake_init(f, 40);
    f->random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    f->step = random_step;
    f->fault = random_fault;
    f->judge = random_judge;
    f->between_pages = writes_during;
    f->page_rows = 3 + fake_dice(f, 8);
    f->mark_rows = fake_dice(f, 4);
    f->guard_count = (int64_t)fake_dice(f, 30); /* so that windows are looked through */
    f->guard_share = 0.5;
    f->reconcile_ms = fake_dice(f, 5) == 0 ? 3600000 : 0;
    world->calm = false;
    world->fault_dice = fake_dice(f, 2) == 0 ? 4 : 12;
    world->jump_dice = fake_dice(f, 2) == 0 ? 20 : 100;
}

/* Without faults; what the guard stops is permitted. */
static void calm_sync(struct fake *f, uint64_t seed)
{
    world->calm = true;
    world->crash_after = 0;
    f->break_change = 0;
    int rc = sync_in_a_process();
    for (int again = 0; again < 3 && rc == -ERR_STATE; again++) {
        rc = sync_in_a_process();
    }
    ck_assert_msg(rc == 0, "seed %llu: a calm sync ended with %d", (unsigned long long)seed, rc);
}

static void run_seed(uint64_t seed)
{
    struct fake *f = &world->fake;
    init_storm(f, seed);
    for (size_t rounds = fake_dice(f, 3) > 0 ? 1 : ROUNDS; rounds > 0; rounds--) {
        stormy_round(f);
    }
    if (fake_dice(f, 4) > 0) {
        leave(f);
    }
    calm_sync(f, seed);
    fake_deliver(f, true); /* after a reconcile had listed the index */
    if (fake_dice(f, 2) == 0) {
        lose_state(f);
        calm_sync(f, seed);
    }
    world->jump_dice = 0;
    for (int twice = 0; twice < 2; twice++) { /* a clock that was set back begins the time anew */
        f->now_us += DELETES_LATE_US;
        calm_sync(f, seed);
    }
    forgive_letters(f);
    ck_assert_msg(!f->version_went_back, "seed %llu: a version went back",
                  (unsigned long long)seed);
    /* index and table are equal all the same: a reconcile takes away what the second copy left */
    ck_assert_msg(!f->begun_anew, "seed %llu: a reading that had a position began anew",
                  (unsigned long long)seed);
    ck_assert_msg(f->most_told <= TOLD_MOST, "seed %llu: a version that was told outran %d times",
                  (unsigned long long)seed, f->most_told);
    ck_assert_msg(fake_equal(f), "seed %llu: index and table differ", (unsigned long long)seed);
    fake_release(f);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

START_TEST(after_quiet_the_index_equals_the_table)
{
    world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(world, MAP_FAILED);
    log_configure(LOG_ERROR, LOG_TEXT);
    if (getenv("ROWFERRY_SEED") != NULL) {
        run_seed(setting("ROWFERRY_SEED", 0));
        return;
    }
    uint64_t seeds = setting("ROWFERRY_SEEDS", 200);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        run_seed(seed);
    }
    printf("simulation: %llu seeds", (unsigned long long)seeds);
    for (size_t i = 0; i < HAPPENED_COUNT; i++) {
        printf(", %ld %s", world->happened[i], happening_names[i]);
        ck_assert_msg(world->happened[i] > 0, "%s never happened", happening_names[i]);
    }
    printf("\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/simulation");
    TCase *seeds = tcase_create("seeds");
    tcase_set_timeout(seeds, 0);
    tcase_add_test(seeds, after_quiet_the_index_equals_the_table);
    suite_add_tcase(suite, seeds);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
