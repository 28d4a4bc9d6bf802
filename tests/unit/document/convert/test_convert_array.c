/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of any dimension as JSON arrays. */
#include "encoding.h"
#include "suite.h"

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
    expect("jsonb[]", "flattened", "{\"{\\\"a\\\": 1}\"}", "[{\"a\":1}]");
    expect("box[]", "keyword", "{(1,1),(0,0);(3,3),(2,2)}", "[\"(1,1),(0,0)\",\"(3,3),(2,2)\"]");
    expect("mood[]", "keyword", "{happy}", "[\"happy\"]");
    expect("point[]", "geo_point", "{NULL,\"(1,2)\",NULL,\"(3,4)\",NULL}", "[[1,2],[3,4]]");
    expect("point[]", "geo_point", "{{NULL,\"(1,2)\"},{NULL,NULL}}", "[[[1,2]],[]]");
    expect("text[]", "completion", "{NULL,NULL}", "[]");
    expect("text[]", "completion", "{a,\",[\",NULL}", "[\"a\",\",[\"]");
    expect("int4[]", "rank_feature", "{NULL,1,NULL}", "[null,1,null]");
    expect_refused("int4[]", "rank_feature", "{1,NULL,2}",
                   "an array of several values, of which the service takes one");
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

SUITE_MAIN("document/convert_array", arrays_nest_and_keep_their_nulls)
