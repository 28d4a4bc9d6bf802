/* SPDX-License-Identifier: Apache-2.0 */
/* Requests from other commands, executed by a pipeline in memory. */
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "pipeline/requests_private.h"
#include "rowferry/base/log.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/request.h"
#include "suite.h"

static void sync_ok(struct fake *f)
{
    struct err err = {0};
    log_configure(LOG_ERROR, LOG_TEXT);
    ck_assert_msg(fake_sync(f, NULL, &err) == 0, "%s", err.message);
}

/* Files a request for rows of the fake. Returns its id. */
static int64_t ask(struct fake *f, const char *command, const size_t *rows, size_t count)
{
    struct err err;
    struct state *state;
    struct buf arguments;
    int64_t id;
    buf_init(&arguments, REQUEST_MAX_BYTES);
    for (size_t i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof(key), "k%zu", rows[i]);
        keylist_push_key(&arguments, span_make(key, strlen(key)));
    }
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(request_file(state, command, buf_text(&arguments), 1, &id, &err), 0);
    state_close(state);
    buf_release(&arguments);
    return id;
}

static void expect_answer(struct fake *f, int64_t id, enum request_state wanted, const char *text)
{
    struct err err;
    struct state *state;
    struct buf answer;
    enum request_state is;
    buf_init(&answer, REQUEST_MAX_BYTES);
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(request_look(state, id, &is, &answer, &err), 0);
    ck_assert_int_eq(is, wanted);
    if (text != NULL) {
        ck_assert_str_eq(buf_text(&answer), text);
    }
    state_close(state);
    buf_release(&answer);
}

START_TEST(asked_keys_are_read_again)
{
    struct fake f;
    fake_init(&f, 40);
    sync_ok(&f);
    f.documents[3].n = 999;         /* the service lost an acknowledged document */
    f.documents[50].present = true; /* and has a document without a row */
    f.documents[50].version = 1;
    int64_t id = ask(&f, REQUEST_RESYNC, (size_t[]){3, 50}, 2);
    sync_ok(&f);
    ck_assert(fake_equal(&f));
    ck_assert_int_eq(f.operations, 2);
    expect_answer(&f, id, REQUEST_DONE, "{\"upserts\":1,\"deletes\":1,\"rejected\":0}");
    fake_release(&f);
}
END_TEST

START_TEST(all_that_wait_are_answered_before_the_holder_ends)
{
    struct fake f;
    int64_t ids[4];
    fake_init(&f, 40);
    sync_ok(&f);
    for (size_t i = 0; i < 4; i++) {
        f.documents[i].n = -7;
        ids[i] = ask(&f, i % 2 == 0 ? REQUEST_RESYNC : REQUEST_DISCARD, &i, 1);
    }
    sync_ok(&f);
    for (size_t i = 0; i < 4; i++) {
        expect_answer(&f, ids[i], REQUEST_DONE, NULL);
    }
    fake_release(&f);
}
END_TEST

START_TEST(many_asked_keys_survive_a_lost_source)
{
    for (size_t at = 1; at < 60; at += 3) {
        struct fake f;
        size_t rows[40];
        fake_init(&f, 40);
        sync_ok(&f);
        for (size_t i = 0; i < 40; i++) {
            rows[i] = i;
            f.documents[i].n = -7;
        }
        int64_t id = ask(&f, REQUEST_RESYNC, rows, 40);
        fake_write(&f, 5, 55);
        f.break_change = at;
        sync_ok(&f);
        ck_assert_msg(fake_equal(&f), "broken at change %zu", at);
        expect_answer(&f, id, REQUEST_DONE, NULL); /* a row that is read twice is counted twice */
        fake_release(&f);
    }
}
END_TEST

START_TEST(requests_alone_leave_other_changes_to_the_next_sync)
{
    struct fake f;
    fake_init(&f, 40);
    sync_ok(&f);
    fake_write(&f, 4, 44);
    fake_write(&f, 5, 55);
    ask(&f, REQUEST_RESYNC, (size_t[]){4}, 1);
    f.requests_only = true;
    sync_ok(&f);
    ck_assert_int_eq(f.documents[4].n, 44);
    ck_assert_int_eq(f.documents[5].n, 50);
    f.requests_only = false;
    sync_ok(&f);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

static enum outcome never_k5(void *context, const char *key, long attempt)
{
    (void)context;
    (void)attempt;
    return strcmp(key, "k5") == 0 ? OUTCOME_REJECTED : OUTCOME_DONE;
}

START_TEST(a_dead_letter_is_retried_or_discarded_on_request)
{
    struct fake f;
    struct err err;
    struct pipeline_result result;
    fake_init(&f, 40);
    f.judge = never_k5;
    sync_ok(&f);
    int64_t id = ask(&f, REQUEST_RESYNC, (size_t[]){5}, 1);
    sync_ok(&f);
    expect_answer(&f, id, REQUEST_DONE, "{\"upserts\":0,\"deletes\":0,\"rejected\":1}");
    id = ask(&f, REQUEST_DISCARD, (size_t[]){5, 6}, 2);
    ck_assert_int_eq(fake_sync(&f, &result, &err), 0);
    ck_assert_int_eq(result.dead_letters, 0);
    expect_answer(&f, id, REQUEST_DONE, "{\"discarded\":1}");
    fake_release(&f);
}
END_TEST

static int64_t waited_for;
static bool answered_before;

/* The row k0 is not accepted before the request is answered. */
static enum outcome k0_waits(void *context, const char *key, long attempt)
{
    struct err err;
    struct state *state;
    struct buf answer;
    enum request_state is;
    if (strcmp(key, "k0") != 0) {
        return OUTCOME_DONE;
    }
    buf_init(&answer, REQUEST_MAX_BYTES);
    ck_assert_int_eq(state_open_read_only(&state, ((struct fake *)context)->path, "things", &err),
                     0);
    ck_assert_int_eq(request_look(state, waited_for, &is, &answer, &err), 0);
    state_close(state);
    buf_release(&answer);
    answered_before = is == REQUEST_DONE;
    return answered_before || attempt > 20 ? OUTCOME_DONE : OUTCOME_RETRY;
}

START_TEST(an_answer_does_not_wait_for_what_was_read_before)
{
    struct fake f;
    fake_init(&f, 40);
    sync_ok(&f);
    fake_write(&f, 0, 77);
    waited_for = ask(&f, REQUEST_RESYNC, (size_t[]){3}, 1);
    f.judge = k0_waits;
    sync_ok(&f);
    ck_assert(answered_before);
    ck_assert(fake_equal(&f));
    expect_answer(&f, waited_for, REQUEST_DONE, "{\"upserts\":1,\"deletes\":0,\"rejected\":0}");
    fake_release(&f);
}
END_TEST

START_TEST(a_request_before_the_first_sync_is_refused)
{
    struct fake f;
    struct err err;
    fake_init(&f, 40);
    ask(&f, REQUEST_RESYNC, (size_t[]){5}, 1);
    f.requests_only = true;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.hint, "rowferry sync"));
    fake_release(&f);
}
END_TEST

/* Files a permission for a guard stop at time 7; `halted` is true if it happened. */
static int64_t permit(struct fake *f, const char *command, bool halted)
{
    struct err err;
    struct state *state;
    int64_t id;
    const struct guard_stop halt = {.deletes = 3, .documents = 40, .at_us = 7};
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    if (halted) {
        ck_assert_int_eq(guard_stop_write(state, &halt, &err), 0);
    }
    ck_assert_int_eq(request_file(state, command, "7", 1, &id, &err), 0);
    state_close(state);
    return id;
}

START_TEST(a_permission_is_answered_with_all_that_was_done)
{
    struct fake f;
    fake_init(&f, 40);
    sync_ok(&f);
    fake_write(&f, 1, 77);
    fake_write(&f, 2, 77);
    int64_t id = permit(&f, REQUEST_ALLOW_DELETES, true);
    f.requests_only = true; /* this holder only serves other requests */
    sync_ok(&f);
    expect_answer(&f, id, REQUEST_FILED, NULL);
    f.requests_only = false;
    sync_ok(&f);
    ck_assert(fake_equal(&f));
    struct buf answer;
    struct state *state;
    struct err err;
    enum request_state is;
    buf_init(&answer, REQUEST_MAX_BYTES);
    ck_assert_int_eq(state_open(&state, f.path, "things", &err), 0);
    ck_assert_int_eq(request_look(state, id, &is, &answer, &err), 0);
    ck_assert_int_eq(is, REQUEST_DONE);
    ck_assert_ptr_nonnull(strstr(buf_text(&answer), "{\"upserts\":2,\"deletes\":0,"));
    state_close(state);
    buf_release(&answer);
    fake_release(&f);
}
END_TEST

START_TEST(a_permission_for_what_is_not_stopped_is_refused)
{
    struct fake f;
    fake_init(&f, 40);
    sync_ok(&f);
    int64_t nothing = permit(&f, REQUEST_ALLOW_DELETES, false);
    sync_ok(&f);
    expect_answer(&f, nothing, REQUEST_FAILED, "{\"error\":\"nothing is stopped by the guard\"}");
    int64_t other = permit(&f, REQUEST_ALLOW_REJECTIONS, true);
    sync_ok(&f);
    expect_answer(&f, other, REQUEST_FAILED,
                  "{\"error\":\"the guard stopped the pipeline for deletes, not for rejections\"}");
    fake_release(&f);
}
END_TEST

START_TEST(an_unknown_request_is_answered)
{
    struct fake f;
    fake_init(&f, 40);
    int64_t id = ask(&f, "dance", (size_t[]){5}, 1);
    sync_ok(&f);
    expect_answer(&f, id, REQUEST_FAILED, "{\"error\":\"this version does not know the request\"}");
    fake_release(&f);
}
END_TEST

START_TEST(what_is_for_somebody_else_stays_filed_and_holds_nobody_up)
{
    struct fake f;
    fake_init(&f, 40);
    sync_ok(&f);
    int64_t rebuild = ask(&f, REQUEST_REINDEX, NULL, 0);
    int64_t back = ask(&f, REQUEST_ROLLBACK, NULL, 0);
    int64_t resync = ask(&f, REQUEST_RESYNC, (size_t[]){5}, 1);
    sync_ok(&f);
    expect_answer(&f, rebuild, REQUEST_FILED, NULL);
    expect_answer(&f, back, REQUEST_FILED, NULL);
    expect_answer(&f, resync, REQUEST_DONE, "{\"upserts\":1,\"deletes\":0,\"rejected\":0}");
    fake_release(&f);
}
END_TEST

START_TEST(keys_of_any_content_survive_the_list)
{
    static const char *const keys[] = {"plain", "with\nbreak", "back\\slash", "\\n", "", "end\\"};
    struct buf list;
    struct buf key;
    buf_init(&list, 1000);
    buf_init(&key, 1000);
    for (size_t i = 0; i < 6; i++) {
        keylist_push_key(&list, span_make(keys[i], strlen(keys[i])));
    }
    const char *cursor = buf_text(&list);
    for (size_t i = 0; i < 6; i++) {
        ck_assert(keylist_next(&cursor, &key));
        ck_assert_str_eq(buf_text(&key), keys[i]);
    }
    ck_assert(!keylist_next(&cursor, &key));
    buf_release(&list);
    buf_release(&key);
}
END_TEST

SUITE_MAIN("engine/requests", asked_keys_are_read_again,
           all_that_wait_are_answered_before_the_holder_ends, many_asked_keys_survive_a_lost_source,
           requests_alone_leave_other_changes_to_the_next_sync,
           a_dead_letter_is_retried_or_discarded_on_request,
           an_answer_does_not_wait_for_what_was_read_before,
           a_request_before_the_first_sync_is_refused, an_unknown_request_is_answered,
           what_is_for_somebody_else_stays_filed_and_holds_nobody_up,
           keys_of_any_content_survive_the_list, a_permission_is_answered_with_all_that_was_done,
           a_permission_for_what_is_not_stopped_is_refused)
