/* SPDX-License-Identifier: Apache-2.0 */
/* JSON on one line. */
#include "encoding.h"
#include "suite.h"

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
    expect_refused_as("json", object, "{\"a\":\"b\nc\"}", "not valid JSON");
    expect_refused_as("json", object, "{\"a\":1", "not valid JSON");
    expect_refused_as("json", object, "{\"a\\", "not valid JSON");
    expect_refused_as("json", object, " ", "not valid JSON");
}
END_TEST

static void nest(struct buf *out, const char *open, size_t depth, const char *close)
{
    for (size_t i = 0; i < depth; i++) {
        buf_push_text(out, open);
    }
    buf_push_literal(out, "1");
    for (size_t i = 0; i < depth; i++) {
        buf_push_text(out, close);
    }
}

START_TEST(json_nested_too_deep_is_refused)
{
    static const char closed[] = "{\"type\":\"object\",\"enabled\":false}";
    struct buf json;
    buf_init(&json, 16384);
    nest(&json, "[", 999, "]");
    expect_as("json", closed, buf_text(&json), buf_text(&json));
    expect("jsonb", "keyword", buf_text(&json), buf_text(&json));
    buf_reset(&json);
    nest(&json, "[", 1000, "]");
    expect_refused_as("json", closed, buf_text(&json), "JSON that is nested more than 999 deep");
    buf_reset(&json);
    nest(&json, "{\"a\":", 999, "}");
    expect_as("json", object, buf_text(&json), buf_text(&json));
    buf_release(&json);
}
END_TEST

/* OpenSearch parses it by recursion, which may end its thread. */
START_TEST(a_flat_object_nested_too_deep_is_refused)
{
    struct buf json;
    buf_init(&json, 16384);
    nest(&json, "{\"a\":", 400, "}");
    expect_as("jsonb", "{\"type\":\"flat_object\"}", buf_text(&json), buf_text(&json));
    buf_reset(&json);
    nest(&json, "{\"a\":", 401, "}");
    expect_refused("jsonb", "flat_object", buf_text(&json),
                   "a flat_object that is nested more than 400 deep");
    expect_refused("json", "flat_object", buf_text(&json),
                   "a flat_object that is nested more than 400 deep");
    expect_as("json", object, buf_text(&json), buf_text(&json));
    buf_release(&json);
}
END_TEST

/* The service refuses it per document; see convert_json.h. */
START_TEST(what_the_service_refuses_by_itself_is_sent)
{
    static const char strict[] =
        "{\"dynamic\":\"strict\",\"properties\":{\"n\":{\"type\":\"byte\"}}}";
    static const char *const values[] = {"42", "{\"n\":128}", "{\"n\":true}", "{\"z\":1}",
                                         "{\"\":1}"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        expect_as("jsonb", strict, values[i], values[i]);
        expect_as("json", strict, values[i], values[i]);
    }
}
END_TEST

START_TEST(of_a_repeated_name_the_last_value_arrives)
{
    expect_as("json", object, "{\"a\": 1, \"a\": 2}", "{\"a\":2}");
    expect_as("json", object, "{\"a\":1,\"b\":[{\"c\":1,\"c\":[]}],\"\\u0061\":3}",
              "{\"b\":[{\"c\":[]}],\"\\u0061\":3}");
    expect("json", "flattened", "{\"k\":\"v\",\"k\":\"w\"}", "{\"k\":\"w\"}");
    expect("json", "geo_point", "{\"lat\":99,\"lon\":1,\"lat\":9}", "{\"lon\":1,\"lat\":9}");
    expect_as("json", "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"byte\"}}}",
              "{\"n\":300,\"n\":3}", "{\"n\":3}");
}
END_TEST

/* Both services accept them in values; in PostgreSQL only a json can contain them. */
START_TEST(nul_and_lone_surrogates_stay_as_they_are)
{
    static const char text[] = "{\"a\\u0000\":\"\\u0000\",\"b\":\"\\ud800\",\"c\":\"x\\udc00\"}";
    expect_as("json", object, text, text);
    expect("json", "keyword", "\"\\u0000 \\ud800\"", "\"\\u0000 \\ud800\"");
    expect("json", "flat_object", text, text);
}
END_TEST

START_TEST(numbers_stay_digit_for_digit)
{
    static const char text[] = "[1e400,-0,0.10,1E+3,123456789012345678901234567890,-1.5e-400]";
    struct buf json;
    buf_init(&json, 1024);
    buf_printf(&json, "{\"n\":%s}", text);
    expect_as("json", object, buf_text(&json), buf_text(&json));
    expect("json", "keyword", text, text);
    buf_release(&json);
}
END_TEST

SUITE_MAIN("document/convert_json", json_arrives_on_one_line, json_nested_too_deep_is_refused,
           a_flat_object_nested_too_deep_is_refused, what_the_service_refuses_by_itself_is_sent,
           of_a_repeated_name_the_last_value_arrives, nul_and_lone_surrogates_stay_as_they_are,
           numbers_stay_digit_for_digit)
