/* SPDX-License-Identifier: Apache-2.0 */
/* Which replies waiting requests get. */
#include "rowferry/daemon/pending_replies.h"

#include "workplace.h"

struct two {
    struct workplace place;
    struct state *state;
    struct pending_replies waiting;
    int64_t first, second;
};

/* Two requests that wait for the same result. */
static struct two two_waiting(void)
{
    struct two t = {.place = workplace_make("", "")};
    t.state = workplace_state(&t.place);
    t.first = workplace_taken(t.state, "reindex", "{}");
    t.second = workplace_taken(t.state, "reindex", "{}");
    pending_replies_push(&t.waiting, t.first);
    pending_replies_push(&t.waiting, t.second);
    return t;
}

static void two_release(struct two *t)
{
    ck_assert_uint_eq(t->waiting.count, 0);
    ck_assert_ptr_null(t->waiting.ids);
    state_close(t->state);
    workplace_remove(&t->place);
}

START_TEST(all_requests_get_the_result)
{
    struct two t = two_waiting();
    const struct rebuild_outcome built = {.kind = REBUILD_OUTCOME_NEW, .rows = 7};
    pending_replies_answer(&t.waiting, t.state, "articles", &built);
    workplace_expect(t.state, t.first, REQUEST_DONE, "\"action\":\"rebuilt\"");
    workplace_expect(t.state, t.second, REQUEST_DONE, "\"rows\":7");
    two_release(&t);
}
END_TEST

START_TEST(a_refusal_contains_reason_hint_and_progress)
{
    struct two t = two_waiting();
    const struct rebuild_outcome built = {.rows = 5};
    struct err why;
    err_set(&why, ERR_REJECTED, "the \"disk\" is full");
    err_hint(&why, "free some space");
    pending_replies_refuse(&t.waiting, t.state, "articles", &why, &built);
    workplace_expect(t.state, t.first, REQUEST_FAILED, "\"error\":\"the \\\"disk\\\" is full\"");
    workplace_expect(t.state, t.first, REQUEST_FAILED, "\"hint\":\"free some space\"");
    workplace_expect(t.state, t.second, REQUEST_FAILED, "\"rows\":5");
    two_release(&t);
}
END_TEST

START_TEST(a_refusal_without_progress_contains_no_counts)
{
    struct two t = two_waiting();
    struct err why;
    err_set(&why, ERR_STATE, "paused");
    pending_replies_refuse(&t.waiting, t.state, "articles", &why, NULL);
    workplace_expect(t.state, t.first, REQUEST_FAILED, "{\"error\":\"paused\",\"hint\":null}");
    two_release(&t);
}
END_TEST

START_TEST(requests_that_are_put_back_are_taken_again_by_the_next_holder)
{
    struct two t = two_waiting();
    struct err err;
    struct buf command;
    struct buf arguments;
    int64_t id;
    pending_replies_put_back(&t.waiting, t.state, "articles");
    buf_init(&command, 64);
    buf_init(&arguments, 1024);
    OK(request_take(t.state, 0, &id, &command, &arguments, &err));
    ck_assert_int_eq(id, t.first);
    ck_assert_str_eq(buf_text(&command), "reindex");
    buf_release(&command);
    buf_release(&arguments);
    two_release(&t);
}
END_TEST

START_TEST(the_owner_itself_is_no_request)
{
    struct pending_replies none = {0};
    pending_replies_push(&none, 0);
    ck_assert_uint_eq(none.count, 0);
}
END_TEST

SUITE_MAIN("daemon/pending_replies", all_requests_get_the_result,
           a_refusal_contains_reason_hint_and_progress,
           a_refusal_without_progress_contains_no_counts,
           requests_that_are_put_back_are_taken_again_by_the_next_holder,
           the_owner_itself_is_no_request)
