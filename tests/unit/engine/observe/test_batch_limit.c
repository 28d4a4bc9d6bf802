/* SPDX-License-Identifier: Apache-2.0 */
/* The request size that the service takes, kept in the state file. */
#include "observe/batch_limit.h"

#include <string.h>

#include "fake.h"
#include "suite.h"

#define MIB ((size_t)1 << 20)
#define DAY_US INT64_C(86400000000)

/* Begins as a new process does: with the configured ceiling, and the state file. */
static size_t begin(struct batch_limit *b, struct loop_view *view, struct flow *flow)
{
    struct err err;
    flow_init(flow, &(struct flow_ceilings){8, 8 * MIB});
    *b = (struct batch_limit){.view = view, .flow = flow, .asked = true};
    ck_assert_int_eq(batch_limit_load(b, &err), 0);
    return flow->ceilings.batch_bytes;
}

static void refuse(struct batch_limit *b, size_t bytes)
{
    struct err why;
    flow_answered(b->flow, &(struct flow_answer){.verdict = FLOW_OVERSIZE, .bytes = bytes});
    ck_assert_int_eq(batch_limit_on_turn(b, &why), LOOP_GO_ON);
}

START_TEST(what_was_learned_is_kept_for_a_day)
{
    struct fake f;
    struct flow flow;
    struct batch_limit b;
    struct err err;
    fake_init(&f, 1);
    struct loop_view view = {.target = {.pipeline = "things"}, .clock = fake_clock(&f)};
    ck_assert_int_eq(state_open(&view.state, f.path, "things", &err), 0);
    ck_assert_uint_eq(begin(&b, &view, &flow), 8 * MIB);
    refuse(&b, 5 * MIB);
    refuse(&b, 6 * MIB);
    ck_assert_uint_eq(begin(&b, &view, &flow), 5 * MIB / 10 * 9);
    f.now_us += DAY_US - 1;
    ck_assert_uint_eq(begin(&b, &view, &flow), 5 * MIB / 10 * 9);
    f.now_us += 1;
    ck_assert_uint_eq(begin(&b, &view, &flow), 8 * MIB);
    f.wall_jump_us -= 3 * DAY_US;
    ck_assert_uint_eq(begin(&b, &view, &flow), 8 * MIB);
    state_close(view.state);
    fake_release(&f);
}
END_TEST

SUITE_MAIN("engine/batch_limit", what_was_learned_is_kept_for_a_day)
