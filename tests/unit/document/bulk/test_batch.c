/* SPDX-License-Identifier: Apache-2.0 */
/* The batch: complete operations or none, and room for one more unless it is full. */
#include "rowferry/document/bulk/batch.h"

#include <string.h>

#include "suite.h"

static struct span span_text(const char *text)
{
    return span_make(text, strlen(text));
}

static bool add(struct batch *b, const char *key, const char *bytes, int64_t version)
{
    batch_begin(b, OPERATION_UPSERT, span_text(key), version, 3);
    buf_push_text(&b->bytes, bytes);
    return batch_commit(b);
}

START_TEST(operations_follow_each_other_in_the_body)
{
    struct batch b;
    batch_init(&b, 1000, 1000, 10);
    ck_assert(batch_empty(&b));
    ck_assert(add(&b, "1", "{one}\n", 10));
    ck_assert(add(&b, "two", "{two}\n", 11));
    ck_assert_uint_eq(b.count, 2);
    ck_assert_str_eq(buf_text(&b.bytes), "{one}\n{two}\n");
    const struct operation *o = &b.operations[1];
    ck_assert(span_is(batch_key(&b, o), "two"));
    ck_assert_uint_eq(o->offset, 6);
    ck_assert_uint_eq(o->len, 6);
    ck_assert_int_eq(o->version, 11);
    ck_assert_uint_eq(o->page, 3);
    ck_assert_int_eq(o->outcome, OUTCOME_UNKNOWN);
    batch_release(&b);
}
END_TEST

START_TEST(a_rollback_leaves_no_byte_behind)
{
    struct batch b;
    batch_init(&b, 1000, 1000, 10);
    ck_assert(add(&b, "1", "{one}\n", 10));
    batch_begin(&b, OPERATION_DELETE, span_text("gone"), 12, 3);
    buf_push_text(&b.bytes, "half an oper");
    batch_rollback(&b);
    ck_assert_uint_eq(b.count, 1);
    ck_assert_str_eq(buf_text(&b.bytes), "{one}\n");
    ck_assert_str_eq(buf_text(&b.keys), "1");
    ck_assert(add(&b, "2", "{two}\n", 12));
    ck_assert_str_eq(buf_text(&b.bytes), "{one}\n{two}\n");
    batch_release(&b);
}
END_TEST

START_TEST(a_batch_that_is_not_full_takes_the_greatest_document)
{
    struct batch b;
    batch_init(&b, 1000, 100000, 10);
    char *great = mem_zero(100001, 1);
    memset(great, 'x', 100000);
    char small[300] = {0}; /* the struct operation counts too */
    memset(small, 'x', 299);
    ck_assert(add(&b, "1", small, 1));
    ck_assert(!batch_full(&b));
    ck_assert(add(&b, "2", great, 1));
    ck_assert(batch_full(&b));
    ck_assert(!add(&b, "3", great, 1));
    ck_assert_uint_eq(b.count, 2);
    ck_assert_uint_eq(b.bytes.len, 100299);
    free(great);
    batch_release(&b);
}
END_TEST

/* Rows of 1 MiB once made requests of twice the target size, and used as much memory. */
START_TEST(a_batch_is_full_where_one_as_large_as_the_last_would_pass_its_aim)
{
    struct batch b;
    char document[600] = {0};
    batch_init(&b, 1000, 50000, 10);
    memset(document, 'x', 599);
    ck_assert(add(&b, "1", "{}\n", 1));
    ck_assert(!batch_full(&b));
    batch_reset(&b);
    ck_assert(add(&b, "1", document, 1));
    ck_assert(batch_full(&b));
    batch_release(&b);
}
END_TEST

START_TEST(a_batch_of_tiny_documents_is_full_by_its_memory)
{
    struct batch b;
    batch_init(&b, 10000, 100, 100000);
    size_t count = 0;
    while (!batch_full(&b)) {
        ck_assert(add(&b, "k", "x", 1));
        count++;
    }
    ck_assert_uint_le(count * sizeof(struct operation), 10000 + sizeof(struct operation));
    batch_release(&b);
}
END_TEST

START_TEST(a_batch_is_full_by_its_operations_too)
{
    struct batch b;
    batch_init(&b, 1000000, 100, 100);
    for (int i = 0; i < 99; i++) {
        ck_assert(add(&b, "k", "x", 1));
        ck_assert(!batch_full(&b));
    }
    ck_assert(add(&b, "k", "x", 1));
    ck_assert(batch_full(&b));
    batch_reset(&b);
    ck_assert(batch_empty(&b));
    ck_assert(!batch_full(&b));
    ck_assert_uint_eq(b.bytes.len, 0);
    batch_release(&b);
}
END_TEST

static void settle(struct batch *b, size_t index, enum outcome outcome)
{
    b->operations[index].outcome = outcome;
    b->operations[index].attempts++;
    batch_set_reason(b, &b->operations[index], span_text("t"), span_text("r"));
}

START_TEST(what_is_not_settled_stays_in_order_with_its_bytes)
{
    struct batch b;
    batch_init(&b, 1000, 1000, 10);
    ck_assert(add(&b, "1", "{one}\n", 10));
    ck_assert(add(&b, "22", "{twotwo}\n", 11));
    ck_assert(add(&b, "3", "{three}\n", 12));
    ck_assert(add(&b, "4", "{four}\n", 13));
    b.send_limit = 3;
    ck_assert_uint_eq(batch_in_flight(&b), 3);
    ck_assert_uint_eq(batch_in_flight_bytes(&b), 23);
    settle(&b, 0, OUTCOME_DONE);
    settle(&b, 1, OUTCOME_RETRY);
    settle(&b, 2, OUTCOME_REJECTED);
    batch_keep_unsettled(&b);
    ck_assert_uint_eq(b.count, 2);
    ck_assert_str_eq(buf_text(&b.bytes), "{twotwo}\n{four}\n");
    ck_assert_str_eq(buf_text(&b.keys), "224");
    const struct operation *o = &b.operations[0];
    ck_assert(span_is(batch_key(&b, o), "22"));
    ck_assert(span_is(batch_key(&b, o + 1), "4"));
    ck_assert_int_eq(o->outcome, OUTCOME_UNKNOWN);
    ck_assert_uint_eq(o->attempts, 1);
    ck_assert_uint_eq(o->reason_len, 0);
    ck_assert_int_eq(o->version, 11);
    ck_assert(add(&b, "5", "{five}\n", 14));
    ck_assert_str_eq(buf_text(&b.bytes), "{twotwo}\n{four}\n{five}\n");
    batch_release(&b);
}
END_TEST

START_TEST(a_reason_is_cut_on_a_character)
{
    struct batch b;
    batch_init(&b, 1000, 1000, 10);
    ck_assert(add(&b, "1", "x", 1));
    struct operation *o = &b.operations[0];
    batch_set_reason(&b, o, span_text("mapper_parsing_exception"), span_text("failed"));
    ck_assert(span_is(batch_reason(&b, o), "mapper_parsing_exception: failed"));
    ck_assert(span_is(batch_error_type(&b, o), "mapper_parsing_exception"));
    char *accents = mem_zero(1001, 1);
    for (size_t i = 0; i < 1000; i += 2) {
        memcpy(accents + i, "\xc3\xa9", 2);
    }
    batch_set_reason(&b, o, span_text("t"), span_text(accents));
    ck_assert_uint_eq(o->reason_len, 511);
    ck_assert_mem_eq(batch_reason(&b, o).data + 509, "\xc3\xa9", 2);
    batch_set_reason(&b, o, span_text(""), span_text("only"));
    ck_assert(span_is(batch_reason(&b, o), "only"));
    ck_assert_uint_eq(batch_error_type(&b, o).len, 0);
    free(accents);
    batch_release(&b);
}
END_TEST

START_TEST(the_first_that_is_deferred_keeps_its_key_and_its_bytes)
{
    static const char *const keys[] = {"bb", "ccc", "a"};
    static const char *const bodies[] = {"22\n", "333\n", "1\n"};
    struct batch b;
    batch_init(&b, 1 << 20, 1 << 20, 100);
    ck_assert(add(&b, "a", "1\n", 1) && add(&b, "bb", "22\n", 2) && add(&b, "ccc", "333\n", 3));
    batch_defer_first(&b);
    ck_assert_str_eq(buf_text(&b.bytes), "22\n333\n1\n");
    for (size_t i = 0; i < 3; i++) {
        const struct operation *o = &b.operations[i];
        ck_assert(span_is(batch_key(&b, o), keys[i]));
        ck_assert(span_is(span_make(buf_text(&b.bytes) + o->offset, o->len), bodies[i]));
    }
    b.send_limit = 1;
    b.operations[0].outcome = OUTCOME_DONE;
    batch_keep_unsettled(&b);
    ck_assert_str_eq(buf_text(&b.bytes), "333\n1\n");
    ck_assert(span_is(batch_key(&b, &b.operations[1]), "a"));
    batch_release(&b);
}
END_TEST

SUITE_MAIN("document/batch", operations_follow_each_other_in_the_body,
           a_rollback_leaves_no_byte_behind, a_batch_that_is_not_full_takes_the_greatest_document,
           a_batch_is_full_where_one_as_large_as_the_last_would_pass_its_aim,
           a_batch_is_full_by_its_operations_too, a_batch_of_tiny_documents_is_full_by_its_memory,
           what_is_not_settled_stays_in_order_with_its_bytes, a_reason_is_cut_on_a_character,
           the_first_that_is_deferred_keeps_its_key_and_its_bytes)
