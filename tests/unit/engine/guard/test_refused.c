/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that are refused repeatedly for now: which of them become dead letters. */
#include "guard/refused.h"

#include <string.h>

#include "fake.h"
#include "suite.h"

static void sync_ok(struct fake *f, struct pipeline_result *result)
{
    struct err err = {0};
    ck_assert_msg(fake_sync(f, result, &err) == 0, "%s", err.message);
}

static enum outcome never_k5_for_now(void *context, const char *key, long attempt)
{
    (void)context;
    (void)attempt;
    return strcmp(key, "k5") == 0 ? OUTCOME_RETRY : OUTCOME_DONE;
}

static enum outcome nothing_for_now(void *context, const char *key, long attempt)
{
    (void)context;
    (void)key;
    (void)attempt;
    return OUTCOME_RETRY;
}

/* Answers like an ingest pipeline with `fail`: always 500 for one document. */
static void poisoned(int status)
{
    struct fake f;
    struct pipeline_result result;
    fake_init(&f, 40);
    f.judge = never_k5_for_now;
    f.judged_status = status;
    sync_ok(&f, &result);
    ck_assert_int_eq(result.dead_letters, 1);
    ck_assert_int_eq(result.counters.upserts, 39);
    ck_assert_int_eq(result.counters.deletes, 0);
    ck_assert(!f.documents[5].present);
    fake_write(&f, 5, 55); /* alone in its sync: a former dead letter becomes one again */
    sync_ok(&f, &result);
    ck_assert_int_eq(result.dead_letters, 1);
    f.judge = NULL;
    fake_write(&f, 5, 56);
    sync_ok(&f, &result);
    ck_assert_int_eq(result.dead_letters, 0);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}

START_TEST(one_document_that_is_answered_with_500_again_and_again_is_a_dead_letter)
{
    poisoned(500);
}
END_TEST

START_TEST(one_document_that_is_answered_with_429_again_and_again_is_a_dead_letter)
{
    poisoned(429);
}
END_TEST

/* Expects a temporary error and no dead letter. */
static void waits(struct fake *f)
{
    struct err err;
    struct pipeline_result result;
    f->judged_status = 500;
    ck_assert_int_eq(fake_sync(f, &result, &err), ERR_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(err.message, "limits.retry_budget"));
    f->judge = NULL;
    f->judge_witness = NULL;
    sync_ok(f, &result);
    ck_assert_int_eq(result.dead_letters, 0);
    ck_assert(fake_equal(f));
    fake_release(f);
}

START_TEST(a_service_that_refuses_everything_makes_no_dead_letters)
{
    struct fake f;
    fake_init(&f, 40);
    f.judge = nothing_for_now;
    f.judge_witness = nothing_for_now;
    waits(&f);
}
END_TEST

START_TEST(a_service_that_begins_to_refuse_everything_makes_no_dead_letters)
{
    struct fake f;
    fake_init(&f, 40);
    f.judge = never_k5_for_now;
    f.judge_witness = nothing_for_now; /* the shard accepts nothing */
    waits(&f);
}
END_TEST

START_TEST(an_ingest_pipeline_that_refuses_everything_makes_no_dead_letters)
{
    struct fake f;
    fake_init(&f, 40);
    f.judge = nothing_for_now; /* does not apply to deletes */
    waits(&f);
}
END_TEST

/* A data stream accepts no deletes. Operations accepted since the last refusal serve as the
 * witness. */
static bool stream_refuses(int status, bool others)
{
    struct batch b;
    uint64_t passed = 0;
    bool rejected = false;
    batch_init(&b, 100000, 100000, 100);
    b.creates = true;
    (void)batch_begin(&b, OPERATION_UPSERT, span_make("a", 1), OPERATION_CREATES, 1);
    buf_push_literal(&b.bytes, "{}\n");
    ck_assert(batch_commit(&b));
    for (int i = 0; i < 2 * REFUSED_TIMES && !rejected; i++) {
        refused_accompany(&b);
        ck_assert_uint_eq(b.count, 1);
        b.http_status = 200;
        b.operations[0].outcome = OUTCOME_RETRY;
        b.operations[0].http_status = status;
        passed += others;
        (void)refused_judge(&b, NULL, &passed);
        rejected = b.operations[0].outcome == OUTCOME_REJECTED;
    }
    batch_release(&b);
    return rejected;
}

START_TEST(of_a_data_stream_only_what_blames_the_document_counts)
{
    ck_assert(stream_refuses(500, true));
    ck_assert(!stream_refuses(500, false));
    ck_assert(!stream_refuses(429, true));
    ck_assert(!stream_refuses(503, true));
}
END_TEST

SUITE_MAIN("engine/refused",
           one_document_that_is_answered_with_500_again_and_again_is_a_dead_letter,
           one_document_that_is_answered_with_429_again_and_again_is_a_dead_letter,
           a_service_that_refuses_everything_makes_no_dead_letters,
           a_service_that_begins_to_refuse_everything_makes_no_dead_letters,
           an_ingest_pipeline_that_refuses_everything_makes_no_dead_letters,
           of_a_data_stream_only_what_blames_the_document_counts)
