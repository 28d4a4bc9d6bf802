/* SPDX-License-Identifier: Apache-2.0 */
/* Values that a field accepts, and error texts for the others. */
#include "steps.h"

#define FIELDS                                                                                     \
    "{\"mappings\":{\"dynamic\":\"strict\",\"properties\":{\"n\":{\"type\":\"long\"},"             \
    "\"i\":{\"type\":\"integer\"},\"ul\":{\"type\":\"unsigned_long\"},\"f\":{\"type\":\"double\"}" \
    ","                                                                                            \
    "\"fl\":{\"type\":\"float\"},\"b\":{\"type\":\"boolean\"},\"d\":{\"type\":\"date\"},"          \
    "\"dn\":{\"type\":\"date_nanos\"},\"ip\":{\"type\":\"ip\"},\"k\":{\"type\":\"keyword\"},"      \
    "\"t\":{\"type\":\"text\"},\"o\":{\"properties\":{\"x\":{\"type\":\"keyword\"}}},"             \
    "\"v\":{\"type\":\"knn_vector\",\"dimension\":3},\"ir\":{\"type\":\"integer_range\"},"         \
    "\"fo\":{\"type\":\"flat_object\"}}}}"

#define GOOD(body)                                                                                 \
    {                                                                                              \
        "POST", "/t/_doc", body, 201, "\"result\":\"created\"", NULL                               \
    }
#define BAD(body, reason)                                                                          \
    {                                                                                              \
        "POST", "/t/_doc", body, 400, reason, NULL                                                 \
    }
#define CAUSE(type, field) "\"type\":\"" type "\",\"reason\":\"" field

START_TEST(numbers_are_judged_by_their_range)
{
    CONVERSATION(
        NULL, {"PUT", "/t", FIELDS, 200, NULL, NULL}, GOOD("{\"n\":1.9}"), GOOD("{\"n\":\"12\"}"),
        GOOD("{\"n\":[1,null]}"), GOOD("{\"n\":-9223372036854775808}"),
        BAD("{\"n\":9223372036854775808}",
            CAUSE("input_coercion_exception",
                  "Numeric value (9223372036854775808) out of range of long")),
        BAD("{\"n\":1e400}", "Preview of field's value: 'Infinity'"),
        BAD("{\"n\":true}", "Current token (VALUE_TRUE) not numeric"),
        BAD("{\"i\":3000000000}", "out of range of int (-2147483648 - 2147483647)"),
        BAD("{\"i\":\"3000000000\"}", "Value [3000000000] is out of range for an integer"),
        GOOD("{\"ul\":18446744073709551615}"),
        BAD("{\"ul\":-1}", "Value [-1] is out of range for an unsigned long"),
        GOOD("{\"f\":1e-400}"),
        BAD("{\"f\":1e400}", "[double] supports only finite values, but got [Infinity]"),
        BAD("{\"f\":\"NaN\"}", "[double] supports only finite values, but got [NaN]"),
        BAD("{\"fl\":1e39}", "[float] supports only finite values, but got [Infinity]"),
        BAD("{\"f\":\"x\"}", CAUSE("number_format_exception", "For input string: \\\"x\\\"")));
}
END_TEST

START_TEST(dates_of_the_default_format_are_taken_and_others_are_not)
{
    CONVERSATION(
        NULL, {"PUT", "/t", FIELDS, 200, NULL, NULL},
        GOOD("{\"d\":\"2024-03-10T07:04:56.123456+00:00\"}"),
        GOOD("{\"d\":\"2024-03-10T07:04:56Z\"}"), GOOD("{\"d\":\"2024-03-10T07:04:56.1+00\"}"),
        GOOD("{\"d\":\"-0044-03-15\"}"), GOOD("{\"d\":\"0001-01-01\"}"),
        GOOD("{\"d\":\"9999-12-31T23:59:59.999999Z\"}"),
        GOOD("{\"d\":\"1900-01-01T00:00:00+00:19:32\"}"), GOOD("{\"d\":1710054296123}"),
        GOOD("{\"d\":\"-62135596800000\"}"),
        BAD("{\"d\":\"2024-03-10 07:04:56\"}",
            "failed to parse date field [2024-03-10 07:04:56] with format "
            "[strict_date_optional_time||epoch_millis]"),
        BAD("{\"d\":\"12024-01-01\"}", "failed to parse date field [12024-01-01]"),
        BAD("{\"d\":\"0044-03-15 BC\"}", "failed to parse date field"),
        BAD("{\"d\":\"infinity\"}", "failed to parse date field [infinity]"),
        BAD("{\"d\":1e18}", "failed to parse date field [1e18]"),
        BAD("{\"d\":\"2024-02-30\"}", "failed to parse date field [2024-02-30]"),
        BAD("{\"d\":\"\"}", CAUSE("illegal_argument_exception", "cannot parse empty date\"")),
        BAD("{\"dn\":\"1960-01-01\"}", "is before the epoch in 1970 and cannot be stored"));
}
END_TEST

START_TEST(structures_and_words_are_judged_too)
{
    CONVERSATION(
        NULL, {"PUT", "/t", FIELDS, 200, NULL, NULL},
        BAD("{\"nope\":1}",
            CAUSE("strict_dynamic_mapping_exception",
                  "mapping set to strict, dynamic introduction of [nope] within [_doc] "
                  "is not allowed\"")),
        BAD("{\"o\":{\"q\":1}}", "dynamic introduction of [q] within [o] is not allowed"),
        BAD("{\"k\":{\"a\":1}}", "failed to parse field [k] of type [keyword] in document"),
        BAD("{\"t\":{\"a\":1}}", "Can't get text on a START_OBJECT at 1:6"),
        BAD("{\"o\":5}", "object mapping for [o] tried to parse field [o] as object, but found a "
                         "concrete value"),
        BAD("{\"k\":\"a\",\"k\":\"b\"}", CAUSE("json_parse_exception", "Duplicate field 'k'")),
        BAD("{\"_id\":\"x\"}",
            "Field [_id] is a metadata field and cannot be added inside a document"),
        BAD("{\"\":1}", "field name cannot be an empty string"), BAD("[1]", "\"failed to parse\""),
        BAD("{\"k\":\"a\"", "json_e_o_f_exception"), BAD("{\"k\":\"a\xff\"}", "Invalid UTF-8"),
        GOOD("{}"), GOOD("{\"k\":null}"), GOOD("{\"k\":[\"a\",[\"b\"]]}"), GOOD("{\"o.x\":\"z\"}"),
        GOOD("{\"k\":\"\\u0000\"}"), GOOD("{\"k\":\"\\ud800\"}"), GOOD("{\"k\":5,\"t\":true}"),
        BAD("{\"b\":\"x\"}", "Failed to parse value [x] as only [true] or [false] are allowed."),
        BAD("{\"b\":1}", "Current token (VALUE_NUMBER_INT) not of boolean type"),
        GOOD("{\"ip\":\"::1\"}"), BAD("{\"ip\":\"1.2.3\"}", "'1.2.3' is not an IP string literal."),
        GOOD("{\"v\":[1,2.5,3]}"),
        BAD("{\"v\":[1,2]}", "Vector dimension mismatch. Expected: 3, Given: 2"),
        GOOD("{\"ir\":{\"gte\":1,\"lt\":3}}"),
        BAD("{\"ir\":{\"foo\":3}}", "error parsing field [ir], with unknown parameter [foo]"),
        GOOD("{\"fo\":{\"any\":{\"thing\":1}}}"),
        BAD("{\"fo\":\"x\"}", "[fo] unexpected token [VALUE_STRING] in flat_object field value"));
}
END_TEST

START_TEST(points_and_shapes_are_judged_by_their_form)
{
    CONVERSATION(NULL,
                 {"PUT", "/t",
                  "{\"mappings\":{\"properties\":{\"p\":{\"type\":\"geo_point\"},\"s\":{\"type\":"
                  "\"geo_shape\",\"orientation\":\"right\"}}}}",
                  200, NULL, NULL},
                 GOOD("{\"p\":\"1,2\",\"s\":\"POINT (1 2)\"}"),
                 GOOD("{\"p\":[1,2],\"s\":{\"type\":\"Point\",\"coordinates\":[1,2]}}"),
                 GOOD("{\"p\":null,\"s\":null}"), BAD("{\"p\":1}", "of type [geo_point]"),
                 BAD("{\"s\":true}", "failed to parse field [s] of type [geo_shape]"));
}
END_TEST

START_TEST(a_keyword_of_32766_bytes_is_taken_and_one_more_is_not)
{
    struct devsearch service;
    struct reply reply;
    devsearch_start(&service, NULL);
    static const struct step create[] = {{"PUT", "/t", FIELDS, 200, NULL, NULL}};
    steps_take(service.url, create, 1);
    for (size_t n = 32766; n <= 32767; n++) {
        char *body = calloc(n + 16, 1);
        strcpy(body, "{\"k\":\"");
        memset(body + 6, 'a', n);
        strcpy(body + 6 + n, "\"}");
        reply_get(&reply, "POST", service.url, "/t/_doc", body, NULL);
        ck_assert_int_eq(reply.status, n == 32766 ? 201 : 400);
        ck_assert(n == 32766 ||
                  strstr(reply.body,
                         "Document contains at least one immense term in field=\\\"k\\\"") != NULL);
        reply_release(&reply);
        free(body);
    }
    devsearch_stop(&service);
}
END_TEST

START_TEST(a_source_comes_back_byte_for_byte)
{
    CONVERSATION(
        NULL, {"PUT", "/t", FIELDS, 200, NULL, NULL},
        {"PUT", "/t/_doc/a%2Fb", "{ \"f\": 1.10, \"n\":9007199254740993 }", 201, "\"_id\":\"a/b\"",
         NULL},
        {"GET", "/t/_doc/a%2Fb", NULL, 200,
         "\"found\":true,\"_source\":{ \"f\": 1.10, \"n\":9007199254740993 }}", NULL},
        {"GET", "/t/_doc/none", NULL, 404, "{\"_index\":\"t\",\"_id\":\"none\",\"found\":false}",
         NULL},
        {"POST", "/t/_mget", "{\"ids\":[\"a/b\",\"none\"]}", 200,
         "1.10, \"n\":9007199254740993 }},{\"_index\":\"t\",\"_id\":\"none\",\"found\":false}",
         NULL}, );
}
END_TEST

START_TEST(a_dynamic_mapping_guesses_simple_types)
{
    CONVERSATION(
        NULL,
        {"PUT", "/g/_doc/1",
         "{\"a\":1,\"b\":\"text\",\"c\":1.5,\"d\":\"2024-01-01\",\"e\":true,\"f\":{\"g\":1},\"h\":["
         "1,2],"
         "\"i\":null,\"j\":[]}",
         201, NULL, NULL},
        {"GET", "/g/_mapping", NULL, 200,
         "{\"g\":{\"mappings\":{\"properties\":{\"a\":{\"type\":\"long\"},\"b\":{\"type\":\"text\","
         "\"fields\":{\"keyword\":{\"type\":\"keyword\",\"ignore_above\":256}}},\"c\":{\"type\":"
         "\"float\"},"
         "\"d\":{\"type\":\"date\"},\"e\":{\"type\":\"boolean\"},\"f\":{\"properties\":{\"g\":{"
         "\"type\":"
         "\"long\"}}},\"h\":{\"type\":\"long\"}}}}}",
         NULL},
        {"PUT", "/u", "{\"mappings\":{\"dynamic\":false}}", 200, NULL, NULL},
        {"PUT", "/u/_doc/1", "{\"x\":1}", 201, NULL, NULL},
        {"GET", "/u/_mapping", NULL, 200, NULL, "properties"}, );
}
END_TEST

SUITE_MAIN("devsearch/values", points_and_shapes_are_judged_by_their_form,
           numbers_are_judged_by_their_range,
           dates_of_the_default_format_are_taken_and_others_are_not,
           structures_and_words_are_judged_too,
           a_keyword_of_32766_bytes_is_taken_and_one_more_is_not, a_source_comes_back_byte_for_byte,
           a_dynamic_mapping_guesses_simple_types)
