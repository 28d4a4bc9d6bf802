/* SPDX-License-Identifier: Apache-2.0 */
/* The encoder: the two lines of an operation, refusals, and that a refused row leaves no bytes. */
#include "encoding.h"
#include "rowferry/document/model/key.h"
#include "suite.h"

#define HASH "sha256:45a7c7ef95c3417e800362f5672aba16da807261fe7121f3a81b0a0fb6b9a05c"

START_TEST(null_is_left_out)
{
    struct bench t;
    struct refusal refusal;
    open_one(&t, "text", "{\"type\":\"text\"}");
    ck_assert(encode(&t, "1", NULL, &refusal));
    ck_assert_str_eq(buf_text(&t.batch.bytes), ACTION "{\"source_id\":\"1\"}\n");
    bench_close(&t);
}
END_TEST

START_TEST(a_key_with_escapes_is_the_same_in_both_lines)
{
    struct bench t;
    struct refusal refusal;
    open_one(&t, "text", "{\"type\":\"text\"}");
    ck_assert(encode(&t, "a\"\\:\xf0\x9f\x90\x98\n", "x", &refusal));
    ck_assert_str_eq(buf_text(&t.batch.bytes),
                     "{\"index\":{\"_id\":\"a\\\"\\\\:\xf0\x9f\x90\x98\\n\",\"version\":5,"
                     "\"version_type\":\"external\"}}\n{\"source_id\":\"a\\\"\\\\:"
                     "\xf0\x9f\x90\x98\\n\",\"p\":\"x\"}\n");
    ck_assert_str_eq(buf_text(&t.batch.keys), "a\"\\:\xf0\x9f\x90\x98\n");
    bench_close(&t);
}
END_TEST

START_TEST(versions_are_written_in_full)
{
    static const int64_t versions[] = {0, 7, 42, 100, 1763719200000000, INT64_MAX};
    static const char *const texts[] = {
        "0", "7", "42", "100", "1763719200000000", "9223372036854775807"};
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        struct batch b;
        struct refusal refusal;
        struct buf expected;
        batch_init(&b, 1000, 1000, 10);
        buf_init(&expected, 1000);
        ck_assert(encode_delete(&b, span_make("k", 1), versions[i], 9, &refusal));
        buf_printf(&expected,
                   "{\"delete\":{\"_id\":\"k\",\"version\":%s,\"version_type\":\"external\"}}\n",
                   texts[i]);
        ck_assert_str_eq(buf_text(&b.bytes), buf_text(&expected));
        ck_assert_int_eq(b.operations[0].kind, OPERATION_DELETE);
        buf_release(&expected);
        batch_release(&b);
    }
}
END_TEST

START_TEST(a_key_that_cannot_be_an_id_is_refused)
{
    struct bench t;
    struct refusal refusal;
    char key[KEY_MAX_BYTES + 2] = {0};
    open_one(&t, "text", "{\"type\":\"text\"}");
    ck_assert(!encode(&t, NULL, "x", &refusal));
    ck_assert_str_eq(refusal.reason, "a key with a part that is null");
    ck_assert(!encode(&t, "", "x", &refusal));
    ck_assert_str_eq(refusal.reason, "a key that is empty");
    memset(key, 'k', KEY_MAX_BYTES);
    ck_assert(encode(&t, key, "x", &refusal));
    key[KEY_MAX_BYTES] = 'k';
    ck_assert(!encode(&t, key, "x", &refusal));
    ck_assert_str_eq(refusal.reason, "a key of more than 512 bytes");
    ck_assert_ptr_null(refusal.column);
    ck_assert(!encode_delete(&t.batch, span_make(key, KEY_MAX_BYTES + 1), 5, 1, &refusal));
    ck_assert(!encode_delete(&t.batch, span_make("", 0), 5, 1, &refusal));
    ck_assert_uint_eq(t.batch.count, 1);
    bench_close(&t);
}
END_TEST

START_TEST(a_hashed_key_is_whole_in_source_id)
{
    struct bench t;
    struct refusal refusal;
    char key[KEY_LONG_MAX_BYTES + 2] = {0};
    open_one(&t, "text", "{\"type\":\"text\"}");
    t.batch.routing.hashed = true;
    memset(key, 'k', KEY_MAX_BYTES + 1);
    ck_assert(encode(&t, key, NULL, &refusal));
    ck_assert(encode_delete(&t.batch, span_make(key, KEY_MAX_BYTES + 1), 6, 1, &refusal));
    struct buf expected;
    buf_init(&expected, 4096);
    buf_printf(&expected,
               "{\"index\":{\"_id\":\"" HASH "\",\"version\":5,\"version_type\":\"external\"}}\n"
               "{\"source_id\":\"%s\"}\n{\"delete\":{\"_id\":\"" HASH "\",\"version\":6,"
               "\"version_type\":\"external\"}}\n",
               key);
    ck_assert_str_eq(buf_text(&t.batch.bytes), buf_text(&expected));
    ck_assert_uint_eq(batch_key(&t.batch, &t.batch.operations[0]).len, KEY_MAX_BYTES + 1);
    buf_release(&expected);
    batch_reset(&t.batch);
    memset(key, 1, KEY_LONG_MAX_BYTES);
    ck_assert(encode_delete(&t.batch, span_make(key, KEY_LONG_MAX_BYTES), 6, 1, &refusal));
    key[KEY_LONG_MAX_BYTES] = 1;
    ck_assert(!encode(&t, key, NULL, &refusal));
    ck_assert_str_eq(refusal.reason, "a key of more than 8192 bytes");
    bench_close(&t);
}
END_TEST

START_TEST(a_document_that_is_too_large_is_refused_however_large)
{
    static const size_t sizes[] = {1000, 5000, 3000000, 200};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct bench t;
        struct refusal refusal;
        char *text = mem_zero(sizes[i] + 1, 1);
        memset(text, i == 3 ? 1 : 'x', sizes[i]);
        bench_open(&t, "{\"properties\":{\"p\":{\"type\":\"text\"}}}",
                   (const char *[]){"p", "text", NULL}, 1000);
        ck_assert(encode(&t, "1", "x", &refusal));
        size_t len = t.batch.bytes.len;
        ck_assert(!encode(&t, "2", text, &refusal));
        ck_assert_str_eq(refusal.reason, "a document of more than 1000 bytes");
        ck_assert(!refusal.no_room);
        ck_assert_uint_eq(t.batch.bytes.len, len);
        ck_assert(encode(&t, "3", "x", &refusal));
        free(text);
        bench_close(&t);
    }
}
END_TEST

START_TEST(a_full_batch_is_not_the_rows_fault)
{
    struct bench t;
    struct refusal refusal;
    char text[901];
    memset(text, 'x', 900);
    text[900] = '\0';
    bench_open(&t, "{\"properties\":{\"p\":{\"type\":\"text\"}}}",
               (const char *[]){"p", "text", NULL}, 1000);
    batch_release(&t.batch);
    batch_init(&t.batch, 1000, 1000, 1000);
    while (encode(&t, "1", text, &refusal)) {
        ck_assert_uint_lt(t.batch.count, 100);
    }
    ck_assert(refusal.no_room);
    ck_assert(batch_full(&t.batch));
    batch_reset(&t.batch);
    ck_assert(encode(&t, "1", text, &refusal));
    bench_close(&t);
}
END_TEST

START_TEST(a_refusal_shows_the_values_beginning_escaped_and_whole_characters)
{
    struct bench t;
    struct refusal refusal;
    struct buf text;
    buf_init(&text, 1000);
    open_one(&t, "float8", "{\"type\":\"double\"}");
    ck_assert(!encode(&t, "1", "\x1b[31m\nx", &refusal));
    ck_assert_str_eq(refusal.beginning, "\\x1b[31m\\nx");
    for (int i = 0; i < 40; i++) {
        buf_push_literal(&text, "\xc3\xa9");
    }
    ck_assert(!encode(&t, "1", buf_text(&text), &refusal));
    ck_assert_uint_eq(strlen(refusal.beginning), 62);
    ck_assert_str_eq(refusal.beginning + 60, "\xc3\xa9");
    buf_release(&text);
    bench_close(&t);
}
END_TEST

START_TEST(a_routed_key_names_its_part_in_both_actions)
{
    struct bench t;
    struct refusal refusal;
    open_one(&t, "text", "{\"type\":\"text\"}");
    t.batch.routing = (struct key_routing){.part = 0, .count = 2};
    ck_assert(encode(&t, "e\"u:42", NULL, &refusal));
    ck_assert(encode_delete(&t.batch, span_make("eu:43", 5), 6, 1, &refusal));
    ck_assert_str_eq(buf_text(&t.batch.bytes),
                     "{\"index\":{\"_id\":\"e\\\"u:42\",\"routing\":\"e\\\"u\",\"version\":5,"
                     "\"version_type\":\"external\"}}\n{\"source_id\":\"e\\\"u:42\"}\n"
                     "{\"delete\":{\"_id\":\"eu:43\",\"routing\":\"eu\",\"version\":6,"
                     "\"version_type\":\"external\"}}\n");
    bench_close(&t);
}
END_TEST

START_TEST(a_data_stream_gets_creates_without_a_version_and_no_deletes)
{
    struct bench t;
    struct refusal refusal;
    open_one(&t, "text", "{\"type\":\"text\"}");
    t.batch.creates = true;
    ck_assert(encode(&t, "a\"b", "x", &refusal));
    ck_assert(!encode_delete(&t.batch, span_make("7", 1), 6, 1, &refusal));
    ck_assert_str_eq(refusal.reason, "the row is gone, and a data stream takes no deletes");
    ck_assert(!refusal.no_room);
    ck_assert_str_eq(buf_text(&t.batch.bytes), "{\"create\":{\"_id\":\"a\\\"b\"}}\n"
                                               "{\"source_id\":\"a\\\"b\",\"p\":\"x\"}\n");
    ck_assert_uint_eq(t.batch.count, 1);
    ck_assert_int_eq(t.batch.operations[0].version, OPERATION_CREATES);
    bench_close(&t);
}
END_TEST

START_TEST(a_row_that_could_not_be_read_says_why)
{
    struct bench t;
    struct refusal refusal;
    struct value values[2] = {rows_value(NULL), rows_value(NULL)};
    struct row row = {.values = values, .count = 2, .unreadable = "a character"};
    open_one(&t, "text", "{\"type\":\"text\"}");
    ck_assert(!encode_upsert(&t.batch, &t.plan, &row, 5, 1, &refusal));
    ck_assert_str_eq(refusal.reason, "a character");
    values[0] = rows_value("1");
    ck_assert(!encode_upsert(&t.batch, &t.plan, &row, 5, 1, &refusal));
    ck_assert_str_eq(refusal.reason, "a character");
    ck_assert_uint_eq(t.batch.count, 0);
    bench_close(&t);
}
END_TEST

SUITE_MAIN("document/encode", a_row_that_could_not_be_read_says_why,
           a_data_stream_gets_creates_without_a_version_and_no_deletes,
           a_routed_key_names_its_part_in_both_actions, null_is_left_out,
           a_key_with_escapes_is_the_same_in_both_lines, versions_are_written_in_full,
           a_hashed_key_is_whole_in_source_id, a_key_that_cannot_be_an_id_is_refused,
           a_document_that_is_too_large_is_refused_however_large,
           a_full_batch_is_not_the_rows_fault,
           a_refusal_shows_the_values_beginning_escaped_and_whole_characters)
