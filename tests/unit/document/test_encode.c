/* SPDX-License-Identifier: Apache-2.0 */
/* The encoder: the two lines of an operation, what is refused, and that nothing stays of it. */
#include "rowferry/document/encode.h"

#include "rowferry/document/key.h"
#include "rows.h"
#include "suite.h"

#define MAX_DOCUMENT 100000

struct bench {
    struct mapping mapping;
    struct columns columns;
    struct plan plan;
    struct batch batch;
};

static void bench_open(struct bench *t, const char *json, const char *const *pairs,
                       size_t document_bytes)
{
    struct err err;
    *t = (struct bench){0};
    t->columns = rows_columns(pairs);
    ck_assert_int_eq(mapping_parse(&t->mapping, json, &err), 0);
    struct plan_input in = {&t->mapping, &t->columns, NULL, 0, document_bytes};
    ck_assert_msg(plan_compile(&t->plan, &in, NULL, &err) == 0, "%s", err.message);
    batch_init(&t->batch, 1000000, document_bytes, 1000);
}

static void bench_close(struct bench *t)
{
    plan_release(&t->plan);
    mapping_release(&t->mapping);
    columns_release(&t->columns);
    batch_release(&t->batch);
}

static void open_one(struct bench *t, const char *type, const char *property)
{
    struct buf json;
    buf_init(&json, 4096);
    buf_printf(&json, "{\"dynamic\":true,\"properties\":{\"p\":%s}}", property);
    bench_open(t, buf_text(&json), (const char *[]){"p", type, NULL}, MAX_DOCUMENT);
    buf_release(&json);
}

static bool encode(struct bench *t, const char *key, const char *text, struct refusal *refusal)
{
    struct value values[2] = {rows_value(key), rows_value(text)};
    struct row row = {values, 2};
    return encode_upsert(&t->batch, &t->plan, &row, 5, 1, refusal);
}

#define ACTION "{\"index\":{\"_id\":\"1\",\"version\":5,\"version_type\":\"external\"}}\n"

/* The value of property p as it stands in the document. */
static void expect_as(const char *type, const char *property, const char *text,
                      const char *expected)
{
    struct bench t;
    struct refusal refusal;
    struct buf line;
    buf_init(&line, 1 << 20);
    open_one(&t, type, property);
    ck_assert_msg(encode(&t, "1", text, &refusal), "%s %s: %s", type, text, refusal.reason);
    buf_printf(&line, ACTION "{\"source_id\":\"1\",\"p\":%s}\n", expected);
    ck_assert_str_eq(buf_text(&t.batch.bytes), buf_text(&line));
    ck_assert_uint_eq(t.batch.operations[0].len, t.batch.bytes.len);
    buf_release(&line);
    bench_close(&t);
}

static void expect(const char *type, const char *property_type, const char *text,
                   const char *expected)
{
    struct buf property;
    buf_init(&property, 256);
    buf_printf(&property, "{\"type\":\"%s\"}", property_type);
    expect_as(type, buf_text(&property), text, expected);
    buf_release(&property);
}

static void expect_refused_as(const char *type, const char *property, const char *text,
                              const char *reason)
{
    struct bench t;
    struct refusal refusal;
    open_one(&t, type, property);
    ck_assert(encode(&t, "0", NULL, &refusal));
    char *before = text_copy(buf_text(&t.batch.bytes));
    ck_assert_msg(!encode(&t, "1", text, &refusal), "%s %s into %s", type, text, property);
    ck_assert_str_eq(refusal.reason, reason);
    ck_assert_str_eq(refusal.column, "p");
    ck_assert(!refusal.no_room);
    ck_assert_str_eq(buf_text(&t.batch.bytes), before);
    ck_assert_str_eq(buf_text(&t.batch.keys), "0");
    ck_assert_uint_eq(t.batch.count, 1);
    free(before);
    bench_close(&t);
}

static void expect_refused(const char *type, const char *property_type, const char *text,
                           const char *reason)
{
    struct buf property;
    buf_init(&property, 256);
    buf_printf(&property, "{\"type\":\"%s\"}", property_type);
    expect_refused_as(type, buf_text(&property), text, reason);
    buf_release(&property);
}

START_TEST(texts_are_quoted_and_escaped)
{
    expect("text", "text", "", "\"\"");
    expect("text", "text", "a \"b\" \\ /", "\"a \\\"b\\\" \\\\ /\"");
    expect("text", "text", "1\n2\r\t\b\f\x01\x1f", "\"1\\n2\\r\\t\\b\\f\\u0001\\u001f\"");
    expect("varchar", "keyword", "\xf0\x9f\x90\x98\xe2\x80\xa8",
           "\"\xf0\x9f\x90\x98\xe2\x80\xa8\"");
    expect("bpchar", "keyword", "ab   ", "\"ab\"");
    expect("bpchar", "text", "   ", "\"\"");
    expect("enum:mood", "keyword", "happy", "\"happy\"");
    expect("xml", "text", "<a b=\"c\"/>", "\"<a b=\\\"c\\\"/>\"");
    expect("tsvector", "text", "'a':1", "\"'a':1\"");
    expect("text", "long", "abc", "\"abc\"");
    expect("text", "date", "2024-01-01", "\"2024-01-01\"");
}
END_TEST

START_TEST(numbers_stay_digit_for_digit)
{
    static const char *const forty = "1234567890123456789012345678901234567890.0500";
    expect("numeric", "double", forty, forty);
    expect("numeric", "keyword", "NaN", "\"NaN\"");
    expect("numeric", "scaled_float", "1.10", "1.10");
    expect("int8", "long", "-9223372036854775808", "-9223372036854775808");
    expect("int8", "long", "9223372036854775807", "9223372036854775807");
    expect("numeric", "unsigned_long", "18446744073709551615", "18446744073709551615");
    expect("int8", "integer", "-2147483648", "-2147483648");
    expect("int4", "short", "32767", "32767");
    expect("int2", "byte", "-128", "-128");
    expect("int2", "byte", "0", "0");
    expect("float8", "double", "1.7976931348623157e+308", "1.7976931348623157e+308");
    expect("float8", "double", "5e-324", "5e-324");
    expect("float8", "float", "-3.4028234663852886e+38", "-3.4028234663852886e+38");
    expect("float8", "float", "1e-300", "1e-300");
    expect("float4", "half_float", "65504", "65504");
    expect("numeric", "long", "9223372036854775806.9", "9223372036854775806.9");
    expect("numeric", "byte", "0.00", "0.00");
    expect("numeric", "byte", "127.0", "127.0");
    expect("oid", "long", "4294967295", "4294967295");
    expect("int8", "date", "1710054296123", "1710054296123");
}
END_TEST

START_TEST(numbers_that_cannot_be_held_are_refused)
{
    expect_refused("numeric", "double", "NaN", "not a finite number");
    expect_refused("numeric", "double", "-Infinity", "not a finite number");
    expect_refused("float8", "float", "Infinity", "not a finite number");
    expect_refused("int4", "byte", "128", "a number out of the range of a byte");
    expect_refused("int4", "byte", "-129", "a number out of the range of a byte");
    expect_refused("numeric", "byte", "127.5", "a number out of the range of a byte");
    expect_refused("int4", "short", "32768", "a number out of the range of a short");
    expect_refused("int8", "integer", "2147483648", "a number out of the range of an integer");
    expect_refused("numeric", "long", "9223372036854775808", "a number out of the range of a long");
    expect_refused("int4", "unsigned_long", "-1", "a number out of the range of an unsigned_long");
    expect_refused("numeric", "unsigned_long", "18446744073709551616",
                   "a number out of the range of an unsigned_long");
    expect_refused("float8", "float", "3.5e+38", "a number out of the range of a float");
    expect_refused("float8", "half_float", "65520", "a number out of the range of a half_float");
    expect_refused("float8", "long", "1e+20", "a number out of the range of a long");
    struct buf big;
    buf_init(&big, 1000);
    for (int i = 0; i < 310; i++) {
        buf_push_char(&big, '9');
    }
    expect_refused("numeric", "double", buf_text(&big), "a number out of the range of a double");
    buf_release(&big);
}
END_TEST

START_TEST(booleans_bytes_and_addresses)
{
    expect("bool", "boolean", "t", "true");
    expect("bool", "boolean", "f", "false");
    expect("bool", "keyword", "f", "\"false\"");
    expect("bytea", "binary", "\\x", "\"\"");
    expect("bytea", "binary", "\\x00", "\"AA==\"");
    expect("bytea", "binary", "\\x00ff", "\"AP8=\"");
    expect("bytea", "binary", "\\xdeadbe", "\"3q2+\"");
    expect("bytea", "binary", "\\xdeadbeef", "\"3q2+7w==\"");
    expect("inet", "ip", "10.0.0.1/24", "\"10.0.0.1\"");
    expect("inet", "ip", "::1", "\"::1\"");
    expect("inet", "ip_range", "10.0.0.1", "\"10.0.0.1/32\"");
    expect("cidr", "ip_range", "2001:db8::/32", "\"2001:db8::/32\"");
    expect("inet", "ip_range", "::1", "\"::1/128\"");
    expect_refused("bytea", "binary", "\\xabc", "not a bytea in hex");
    expect_refused("bytea", "binary", "\\xzz", "not a bytea in hex");
    expect_refused("bool", "boolean", "yes", "not a boolean");
}
END_TEST

static const char no_date[] = "a date that is infinite, BC or after the year 9999";
static const char no_nanos[] = "a date outside 1970-01-01 to 2262-04-11, the range of date_nanos";

START_TEST(times_are_iso_8601_with_six_digits)
{
    expect("timestamptz", "date", "2024-03-10 07:04:56.123456+00",
           "\"2024-03-10T07:04:56.123456Z\"");
    expect("timestamptz", "date", "2024-03-10 07:04:56+00", "\"2024-03-10T07:04:56.000000Z\"");
    expect("timestamptz", "date", "0001-01-01 00:00:00.5+00", "\"0001-01-01T00:00:00.500000Z\"");
    expect("timestamp", "date", "2024-03-10 07:04:56.12", "\"2024-03-10T07:04:56.120000\"");
    expect("date", "date", "9999-12-31", "\"9999-12-31\"");
    expect("date", "date_nanos", "1970-01-01", "\"1970-01-01\"");
    expect("timestamptz", "date_nanos", "2262-04-11 23:47:16.854775+00",
           "\"2262-04-11T23:47:16.854775Z\"");
    expect("timestamptz", "keyword", "0044-03-15 12:00:00+00 BC", "\"0044-03-15 12:00:00+00 BC\"");
    expect("time", "keyword", "24:00:00", "\"24:00:00\"");
    expect("interval", "keyword", "P1Y2M", "\"P1Y2M\"");
    expect_refused("timestamptz", "date", "infinity", no_date);
    expect_refused("timestamptz", "date", "0044-03-15 12:00:00+00 BC", no_date);
    expect_refused("timestamptz", "date", "12024-03-10 07:04:56+00", no_date);
    expect_refused("timestamptz", "date", "2024-03-10 07:04:56+02", no_date);
    expect_refused("timestamptz", "date", "2024-03-10 07:04:56.1234567+00", no_date);
    expect_refused("timestamp", "date", "-infinity", no_date);
    expect_refused("timestamp", "date", "0044-03-15 12:00:00 BC", no_date);
    expect_refused("date", "date", "0044-03-15 BC", no_date);
    expect_refused("date", "date", "12024-01-01", no_date);
    expect_refused("date", "date", "-infinity", no_date);
    expect_refused("date", "date_nanos", "1969-12-31", no_nanos);
    expect_refused("date", "date_nanos", "2262-04-12", no_nanos);
    expect_refused("timestamptz", "date_nanos", "2262-04-11 23:47:16.9+00", no_nanos);
    expect_refused("timestamp", "date_nanos", "1969-12-31 23:59:59", no_nanos);
}
END_TEST

static const char object[] = "{\"type\":\"object\",\"dynamic\":true}";

START_TEST(json_arrives_on_one_line)
{
    expect_as("jsonb", object, "{\"a\": [1, 2.50], \"b c\": null}",
              "{\"a\":[1,2.50],\"b c\":null}");
    expect_as("json", object, "{\n\t\"z\" : \"x\\n \\\"y\\\" \\\\\" ,\r\n \"a\":1e400 }",
              "{\"z\":\"x\\n \\\"y\\\" \\\\\",\"a\":1e400}");
    expect_as("jsonb", object, "null", "null");
    expect_as("jsonb", object, "[{\"a\": 1}, {}]", "[{\"a\":1},{}]");
    expect("jsonb", "keyword", "[\"a\", \"b\"]", "[\"a\",\"b\"]");
    expect("jsonb", "keyword", "\" x \"", "\" x \"");
    expect_refused_as("jsonb", object, "42", "a JSON scalar for an object");
    expect_refused_as("json", object, "{\"a\":\"b\nc\"}", "not valid JSON");
    expect_refused_as("json", object, "{\"a\":1", "not valid JSON");
    expect_refused_as("json", object, "{\"a\\", "not valid JSON");
    expect_refused_as("json", object, " ", "not valid JSON");
}
END_TEST

static void nest(struct buf *out, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        buf_push_char(out, '[');
    }
    for (size_t i = 0; i < depth; i++) {
        buf_push_char(out, ']');
    }
}

START_TEST(json_nested_too_deep_is_refused)
{
    struct buf json;
    buf_init(&json, 4096);
    nest(&json, 200);
    expect_as("json", object, buf_text(&json), buf_text(&json));
    buf_reset(&json);
    nest(&json, 201);
    expect_refused_as("json", object, buf_text(&json), "JSON that is nested more than 200 deep");
    buf_release(&json);
}
END_TEST

START_TEST(arrays_nest_and_keep_their_nulls)
{
    expect("int4[]", "long", "{}", "[]");
    expect("int4[]", "long", "{1,NULL,-3}", "[1,null,-3]");
    expect("int4[]", "long", "[0:1]={1,2}", "[1,2]");
    expect("int4[]", "long", "{{1,2},{3,4}}", "[[1,2],[3,4]]");
    expect("int4[]", "long", "[1:1][-2:-1]={{1,2}}", "[[1,2]]");
    expect("text[]", "keyword", "{a,\"b, c\",\"\",\"NULL\",NULL,\"q\\\"\\\\{}\"}",
           "[\"a\",\"b, c\",\"\",\"NULL\",null,\"q\\\"\\\\{}\"]");
    expect("text[]", "keyword", "{\"x\ny\",\"\\\\\"}", "[\"x\\ny\",\"\\\\\"]");
    expect("bool[]", "boolean", "{t,f}", "[true,false]");
    expect("bytea[]", "binary", "{\"\\\\x00ff\"}", "[\"AP8=\"]");
    expect("timestamptz[]", "date", "{\"2024-03-10 07:04:56+00\"}",
           "[\"2024-03-10T07:04:56.000000Z\"]");
    expect("jsonb[]", "keyword", "{\"{\\\"a\\\": 1}\"}", "[{\"a\":1}]");
    expect("mood[]", "keyword", "{happy}", "[\"happy\"]");
    expect_refused("float8[]", "double", "{1,NaN}", "not a finite number");
    static const char *const broken[] = {"",
                                         "x",
                                         "{",
                                         "{1",
                                         "{1,",
                                         "{,}",
                                         "{\"a",
                                         "{\"a\\",
                                         "{1}}",
                                         "{1}x",
                                         "{{1}{2}}",
                                         "[0:1]",
                                         "{{{{{{{{1}}}}}}}}"};
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        expect_refused("text[]", "keyword", broken[i], "not an array");
    }
}
END_TEST

START_TEST(vectors_are_arrays_of_finite_numbers)
{
    static const char three[] = "{\"type\":\"dense_vector\",\"dims\":3}";
    static const char reason[] = "a vector with something else than finite numbers";
    expect_as("float4[]", three, "{1,-2.5,1e-05}", "[1,-2.5,1e-05]");
    expect_as("float8[]", three, "[0:2]={1,2,3}", "[1,2,3]");
    expect_as("vector", three, "[1,2,3.25]", "[1,2,3.25]");
    expect_as("jsonb", three, "[1, 2, 3]", "[1,2,3]");
    expect("vector", "knn_vector", "[1]", "[1]");
    expect_refused_as("float4[]", three, "{1,2}",
                      "a vector of another dimension than the mapping's");
    expect_refused_as("float4[]", three, "{1,2,NULL}", reason);
    expect_refused_as("float4[]", three, "{1,2,NaN}", reason);
    expect_refused_as("float4[]", three, "{}", reason);
    expect_refused_as("float4[]", three, "{{1,2,3}}", reason);
    expect_refused_as("jsonb", three, "{\"a\": 1}", reason);
    expect_refused_as("jsonb", three, "1", "not a vector");
    expect_refused_as("jsonb", three, "[1,2,3", "not a vector");
    expect_refused_as("jsonb", three, "[1,2,3]]", "not a vector");
}
END_TEST

START_TEST(a_keyword_is_at_most_32766_bytes_unless_it_is_left_out_of_the_index)
{
    struct buf text;
    struct buf quoted;
    buf_init(&text, 40000);
    buf_init(&quoted, 40000);
    while (text.len < 32766) {
        buf_push_literal(&text, "x");
    }
    buf_printf(&quoted, "\"%s\"", buf_text(&text));
    expect("text", "keyword", buf_text(&text), buf_text(&quoted));
    buf_push_literal(&text, "y");
    static const char reason[] = "a keyword of more than 32766 bytes";
    expect_refused("text", "keyword", buf_text(&text), reason);
    expect_refused_as("text", "{\"type\":\"keyword\",\"ignore_above\":32767}", buf_text(&text),
                      reason);
    buf_reset(&quoted);
    buf_printf(&quoted, "\"%s\"", buf_text(&text));
    expect("text", "wildcard", buf_text(&text), buf_text(&quoted));
    expect_as("text", "{\"type\":\"keyword\",\"ignore_above\":8191}", buf_text(&text),
              buf_text(&quoted));
    buf_release(&text);
    buf_release(&quoted);
}
END_TEST

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

SUITE_MAIN("document/encode", texts_are_quoted_and_escaped, numbers_stay_digit_for_digit,
           numbers_that_cannot_be_held_are_refused, booleans_bytes_and_addresses,
           times_are_iso_8601_with_six_digits, json_arrives_on_one_line,
           json_nested_too_deep_is_refused, arrays_nest_and_keep_their_nulls,
           vectors_are_arrays_of_finite_numbers,
           a_keyword_is_at_most_32766_bytes_unless_it_is_left_out_of_the_index, null_is_left_out,
           a_key_with_escapes_is_the_same_in_both_lines, versions_are_written_in_full,
           a_key_that_cannot_be_an_id_is_refused,
           a_document_that_is_too_large_is_refused_however_large,
           a_full_batch_is_not_the_rows_fault,
           a_refusal_shows_the_values_beginning_escaped_and_whole_characters)
