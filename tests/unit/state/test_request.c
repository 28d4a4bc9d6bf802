/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a request: filed, taken, answered, read. */
#include "rowferry/state/request.h"

#include "rowferry/state/lock.h"
#include "statefile.h"

struct texts {
    struct buf command, arguments, answer;
};

static struct texts texts_make(void)
{
    struct texts t;
    buf_init(&t.command, 64);
    buf_init(&t.arguments, 64);
    buf_init(&t.answer, 64);
    return t;
}

static void texts_release(struct texts *t)
{
    buf_release(&t->command);
    buf_release(&t->arguments);
    buf_release(&t->answer);
}

START_TEST(a_request_is_taken_in_order_and_its_answer_is_seen)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct texts t = texts_make();
    struct state *holder = statefile_open(&f, "articles");
    struct state *asking = statefile_open(&f, "articles");
    int64_t first;
    int64_t second;
    int64_t taken;
    enum request_state state;
    OK(request_file(asking, "pause", "{}", 10, &first, &err));
    OK(request_file(asking, "resync", "{\"ids\":[\"1\"]}", 11, &second, &err));
    OK(request_look(asking, first, &state, &t.answer, &err));
    ck_assert_int_eq(state, REQUEST_FILED);

    OK(request_take(holder, 0, &taken, &t.command, &t.arguments, &err));
    ck_assert_int_eq(taken, first);
    ck_assert_str_eq(buf_text(&t.command), "pause");
    OK(request_answer(holder, first, REQUEST_DONE, "{\"paused\":true}", 20, &err));
    OK(request_look(asking, first, &state, &t.answer, &err));
    ck_assert_int_eq(state, REQUEST_DONE);
    ck_assert_str_eq(buf_text(&t.answer), "{\"paused\":true}");

    OK(request_take(holder, second, &taken, &t.command, &t.arguments, &err));
    ck_assert_int_eq(taken, 0); /* none after it */
    OK(request_take(holder, first, &taken, &t.command, &t.arguments, &err));
    ck_assert_int_eq(taken, second);
    ck_assert_str_eq(buf_text(&t.arguments), "{\"ids\":[\"1\"]}");
    OK(request_take(holder, 0, &taken, &t.command, &t.arguments, &err));
    ck_assert_int_eq(taken, 0);
    texts_release(&t);
    state_close(holder);
    state_close(asking);
    statefile_remove(&f);
}
END_TEST

START_TEST(what_a_dead_holder_had_taken_is_taken_again_by_the_next)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct texts t = texts_make();
    struct state *s = statefile_open(&f, "articles");
    int64_t id;
    int64_t taken;
    OK(request_file(s, "resync", "{}", 10, &id, &err));
    OK(request_take(s, 0, &taken, &t.command, &t.arguments, &err));
    state_close(s);
    s = statefile_open(&f, "articles");
    OK(request_take(s, 0, &taken, &t.command, &t.arguments, &err));
    ck_assert_int_eq(taken, 0);
    OK(lock_take(s, "run", 20, &err));
    OK(request_take(s, 0, &taken, &t.command, &t.arguments, &err));
    ck_assert_int_eq(taken, id);
    texts_release(&t);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(an_unknown_request_or_one_of_another_pipeline_is_an_error)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct texts t = texts_make();
    struct state *a = statefile_open(&f, "articles");
    struct state *b = statefile_open(&f, "authors");
    int64_t id;
    int64_t taken;
    enum request_state state;
    OK(request_file(a, "pause", "{}", 10, &id, &err));
    ck_assert_int_eq(request_look(b, id, &state, &t.answer, &err), ERR_STATE);
    ck_assert_int_eq(request_answer(b, id, REQUEST_DONE, "{}", 1, &err), ERR_STATE);
    OK(request_take(b, 0, &taken, &t.command, &t.arguments, &err));
    ck_assert_int_eq(taken, 0);
    texts_release(&t);
    state_close(a);
    state_close(b);
    statefile_remove(&f);
}
END_TEST

#define HOUR_US (INT64_C(3600) * 1000000)

static void file_and_answer(struct state *s, int count, int64_t wall_us, int64_t *last)
{
    struct err err = {0};
    for (int i = 0; i < count; i++) {
        OK(request_file(s, "pause", "{}", wall_us, last, &err));
        OK(request_answer(s, *last, REQUEST_DONE, "{}", wall_us, &err));
    }
}

START_TEST(an_answer_is_still_there_when_many_later_ones_were_given)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct texts t = texts_make();
    struct state *s = statefile_open(&f, "articles");
    int64_t first;
    int64_t last;
    enum request_state state;
    file_and_answer(s, 1, HOUR_US, &first);
    file_and_answer(s, 300, 2 * HOUR_US, &last);
    OK(request_look(s, first, &state, &t.answer, &err));
    ck_assert_int_eq(state, REQUEST_DONE);
    OK(request_file(s, "pause", "{}", 2 * HOUR_US + 1, &last, &err));
    ck_assert_int_eq(request_look(s, first, &state, &t.answer, &err), ERR_STATE);
    texts_release(&t);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(old_answers_go_open_requests_stay)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct texts t = texts_make();
    struct state *s = statefile_open(&f, "articles");
    int64_t open;
    int64_t first;
    int64_t id = 0;
    enum request_state state;
    OK(request_file(s, "pause", "{}", 1, &open, &err));
    OK(request_file(s, "pause", "{}", 1, &first, &err));
    OK(request_answer(s, first, REQUEST_FAILED, "{}", 2, &err));
    file_and_answer(s, 104, 2, &id);
    file_and_answer(s, 1, 3 + HOUR_US, &id);
    OK(request_look(s, open, &state, &t.answer, &err));
    OK(request_look(s, id, &state, &t.answer, &err));
    ck_assert_int_eq(request_look(s, first, &state, &t.answer, &err), ERR_STATE);
    texts_release(&t);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/request", a_request_is_taken_in_order_and_its_answer_is_seen,
           what_a_dead_holder_had_taken_is_taken_again_by_the_next,
           an_unknown_request_or_one_of_another_pipeline_is_an_error,
           an_answer_is_still_there_when_many_later_ones_were_given,
           old_answers_go_open_requests_stay)
