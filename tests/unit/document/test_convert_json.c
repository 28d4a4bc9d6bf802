/* SPDX-License-Identifier: Apache-2.0 */
/* JSON on one line, and vectors. */
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

SUITE_MAIN("document/convert_json", json_arrives_on_one_line, json_nested_too_deep_is_refused,
           vectors_are_arrays_of_finite_numbers)
