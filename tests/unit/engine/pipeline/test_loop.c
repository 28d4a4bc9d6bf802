/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that the loop neither settles as done nor sends again; and what its observers see. */
#include "pipeline/loop.h"

#include "fake.h"
#include "suite.h"

START_TEST(a_version_that_no_clock_can_pass_is_a_dead_letter)
{
    struct fake f;
    struct err err;
    struct pipeline_result result;
    fake_init(&f, 40);
    ck_assert_int_eq(fake_sync(&f, NULL, &err), 0);
    f.documents[4].version = INT64_MAX - 1;
    fake_write(&f, 4, 44);
    fake_write(&f, 5, 55);
    ck_assert_msg(fake_sync(&f, &result, &err) == 0, "%s", err.message);
    ck_assert_int_eq(result.dead_letters, 1);
    ck_assert_int_eq(f.documents[5].n, 55);
    ck_assert_int_lt(f.documents[5].version, VERSION_FOREIGN);
    fake_release(&f);
}
END_TEST

/* --- a loop with an observer of the test ------------------------------------------------------ */

static const struct pipeline_options options = {
    .definition = {.name = "things"},
    .limits = {.batch_bytes = 512,
               .batch_operations = 5,
               .in_flight = 2,
               .window_bytes = FAKE_WINDOW_BYTES,
               .document_bytes = 1 << 20,
               .retry_budget_ms = 60000},
    .guard = {.share = 1, .count = 1000},
};

struct world {
    struct fake fake;
    struct fake_table *table;
    struct state *state;
    struct checkpoint checkpoint;
    struct loop loop;
    uint64_t upserts, deletes, settled, turns;
    uint64_t last_turn; /* ends the work in this turn; 0: never */
};

static bool count_change(void *self, const struct change *change)
{
    struct world *w = self;
    w->upserts += change->kind == CHANGE_UPSERT;
    w->deletes += change->kind == CHANGE_DELETE;
    return false;
}

/* Handles it, so that it is not sent. */
static bool drop_deletes(void *self, const struct change *change)
{
    return count_change(self, change) || change->kind == CHANGE_DELETE;
}

static void count_settled(void *self, uint64_t page, bool sent, const struct new_letter *letter)
{
    struct world *w = self;
    ck_assert(page > 0 && sent && letter == NULL);
    ck_assert_uint_gt(w->loop.view.window->read, w->loop.view.window->settled);
    w->settled++;
}

static enum loop_answer end_in_turn(void *self, struct err *why)
{
    struct world *w = self;
    if (++w->turns != w->last_turn) {
        return LOOP_GO_ON;
    }
    err_set(why, ERR_STATE, "the observer has seen enough");
    return LOOP_END;
}

/* Opens a loop for an index of 20 documents with two changes to read. */
static void begin(struct world *w, bool (*on_change)(void *self, const struct change *change))
{
    struct err err;
    struct pipeline_ports ports;
    struct source_facts facts;
    struct loop *l = &w->loop;
    *w = (struct world){0};
    fake_init(&w->fake, 20);
    ck_assert_int_eq(fake_sync(&w->fake, NULL, &err), 0);
    fake_write(&w->fake, 3, 33);
    fake_write(&w->fake, 4, -1);
    ck_assert_int_eq(state_open(&w->state, w->fake.path, "things", &err), 0);
    ck_assert_int_eq(fake_open(&w->fake, w->state, &ports, &w->table, &err), 0);
    ck_assert_int_eq(checkpoint_load(w->state, &w->checkpoint, &err), 0);
    ck_assert_int_eq(loop_init(l, &options, &ports, &err), 0);
    ck_assert_int_eq(ports.source.ops->connect(ports.source.self, &facts, &err), 0);
    l->plan = facts.plan;
    l->source_reader.consumer = w->fake.consumer;
    source_reader_init(&l->source_reader, &facts, w->checkpoint.position,
                       w->checkpoint.clock_ceiling);
    l->view.target.index = w->fake.index;
    l->sender.write_alias = w->fake.write_alias;
    l->watchers.alias.view = &l->view;
    loop_observers_add(&l->observers, &(struct loop_observer){.self = w,
                                                              .on_change = on_change,
                                                              .on_settled = count_settled,
                                                              .on_turn = end_in_turn});
}

static void end(struct world *w)
{
    loop_release(&w->loop);
    checkpoint_release(&w->checkpoint);
    fake_close(w->table);
    state_close(w->state);
    fake_release(&w->fake);
}

START_TEST(an_observer_receives_each_change_and_each_settled_operation)
{
    static struct world w;
    struct err err;
    bool stopped;
    begin(&w, count_change);
    ck_assert_msg(loop_run(&w.loop, &stopped, &err) == 0, "%s", err.message);
    ck_assert(!stopped && !w.loop.view.ended);
    ck_assert_uint_eq(w.upserts, 1);
    ck_assert_uint_eq(w.deletes, 1);
    ck_assert_uint_eq(w.settled, 2);
    ck_assert_uint_ge(w.turns, 1);
    ck_assert(fake_equal(&w.fake));
    end(&w);
}
END_TEST

START_TEST(a_change_that_an_observer_handles_is_not_sent)
{
    static struct world w;
    struct err err;
    bool stopped;
    begin(&w, drop_deletes);
    ck_assert_msg(loop_run(&w.loop, &stopped, &err) == 0, "%s", err.message);
    ck_assert_uint_eq(w.deletes, 1);
    ck_assert_uint_eq(w.settled, 1);
    ck_assert_int_eq(w.loop.counters.deletes, 0);
    ck_assert(w.fake.documents[4].present);
    end(&w);
}
END_TEST

START_TEST(an_observer_can_end_the_work_with_an_error)
{
    static struct world w;
    struct err err;
    bool stopped;
    begin(&w, count_change);
    w.last_turn = 1;
    ck_assert_int_eq(loop_run(&w.loop, &stopped, &err), ERR_STATE);
    ck_assert_str_eq(err.message, "the observer has seen enough");
    ck_assert(w.loop.view.ended && loop_stopping(&w.loop) && !stopped);
    end(&w);
}
END_TEST

SUITE_MAIN("engine/loop", a_version_that_no_clock_can_pass_is_a_dead_letter,
           an_observer_receives_each_change_and_each_settled_operation,
           a_change_that_an_observer_handles_is_not_sent,
           an_observer_can_end_the_work_with_an_error)
