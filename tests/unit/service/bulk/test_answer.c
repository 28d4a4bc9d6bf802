/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk answers of both products, split at every position, and answers that must not be accepted. */
#include "rowferry/service/bulk/answer.h"

#include <stdio.h>

#include "suite.h"

#define OURS 10

static void make_batch(struct batch *b, const char *kinds)
{
    batch_init(b, 1 << 20, 1 << 20, 10000);
    for (size_t i = 0; kinds[i] != '\0'; i++) {
        char key[16];
        int len = snprintf(key, sizeof(key), "%zu", i);
        enum operation_kind kind = kinds[i] == 'd' ? OPERATION_DELETE : OPERATION_UPSERT;
        batch_begin(b, kind, span_make(key, (size_t)len), OURS, 1);
        buf_push_literal(&b->bytes, "{}\n");
        ck_assert(batch_commit(b));
        b->operations[i].attempts = 2;
    }
}

/* Feeds the answer in two pieces, split at `cut`. Returns the result of answer_end. */
static int read_cut(struct answer *a, struct batch *b, const char *json, size_t cut,
                    struct err *err)
{
    answer_begin(a, b, NULL);
    (void)answer_feed(a, json, cut);
    (void)answer_feed(a, json + cut, strlen(json) - cut);
    return answer_end(a, err);
}

static int read_bytes(struct answer *a, struct batch *b, const char *json, struct err *err)
{
    answer_begin(a, b, NULL);
    for (const char *p = json; *p != '\0'; p++) {
        (void)answer_feed(a, p, 1);
    }
    return answer_end(a, err);
}

/* `outcomes` has one letter per operation: u d(one) r o x(rejected) s. */
static void check_outcomes(const struct batch *b, const char *outcomes, const char *json,
                           size_t cut)
{
    static const char letters[] = "udroxs";
    for (size_t i = 0; i < b->count; i++) {
        char got = letters[b->operations[i].outcome];
        ck_assert_msg(got == outcomes[i], "operation %zu of %s cut at %zu: %c", i, json, cut, got);
    }
}

/* Tries every split into two pieces, and byte by byte. */
static void expect(const char *kinds, const char *json, const char *outcomes)
{
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    make_batch(&b, kinds);
    bool readable = strchr(outcomes, 'u') == NULL;
    for (size_t cut = 0; cut <= strlen(json); cut++) {
        ck_assert_msg((read_cut(a, &b, json, cut, &err) == 0) == readable, "%s cut at %zu", json,
                      cut);
        check_outcomes(&b, outcomes, json, cut);
    }
    ck_assert((read_bytes(a, &b, json, &err) == 0) == readable);
    check_outcomes(&b, outcomes, json, 0);
    ck_assert(readable || err.class == ERR_TRANSIENT);
    answer_free(a);
    batch_release(&b);
}

#define GOOD "{\"index\":{\"status\":200}}"
#define ITEMS(items) "{\"items\":[" items "]}"
#define NAMED(action, id, status) "{\"" action "\":{\"_id\":\"" id "\",\"status\":" status "}}"
#define WRONG(id, status)                                                                          \
    "{\"index\":{\"_id\":\"" id "\",\"status\":" status                                            \
    ",\"error\":{\"type\":\"x\",\"reason\":\"of " id "\"}}}"
#define MISSING "{\"delete\":{\"status\":404}}"
#define CONFLICT(current)                                                                          \
    "{\"index\":{\"status\":409,\"error\":{\"type\":\"version_conflict_engine_exception\","        \
    "\"reason\":\"[2]: version conflict, current version [" current                                \
    "] is higher or equal to the one provided [10]\",\"index\":\"t\",\"shard\":\"0\","             \
    "\"index_uuid\":\"x\"}}}"
#define MALFORMED                                                                                  \
    "{\"index\":{\"status\":400,\"error\":{\"type\":\"document_parsing_exception\","               \
    "\"reason\":\"[1:6] failed to parse field [n] of type [long] in document with id '1'. "        \
    "Preview of field's value: '\\u00e9\\n\\\"abc'\",\"caused_by\":{\"type\":"                     \
    "\"illegal_argument_exception\",\"reason\":\"For input string: \\\"abc\\\"\","                 \
    "\"caused_by\":{\"type\":\"deeper\",\"reason\":\"still\"}}}}}"

START_TEST(a_good_answer_of_both_products)
{
    expect("uud", "{\"errors\":false,\"items\":[" GOOD "," GOOD "," MISSING "]}", "ddd");
    expect("uu", "{\"took\":4,\"errors\":false,\"items\":[" GOOD "," GOOD "]}", "dd");
    expect("uu", "{\"errors\":false,\"took\":0,\"items\":[" GOOD "," GOOD "]}", "dd");
    expect("u", "{\"took\":0,\"ingest_took\":2,\"errors\":false,\"items\":[" GOOD "]}\n", "d");
}
END_TEST

START_TEST(an_unfiltered_answer_is_read_too)
{
    expect(
        "ud",
        "{\"took\":30,\"errors\":true,\"items\":[{\"index\":{\"_index\":\"i]}\",\"_id\":\"0\","
        "\"_version\":7,\"result\":\"created\",\"_shards\":{\"total\":2,\"failed\":0},"
        "\"status\":201}},{\"delete\":{\"_index\":\"\\\"{\",\"_id\":\"1\",\"result\":\"not_found\","
        "\"status\":404}}]}",
        "dd");
}
END_TEST

START_TEST(mixed_outcomes_go_to_their_operations)
{
    expect("uduuuu",
           "{\"errors\":true,\"items\":[" GOOD "," MISSING "," CONFLICT("10") "," CONFLICT(
               "11") "," MALFORMED ",{\"index\":{\"status\":429,\"error\":{\"type\":\"x\","
                     "\"reason\":null}}}]}",
           "dddoxr");
}
END_TEST

START_TEST(items_are_read_before_and_after_the_member_errors)
{
    expect("uu", "{\"items\":[" GOOD "," MALFORMED "],\"errors\":true}", "dx");
    expect("uu", "{\"items\":[" GOOD "," MALFORMED "],\"errors\":false}", "dx");
    expect("u", "{\"items\":[" GOOD "]}", "d");
}
END_TEST

START_TEST(seen_version_status_and_reason_are_kept)
{
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    make_batch(&b, "uu");
    const char *json = "{\"errors\":true,\"items\":[" CONFLICT("77") "," MALFORMED "]}";
    ck_assert_int_eq(read_cut(a, &b, json, 9, &err), 0);
    ck_assert_int_eq(b.operations[0].seen, 77);
    ck_assert_int_eq(b.operations[0].http_status, 409);
    ck_assert_int_eq(b.operations[1].http_status, 400);
    struct span reason = batch_reason(&b, &b.operations[1]);
    static const char wanted[] =
        "document_parsing_exception: [1:6] failed to parse field [n] of type [long] in document "
        "with id '1'. Preview of field's value: '\xc3\xa9 \"abc', caused by "
        "illegal_argument_exception: For input string: \"abc\"";
    ck_assert_msg(span_is(reason, wanted), "%.*s", (int)reason.len, reason.data);
    answer_free(a);
    batch_release(&b);
}
END_TEST

START_TEST(an_error_may_be_a_bare_text_or_null)
{
    expect("uu",
           "{\"items\":[{\"index\":{\"status\":400,\"error\":\"no handler\"}},"
           "{\"index\":{\"error\":null,\"status\":200}}]}",
           "xd");
}
END_TEST

START_TEST(unknown_keys_are_skipped_at_any_depth)
{
    expect("u",
           "{\"a\":{\"items\":[1,2],\"errors\":false},\"b\":[[[{\"status\":500}]]],"
           "\"items\":[{\"index\":{\"x\":{\"status\":500,\"error\":{}},\"status\":200,"
           "\"y\":[{\"status\":1e999999999999999999999999999}]}}],\"z\":-0.0}",
           "d");
}
END_TEST

START_TEST(a_failed_item_is_seen_even_if_errors_is_false)
{
    expect("uu", "{\"errors\":false,\"items\":[" GOOD "," MALFORMED "]}", "dx");
    expect("u", "{\"errors\":false,\"items\":[{\"index\":{\"status\":429}}]}", "r");
    expect("u", "{\"errors\":true,\"items\":[" GOOD "]}", "d");
}
END_TEST

START_TEST(a_document_in_the_failure_store_is_not_done)
{
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    static const char json[] =
        "{\"errors\":false,\"items\":[{\"index\":{\"failure_store\":\"used\",\"status\":201}},"
        "{\"index\":{\"status\":201,\"failure_store\":\"used\"}},"
        "{\"index\":{\"status\":201,\"failure_store\":\"not_applicable_or_unknown\"}}]}";
    expect("uuu", json, "xxd");
    make_batch(&b, "uuu");
    ck_assert_int_eq(read_cut(a, &b, json, 9, &err), 0);
    struct span reason = batch_reason(&b, &b.operations[1]);
    ck_assert_msg(span_is(reason, "failure_store: a data stream's failure store took the document"),
                  "%.*s", (int)reason.len, reason.data);
    answer_free(a);
    batch_release(&b);
}
END_TEST

/* OpenSearch 2.19.4 answers like this if an ingest pipeline refuses or drops several documents. */
START_TEST(items_in_another_order_match_by_id)
{
    expect("uuuu",
           ITEMS(NAMED("index", "0", "201") "," WRONG("2", "400") "," WRONG("1", "429") "," NAMED(
               "index", "3", "200")),
           "drxd");
    expect("uuduu",
           ITEMS(NAMED("index", "0", "201") "," NAMED("index", "4", "200") "," NAMED(
               "delete", "2", "404") "," WRONG("3", "500") "," WRONG("1", "500")),
           "drdrd");
    expect("uuu", ITEMS(WRONG("2", "400") "," WRONG("1", "400") "," NAMED("index", "0", "200")),
           "dxx");
}
END_TEST

START_TEST(reasons_in_another_order_match_by_id)
{
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    make_batch(&b, "uuu");
    ck_assert_int_eq(
        read_bytes(a, &b, ITEMS(WRONG("0", "400") "," WRONG("2", "400") "," WRONG("1", "400")),
                   &err),
        0);
    for (size_t i = 0; i < 3; i++) {
        char wanted[] = "x: of ?";
        wanted[6] = (char)('0' + i);
        struct span reason = batch_reason(&b, &b.operations[i]);
        ck_assert_msg(span_is(reason, wanted), "%zu: %.*s", i, (int)reason.len, reason.data);
    }
    answer_free(a);
    batch_release(&b);
}
END_TEST

/* A document and a delete in the same batch have the same id. */
START_TEST(items_with_one_id_are_distinguished_by_kind)
{
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    make_batch(&b, "uud");
    b.operations[2].key_offset = b.operations[1].key_offset;
    static const char *const answers[] = {
        ITEMS(WRONG("1", "500") "," WRONG("0", "500") "," NAMED("delete", "1", "404")),
        ITEMS(NAMED("delete", "1", "404") "," WRONG("1", "500") "," WRONG("0", "500")),
        ITEMS(WRONG("0", "500") "," NAMED("delete", "1", "404") "," WRONG("1", "500")),
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        ck_assert_int_eq(read_bytes(a, &b, answers[i], &err), 0);
        check_outcomes(&b, "rrd", answers[i], 0);
    }
    answer_free(a);
    batch_release(&b);
}
END_TEST

START_TEST(an_item_without_an_operation_or_a_second_one_makes_all_unknown)
{
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    expect("uu", ITEMS(NAMED("index", "1", "200") "," NAMED("index", "1", "200")), "uu");
    expect("uu", ITEMS(NAMED("index", "0", "200") "," WRONG("0", "400")), "uu");
    expect("uu", ITEMS(WRONG("1", "400") "," GOOD), "uu");
    expect("uu", ITEMS(NAMED("index", "0", "200") "," NAMED("index", "5", "200")), "uu");
    expect("u", ITEMS(NAMED("delete", "0", "200")), "u");
    expect("d", ITEMS(NAMED("index", "0", "200")), "u");
    expect("u", "{\"items\":[{\"index\":{\"_id\":\"0\",\"_id\":\"0\",\"status\":200}}]}", "u");
    make_batch(&b, "uu");
    ck_assert_int_eq(
        read_bytes(a, &b, ITEMS(NAMED("index", "0", "200") "," NAMED("index", "5", "200")), &err),
        ERR_TRANSIENT);
    ck_assert_msg(
        strstr(err.message, "item 2 of the answer to a bulk request matches no operation") != NULL,
        "%s", err.message);
    answer_free(a);
    batch_release(&b);
}
END_TEST

static void expect_key(const char *key, const char *quoted, bool ours)
{
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    char json[128];
    snprintf(json, sizeof(json), ITEMS(NAMED("index", "%s", "200")), quoted);
    batch_init(&b, 1 << 20, 1 << 20, 10);
    batch_begin(&b, OPERATION_UPSERT, span_make(key, strlen(key)), OURS, 1);
    buf_push_literal(&b.bytes, "{}\n");
    ck_assert(batch_commit(&b));
    for (size_t cut = 0; cut < strlen(json); cut++) {
        int rc = read_cut(a, &b, json, cut, &err);
        ck_assert_msg((rc == 0) == ours, "%s cut at %zu", json, cut);
    }
    answer_free(a);
    batch_release(&b);
}

START_TEST(an_id_is_compared_with_and_without_escapes)
{
    expect_key("a\xc3\xa9\x7f", "a\xc3\xa9\x7f", true);
    expect_key("a\xc3\xa9", "a\\u00e9", true);
    expect_key("a\tb", "a\\tb", true);
    expect_key("a\tb", "a\\nb", false);
    expect_key("a\tb", "a b", false);
    expect_key("a\tb", "a\tb", false);
    expect_key("a\"b\\c", "a\\\"b\\\\c", true);
    expect_key("a\\u0041", "a\\u0041", false);
    expect_key("aA", "a\\u0041", true);
    expect_key("a\",\"status\":200}},{\"index\":{\"_id\":\"a",
               "a\",\"status\":200}},{\"index\":{\"_id\":\"a", false);
}
END_TEST

START_TEST(a_wrong_number_of_items_makes_all_unknown)
{
    expect("uu", "{\"errors\":false,\"items\":[" GOOD "]}", "uu");
    expect("u", "{\"errors\":false,\"items\":[" GOOD "," GOOD "]}", "u");
    expect("uu", "{\"errors\":true,\"items\":[" GOOD "]}", "uu");
    expect("u", "{\"errors\":true,\"items\":[" GOOD "," GOOD "]}", "u");
    expect("u", "{\"errors\":false,\"items\":[]}", "u");
    expect("u", "{\"errors\":false}", "u");
    expect("u", "{}", "u");
}
END_TEST

START_TEST(an_answer_cut_at_any_byte_makes_all_unknown)
{
    const char *json = "{\"errors\":true,\"items\":[" GOOD "," MALFORMED "]}";
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    make_batch(&b, "uu");
    for (size_t len = 0; len < strlen(json); len++) {
        answer_begin(a, &b, NULL);
        ck_assert(answer_feed(a, json, len));
        ck_assert_int_eq(answer_end(a, &err), ERR_TRANSIENT);
        check_outcomes(&b, "uu", json, len);
        ck_assert_uint_eq(batch_reason(&b, &b.operations[1]).len, 0);
    }
    answer_free(a);
    batch_release(&b);
}
END_TEST

START_TEST(an_answer_of_another_kind_makes_all_unknown)
{
    static const char *const texts[] = {
        "<html><body>502 Bad Gateway</body></html>",
        "[]",
        "null",
        "\"items\"",
        "{\"items\":{}}",
        "{\"items\":[1]}",
        "{\"items\":[\"x\"]}",
        "{\"items\":[[]]}",
        "{\"items\":[{}]}x",
        "{\"items\":[{\"index\":5}]}",
        "{\"items\":[{\"index\":[200]}]}",
        "{\"items\":[{\"index\":{\"status\":\"200\"}}]}",
        "{\"items\":[{\"index\":{\"status\":99}}]}",
        "{\"items\":[{\"index\":{\"status\":2000}}]}",
        "{\"items\":[{\"index\":{\"status\":2e2}}]}",
        "{\"items\":[{\"index\":{\"status\":200}],}",
        "{\"items\":[" GOOD "],\"items\":[]}",
        "{\"items\":[{\"index\":{\"status\":200},\"delete\":{\"status\":200}}]}",
        "{\"errors\":false,\"items\":[" GOOD "]}{}",
        "{\"items\":[{\"index\":{\"status\":500,\"status\":200}}]}",
        "{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":200}}]}",
        "{\"items\":[{\"index\":{\"status\":200,\"_id\":\"00\"}}]}",
        "{\"errors\":false,\"items\":[5]}",
        "{\"errors\":false,\"items\":[[]]}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        expect("u", texts[i], "u");
    }
}
END_TEST

START_TEST(an_item_without_a_status_makes_one_operation_unknown)
{
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    make_batch(&b, "uu");
    ck_assert_int_eq(read_cut(a, &b, "{\"items\":[{\"index\":{}}," GOOD "]}", 3, &err), 0);
    check_outcomes(&b, "ud", "", 0);
    answer_free(a);
    batch_release(&b);
}
END_TEST

START_TEST(endless_nesting_and_reasons_stay_bounded)
{
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    make_batch(&b, "u");
    answer_begin(a, &b, NULL);
    bool going = answer_feed(a, "{\"x\":", 5);
    for (int i = 0; i < 1000000 && going; i++) {
        going = answer_feed(a, "[", 1);
    }
    ck_assert(!going);
    ck_assert_int_eq(answer_end(a, &err), ERR_TRANSIENT);
    answer_begin(a, &b, NULL);
    static const char start[] = "{\"items\":[{\"index\":{\"status\":400,\"error\":{\"reason\":\"";
    ck_assert(answer_feed(a, start, sizeof(start) - 1));
    for (int i = 0; i < 100000; i++) {
        ck_assert(answer_feed(a, "\\u20ac", 6));
    }
    ck_assert(answer_feed(a, "\"}}}]}", 6));
    ck_assert_int_eq(answer_end(a, &err), 0);
    ck_assert_int_eq(b.operations[0].outcome, OUTCOME_REJECTED);
    ck_assert_uint_le(batch_reason(&b, &b.operations[0]).len, 512);
    answer_free(a);
    batch_release(&b);
}
END_TEST

START_TEST(a_reader_is_used_for_one_answer_after_another)
{
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    make_batch(&b, "u");
    ck_assert_int_eq(read_cut(a, &b, "{\"items\":[" MALFORMED "]}", 40, &err), 0);
    ck_assert_int_eq(read_cut(a, &b, "<html>", 2, &err), ERR_TRANSIENT);
    ck_assert_int_eq(read_cut(a, &b, "{\"errors\":false,\"items\":[" GOOD "]}", 5, &err), 0);
    check_outcomes(&b, "d", "", 0);
    ck_assert_int_eq(b.operations[0].http_status, 200);
    ck_assert_uint_eq(b.operations[0].reason_len, 0);
    answer_free(a);
    batch_release(&b);
}
END_TEST

SUITE_MAIN("service/answer", a_good_answer_of_both_products, an_unfiltered_answer_is_read_too,
           mixed_outcomes_go_to_their_operations, items_are_read_before_and_after_the_member_errors,
           a_failed_item_is_seen_even_if_errors_is_false,
           a_document_in_the_failure_store_is_not_done, items_in_another_order_match_by_id,
           reasons_in_another_order_match_by_id, items_with_one_id_are_distinguished_by_kind,
           an_item_without_an_operation_or_a_second_one_makes_all_unknown,
           an_id_is_compared_with_and_without_escapes, seen_version_status_and_reason_are_kept,
           an_error_may_be_a_bare_text_or_null, unknown_keys_are_skipped_at_any_depth,
           a_wrong_number_of_items_makes_all_unknown, an_answer_cut_at_any_byte_makes_all_unknown,
           an_answer_of_another_kind_makes_all_unknown,
           an_item_without_a_status_makes_one_operation_unknown,
           endless_nesting_and_reasons_stay_bounded, a_reader_is_used_for_one_answer_after_another)
