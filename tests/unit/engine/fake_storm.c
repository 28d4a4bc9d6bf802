/* SPDX-License-Identifier: Apache-2.0 */
/* Random faults of the fake. */
#include "storm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/request.h"
#include "suite.h"

const char *const happening_names[HAPPENED_COUNT] = {"crashes",
                                                     "lost",
                                                     "unanswered",
                                                     "late",
                                                     "retries",
                                                     "refused",
                                                     "conflicts",
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
                                                     "looks ahead",
                                                     "transactions that ended late",
                                                     "cursors",
                                                     "other hosts",
                                                     "reindexes",
                                                     "reindexes that were cut off",
                                                     "aborted reindexes",
                                                     "resyncs",
                                                     "repairs",
                                                     "poisoned items",
                                                     "crashes of the server"};

struct storm *storm;

/* Sets the wall clock by up to half a day at any moment. If nothing runs, that much time may really
 * have passed, and writes in transit have arrived. */
void storm_jump(struct fake *f, bool living)
{
    int64_t hours = (int64_t)fake_dice(f, 24) - 12;
    int64_t to_us = hours * INT64_C(3600000000) + (int64_t)fake_dice(f, 1000000);
    storm->happened[to_us < f->wall_jump_us ? HAPPENED_JUMP_BACK : HAPPENED_JUMP]++;
    if (!living && to_us > f->wall_jump_us) {
        fake_deliver(f, true);
    }
    f->wall_jump_us = to_us;
}

void storm_step(struct fake *f)
{
    if (storm->jump_dice > 0 && fake_dice(f, storm->jump_dice) == 0) {
        storm_jump(f, true);
    }
    if (++storm->steps > STEPS_MOST && storm->calm) {
        _exit(RESTLESS);
    }
    if (storm->crash_after > 0 && --storm->crash_after == 0) {
        storm->happened[HAPPENED_CRASH]++;
        _exit(CRASHED);
    }
    if (storm->server_crash_after > 0 && --storm->server_crash_after == 0) {
        storm->happened[HAPPENED_SERVER_CRASH]++;
        fake_crash_server(f);
    }
}

enum fake_fault storm_fault(struct fake *f)
{
    size_t well = storm->fault_dice - 3;
    size_t dice = storm->calm ? 0 : fake_dice(f, storm->fault_dice);
    static const enum fake_fault faults[] = {FAULT_LOST, FAULT_UNANSWERED, FAULT_LATE};
    if (!storm->calm && fake_dice(f, 6) == 0) {
        fake_deliver(f, false);
    }
    if (dice < well) {
        return FAULT_NONE;
    }
    storm->happened[HAPPENED_LOST + (dice - well)]++;
    return faults[dice - well];
}

enum outcome storm_judge(void *context, const char *key, long attempt)
{
    (void)attempt;
    struct fake *f = context;
    size_t dice = storm->calm ? 99 : fake_dice(context, 100);
    f->judged_status = dice % 2 == 0 ? 429 : 500;
    if (!storm->calm && strtoul(key + 1, NULL, 10) == storm->poisoned) {
        storm->happened[HAPPENED_POISONED]++;
        return OUTCOME_RETRY;
    }
    if (dice < 10) {
        storm->happened[HAPPENED_RETRY]++;
        return OUTCOME_RETRY;
    }
    if (dice < 12) {
        f->judged_status = 400;
        storm->happened[HAPPENED_REJECTED]++;
        return OUTCOME_REJECTED;
    }
    return OUTCOME_DONE;
}

void storm_writes(struct fake *f, size_t most)
{
    for (size_t n = fake_dice(f, most + 1); n > 0 && f->log_count < FAKE_LOG; n--) {
        size_t row = fake_dice(f, FAKE_ROWS);
        long value = fake_dice(f, 3) == 0 ? -1 : (long)fake_dice(f, 100000);
        bool later = !storm->calm && fake_dice(f, 8) == 0;
        if (later && fake_write_later(f, row, value)) {
            storm->happened[HAPPENED_ENDED_LATE]++;
        } else if (!fake_locked(f, row)) {
            fake_write(f, row, value);
        }
    }
    if (fake_dice(f, 6) == 0) {
        fake_end_open(f, fake_dice(f, 5) > 0);
    }
}

/* Deletes some rows with a member that leaves, while no transaction is open. */
void storm_leave(struct fake *f)
{
    size_t from = fake_dice(f, FAKE_ROWS);
    size_t to = from + fake_dice(f, FAKE_ROWS - from);
    if (!fake_locked(f, FAKE_TRUNCATE)) {
        fake_leave(f, from, to);
        storm->happened[HAPPENED_LEFT]++;
    }
}

void storm_truncate(struct fake *f)
{
    if (f->log_count < FAKE_LOG && !fake_locked(f, FAKE_TRUNCATE)) {
        fake_truncate(f);
        storm->happened[HAPPENED_TRUNCATED]++;
    }
}

void storm_between_pages(struct fake *f, size_t page)
{
    (void)page;
    if (!storm->calm && fake_dice(f, 3) == 0) {
        storm->happened[HAPPENED_DURING]++;
        storm_writes(f, 4);
    }
    if (!storm->calm && fake_dice(f, 20) == 0) {
        storm_leave(f);
    }
    if (!storm->calm && fake_dice(f, 40) == 0) {
        storm_truncate(f);
    }
}

/* Another client writes a document with a version ahead of ours. */
void storm_meddle(struct fake *f)
{
    size_t row = fake_dice(f, FAKE_ROWS);
    int64_t ahead = (int64_t)fake_dice(f, 36000) * 1000000;
    long value = (long)fake_dice(f, 100000);
    if (!fake_locked(f, row) && fake_look_at(f, f->alias)) {
        f->documents[row].version = f->now_us + ahead;
        fake_write(f, row, value);
        storm->happened[HAPPENED_CONFLICT]++;
    }
}

void storm_ask(struct fake *f, const bool *rows)
{
    struct err err;
    struct state *state;
    struct buf keys;
    int64_t id;
    buf_init(&keys, REQUEST_MAX_BYTES);
    for (size_t i = 0; i < FAKE_ROWS; i++) {
        char key[16];
        int len = snprintf(key, sizeof(key), "k%zu", i);
        if (rows[i]) {
            keylist_push_key(&keys, span_make(key, (size_t)len));
        }
    }
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(request_file(state, REQUEST_RESYNC, buf_text(&keys), f->now_us, &id, &err), 0);
    state_close(state);
    buf_release(&keys);
}

/* A lost state file also loses the last seconds of the clock, which may have been set back since.
 * Versions grow only within the life of a state file; afterwards higher versions are stepped over.
 * So all writes in transit must arrive first. */
void storm_lose_state(struct fake *f)
{
    fake_deliver(f, true);
    fake_lose_state(f);
    fake_forget_sent(f);
    storm->happened[HAPPENED_STATE_LOST]++;
}

/* Another host takes the pipeline; its state file is as of the last time it held it. */
void storm_switch_host(struct fake *f)
{
    char path[96];
    memcpy(path, f->path, sizeof(path));
    memcpy(f->path, storm->other_path, sizeof(path));
    memcpy(storm->other_path, path, sizeof(path));
    fake_deliver(f, true);
    fake_forget_sent(f);
    f->rivals = fake_dice(f, 2) == 0 ? RIVALS_ACTIVE : RIVALS_POSSIBLE;
    storm->happened[HAPPENED_SWITCHED]++;
}

void storm_release(struct fake *f)
{
    fake_lose_state(f);
    memcpy(f->path, storm->other_path, sizeof(f->path));
    fake_release(f);
}
