/* SPDX-License-Identifier: Apache-2.0 */
/* Composites as objects: quotes, NULLs, nesting, children of the mapping. */
#include "encoding.h"
#include "suite.h"

#define FLAT "{\"type\":\"flattened\"}"
#define BROKEN "a composite that cannot be read"

START_TEST(fields_become_members_and_nulls_are_left_out)
{
    expect("(a int4, b text)", "flattened", "(1,x)", "{\"a\":1,\"b\":\"x\"}");
    expect("(a int4, b text)", "flattened", "(1,)", "{\"a\":1}");
    expect("(a int4, b text)", "flattened", "(,x)", "{\"b\":\"x\"}");
    expect("(a int4, b text)", "flattened", "(,)", "{}");
    expect("(a text)", "flattened", "()", "{}");
    expect("(a text)", "flattened", "(\"\")", "{\"a\":\"\"}");
    expect("(a text, b text)", "object", "(\"x \"\"y\"\"\",\"a,b()\\\\\\\\\")",
           "{\"a\":\"x \\\"y\\\"\",\"b\":\"a,b()\\\\\\\\\"}");
    expect("(a text)", "flattened", "(\"back\\\"slashed\")", "{\"a\":\"back\\\"slashed\"}");
    expect("(na\"me text)", "flattened", "(x)", "{\"na\\\"me\":\"x\"}");
}
END_TEST

START_TEST(without_a_child_a_field_is_what_it_is)
{
    expect("(i int8, n numeric, f float8, b bool)", "object", "(9007199254740993,1.50,NaN,t)",
           "{\"i\":9007199254740993,\"n\":1.50,\"f\":\"NaN\",\"b\":true}");
    expect("(t timestamptz, u timestamp, d date)", "flat_object",
           "(\"2024-03-10 07:04:56+00\",infinity,2024-03-10)",
           "{\"t\":\"2024-03-10T07:04:56.000000Z\",\"u\":\"infinity\",\"d\":\"2024-03-10\"}");
    expect("(c bpchar, j jsonb, e enum:mood, r range:int4)", "nested",
           "(\"ab   \",\"{\"\"a\"\": [1, 2]}\",happy,\"[1,5)\")",
           "{\"c\":\"ab\",\"j\":{\"a\":[1,2]},\"e\":\"happy\",\"r\":\"[1,5)\"}");
    expect("(h hstore, a int4[])", "flattened", "(\"\"\"k\"\"=>\"\"v\"\"\",\"{1,NULL}\")",
           "{\"h\":{\"k\":\"v\"},\"a\":[1,null]}");
}
END_TEST

START_TEST(vectors_and_geometries_without_a_child_are_arrays_and_geojson)
{
    expect("(v vector, h halfvec, s sparsevec)", "object", "(\"[1,2.5]\",[0],{1:2}/3)",
           "{\"v\":[1,2.5],\"h\":[0],\"s\":\"{1:2}/3\"}");
    expect("(g geometry, a int4)", "flattened", "(0101000000000000000000F83F0000000000000040,1)",
           "{\"g\":{\"type\":\"Point\",\"coordinates\":[1.5,2]},\"a\":1}");
    expect("(g geography, a int4)", "flattened", "(0101000000000000000000F87F000000000000F87F,1)",
           "{\"a\":1}");
    expect("(g geometry, a int4)", "flattened", "(0107,1)", "{\"g\":\"0107\",\"a\":1}");
}
END_TEST

START_TEST(a_refusal_names_the_path_of_the_field)
{
    static const char children[] =
        "{\"properties\":{\"a\":{\"properties\":{\"x\":{\"type\":\"byte\"}}},"
        "\"n\":{\"type\":\"byte\"}}}";
    expect_refused_as("(a (x int4), n int4)", children, "(,128)",
                      "a number out of the range of a byte in \"n\"");
    expect_refused_as("(a (x int4), n int4)", children, "(\"(128)\",)",
                      "a number out of the range of a byte in \"a.x\"");
    expect_refused_as("(a (x int4), n int4)[]", children, "{\"(,1)\",\"(,128)\"}",
                      "a number out of the range of a byte in \"n\"");
}
END_TEST

START_TEST(composites_nest_in_composites_and_arrays)
{
    expect("(a (b (c text, d int4)), e int4)", "flattened",
           "(\"(\"\"(\"\"\"\"x \"\"\"\"\"\"\"\"y\"\"\"\"\"\"\"\"\"\"\"\",7)\"\")\",2)",
           "{\"a\":{\"b\":{\"c\":\"x \\\"y\\\"\",\"d\":7}},\"e\":2}");
    expect("(a int4, b text)[]", "nested", "{\"(1,x)\",NULL,\"(2,\\\"y \\\"\\\"z\\\")\"}",
           "[{\"a\":1,\"b\":\"x\"},null,{\"a\":2,\"b\":\"y \\\"z\"}]");
    expect("(a int4)[]", "object", "[0:1]={(1),(2)}", "[{\"a\":1},{\"a\":2}]");
    expect("(a (b int4)[])", "object", "(\"{(1),(2)}\")", "{\"a\":[{\"b\":1},{\"b\":2}]}");
}
END_TEST

START_TEST(a_child_says_what_its_field_becomes)
{
    static const char children[] =
        "{\"dynamic\":\"strict\",\"properties\":{\"b\":{\"type\":\"keyword\"},"
        "\"a\":{\"properties\":{\"x\":{\"type\":\"double\"},\"r\":{\"type\":\"integer_range\"}}}}}";
    expect_as("(a (x numeric, r range:int4), b int4)", children, "(\"(1.5,\"\"[1,3)\"\")\",7)",
              "{\"a\":{\"x\":1.5,\"r\":{\"gte\":1,\"lt\":3}},\"b\":\"7\"}");
    expect_as("(a (x numeric, r range:int4), b int4)", children, "(\"(1.5,empty)\",7)",
              "{\"a\":{\"x\":1.5},\"b\":\"7\"}");
    expect_as("(a (x numeric, r range:int4), b int4)", children, "(\"(,empty)\",)", "{\"a\":{}}");
    expect_refused_as("(a (x numeric, r range:int4), b int4)", children, "(\"(NaN,)\",7)",
                      "not a finite number in \"a.x\"");
    expect_refused_as("(a int2)", "{\"properties\":{\"a\":{\"type\":\"byte\"}}}", "(300)",
                      "a number out of the range of a byte in \"a\"");
}
END_TEST

START_TEST(what_is_no_composite_of_these_fields_is_refused)
{
    static const char *const broken[] = {"",       "x",       "(",        "(1",         "(1,",
                                         "(1,x",   "(1)",     "1,x)",     "(1,x,",      "(1,x,)",
                                         "(1,x)y", "(1,\"x)", "(1,\"x\\", "(1,\"x\"y)", "(1,x))"};
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        expect_refused("(a int4, b text)", "flattened", broken[i], BROKEN);
    }
    expect_refused_as("(a (b text))", FLAT, "(x)", BROKEN " in \"a\"");
}
END_TEST

SUITE_MAIN("document/convert_composite", fields_become_members_and_nulls_are_left_out,
           without_a_child_a_field_is_what_it_is,
           vectors_and_geometries_without_a_child_are_arrays_and_geojson,
           a_refusal_names_the_path_of_the_field, composites_nest_in_composites_and_arrays,
           a_child_says_what_its_field_becomes, what_is_no_composite_of_these_fields_is_refused)
