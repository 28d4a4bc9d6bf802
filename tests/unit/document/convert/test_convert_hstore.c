/* SPDX-License-Identifier: Apache-2.0 */
/* hstore as an object of texts. */
#include "encoding.h"
#include "suite.h"

#define STRICT "{\"dynamic\":\"strict\",\"properties\":{\"a\":{\"type\":\"keyword\"}}}"

START_TEST(pairs_become_members_and_null_stays)
{
    expect("hstore", "flattened", "", "{}");
    expect("hstore", "flat_object", "\"a\"=>\"1\"", "{\"a\":\"1\"}");
    expect("hstore", "object", "\"a\"=>\"1\", \"b\"=>NULL, \"c\"=>\"NULL\"",
           "{\"a\":\"1\",\"b\":null,\"c\":\"NULL\"}");
    expect("hstore", "nested", "\"a\\\"b\"=>\"x, \\\"y\\\"=>\\\\z\", \"\"=>\"\"",
           "{\"a\\\"b\":\"x, \\\"y\\\"=>\\\\z\",\"\":\"\"}");
    expect("hstore[]", "nested", "{\"\\\"a\\\"=>\\\"1\\\"\",NULL}", "[{\"a\":\"1\"},null]");
    expect("hstore", "keyword", "\"a\"=>\"1\"", "\"\\\"a\\\"=>\\\"1\\\"\"");
}
END_TEST

START_TEST(a_strict_object_takes_the_keys_that_it_names)
{
    expect_as("hstore", STRICT, "\"a\"=>\"1\"", "{\"a\":\"1\"}");
    expect_as("hstore", STRICT, "\"a\"=>NULL", "{\"a\":null}");
    expect_refused_as("hstore", STRICT, "\"a\"=>\"1\", \"b\"=>\"2\"",
                      "an hstore with a key that the mapping does not name");
    expect_as("hstore", "{\"properties\":{\"a\":{\"type\":\"long\"}}}",
              "\"a\"=>\"1\", \"b\"=>\"2\"", "{\"a\":\"1\",\"b\":\"2\"}");
}
END_TEST

START_TEST(what_is_no_hstore_is_refused)
{
    static const char *const broken[] = {"a",
                                         "\"a\"",
                                         "\"a\"=",
                                         "\"a\"=>",
                                         "\"a\"=>1",
                                         "\"a\"=>null",
                                         "\"a\"=>\"1",
                                         "\"a\"=>\"1\",",
                                         "\"a\"=>\"1\", ",
                                         "\"a\"=>\"1\"x",
                                         "=>",
                                         "\"a\\",
                                         "a=>\"1\"",
                                         "\"a\"=>\"1\",\"b\"=>\"2\""};
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        expect_refused("hstore", "flattened", broken[i], "an hstore that cannot be read");
    }
}
END_TEST

SUITE_MAIN("document/convert_hstore", pairs_become_members_and_null_stays,
           a_strict_object_takes_the_keys_that_it_names, what_is_no_hstore_is_refused)
