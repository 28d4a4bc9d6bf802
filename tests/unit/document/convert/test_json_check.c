/* SPDX-License-Identifier: Apache-2.0 */
/* Children of a property are checked like properties of the mapping. */
#include "convert/json_check.h"
#include "encoding.h"
#include "suite.h"

/* A strict object with a child of each kind. */
static const char order[] =
    "{\"dynamic\":\"strict\",\"properties\":{\"b\":{\"type\":\"byte\"},\"i\":{\"type\":\"integer\"}"
    ","
    "\"l\":{\"type\":\"long\"},\"u\":{\"type\":\"unsigned_long\"},\"f\":{\"type\":\"float\"},"
    "\"d\":{\"type\":\"double\"},\"k\":{\"type\":\"keyword\",\"fields\":{\"t\":{\"type\":\"text\"}}"
    "},"
    "\"t\":{\"type\":\"text\"},\"y\":{\"type\":\"boolean\"},\"at\":{\"type\":\"date\"},"
    "\"r\":{\"type\":\"integer_range\"},\"g\":{\"type\":\"geo_point\"},"
    "\"o\":{\"properties\":{\"n\":{\"type\":\"long\"},\"o\":{\"type\":\"nested\",\"properties\":"
    "{\"m\":{\"type\":\"byte\"}}}}},"
    "\"any\":{\"type\":\"object\",\"dynamic\":true},\"off\":{\"type\":\"object\",\"enabled\":false}"
    ","
    "\"bare\":{\"type\":\"object\"},\"x\":{\"type\":\"alias\",\"path\":\"p.k\"}}}";

static void passes(const char *property, const char *json)
{
    expect_as("jsonb", property, json, json);
    expect_as("json", property, json, json);
}

static void fails(const char *property, const char *json, const char *reason)
{
    expect_refused_as("jsonb", property, json, reason);
    expect_refused_as("json", property, json, reason);
}

START_TEST(members_that_the_mapping_has_arrive)
{
    passes(order, "{}");
    passes(order, "null");
    passes(order, "[]");
    passes(order, "[{\"b\":1},null,[{\"k\":\"v\"}]]");
    passes(order,
           "{\"b\":-128,\"i\":[1,2,[3]],\"l\":9223372036854775807,\"u\":18446744073709551615}");
    passes(order,
           "{\"f\":3.4e38,\"d\":1.7e308,\"k\":7,\"t\":true,\"y\":false,\"at\":-62135596800000}");
    passes(order, "{\"r\":{\"gte\":1},\"o\":{\"n\":1,\"o\":[{\"m\":1},{\"m\":null}]}}");
    passes(order, "{\"b\":null,\"k\":[null],\"o\":null,\"g\":null}");
}
END_TEST

START_TEST(a_member_that_the_mapping_does_not_have_is_refused_by_its_path)
{
    fails(order, "{\"nope\":1}", "a member \"nope\" that the mapping does not have");
    fails(order, "{\"k\":\"v\",\"o\":{\"o\":[{\"m\":1,\"z\":[]}]}}",
          "a member \"o.o.z\" that the mapping does not have");
    fails(order, "{\"bare\":{\"z\":1}}", "a member \"bare.z\" that the mapping does not have");
    fails(order, "[{},{\"K\":1}]", "a member \"K\" that the mapping does not have");
    fails(order, "{\"a\\\"b\\n\":1}", "a member \"a\\\"b\\n\" that the mapping does not have");
    fails(order, "{\"\":1}", "a member with an empty name");
    fails(order, "{\"o\":{\"\":1}}", "a member with an empty name in \"o\"");
    expect_refused_as("jsonb[]", order, "{NULL,\"{\\\"o\\\": {\\\"z\\\": 1}}\"}",
                      "a member \"o.z\" that the mapping does not have");
}
END_TEST

START_TEST(a_long_name_is_cut_in_the_refusal)
{
    struct buf json;
    struct buf reason;
    buf_init(&json, 4096);
    buf_init(&reason, 4096);
    buf_push_literal(&json, "{\"");
    buf_push_literal(&reason, "a member \"");
    for (int i = 0; i < 1000; i++) {
        buf_push_char(&json, 'n');
        if (i < 100) {
            buf_push_char(&reason, 'n');
        }
    }
    buf_push_literal(&json, "\":1}");
    buf_push_literal(&reason, "...\" that the mapping does not have");
    fails(order, buf_text(&json), buf_text(&reason));
    buf_release(&json);
    buf_release(&reason);
}
END_TEST

/* Thirty nested objects, each with a name of 90 letters. */
START_TEST(a_path_of_many_long_names_is_cut_in_the_refusal)
{
    char name[91];
    struct buf property;
    struct buf json;
    struct bench t;
    struct refusal refusal;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    buf_init(&property, 65536);
    buf_init(&json, 65536);
    for (int i = 0; i < 30; i++) {
        buf_printf(&property, "{\"properties\":{\"%s\":", name);
        buf_printf(&json, "{\"%s\":", name);
    }
    buf_push_literal(&property, "{\"type\":\"long\"}");
    buf_push_literal(&json, "true");
    for (int i = 0; i < 30; i++) {
        buf_push_literal(&property, "}}");
        buf_push_char(&json, '}');
    }
    open_one(&t, "jsonb", buf_text(&property));
    ck_assert(!encode(&t, "1", buf_text(&json), &refusal));
    ck_assert_msg(strncmp(refusal.reason, "a boolean for a number in \"nnnn", 31) == 0, "%s",
                  refusal.reason);
    ck_assert_uint_gt(strlen(refusal.reason), 450);
    ck_assert_uint_lt(strlen(refusal.reason), 600);
    bench_close(&t);
    buf_release(&property);
    buf_release(&json);
}
END_TEST

/* The services differ: OpenSearch only uses the object's own "dynamic". */
START_TEST(an_unknown_member_that_is_null_is_left_to_the_service)
{
    passes(order, "{\"nope\":null,\"k\":1}");
}
END_TEST

START_TEST(dynamic_is_inherited_and_decides_what_is_unknown)
{
    static const char open[] = "{\"dynamic\":true,\"properties\":{\"k\":{\"type\":\"long\"},"
                               "\"s\":{\"dynamic\":\"strict\",\"properties\":{\"k\":{\"type\":"
                               "\"long\"}}},\"i\":{\"properties\":{\"k\":{\"type\":\"long\"}}}}}";
    static const char closed[] = "{\"dynamic\":false,\"properties\":{\"k\":{\"type\":\"long\"}}}";
    static const char templates[] = "{\"dynamic\":\"strict_allow_templates\",\"properties\":"
                                    "{\"k\":{\"type\":\"long\"}}}";
    passes(open, "{\"z\":{\"z\":[1,\"]\",{}]},\"k\":1,\"i\":{\"z\":1}}");
    fails(open, "{\"s\":{\"z\":1}}", "a member \"s.z\" that the mapping does not have");
    fails(open, "{\"z\":1,\"k\":true}", "a boolean for a number in \"k\"");
    passes(closed, "{\"z\":1}");
    passes(templates, "{\"z\":1}");
    passes(order, "{\"any\":{\"z\":{\"y\":1}},\"off\":{\"z\":1}}");
    passes(order, "{\"off\":42}");
}
END_TEST

/* By default the mapping is strict, and so are the objects in it. */
START_TEST(an_object_of_a_mapping_that_says_nothing_is_strict)
{
    struct bench t;
    struct refusal refusal;
    bench_open(&t, "{\"properties\":{\"p\":{\"properties\":{\"k\":{\"type\":\"long\"}}}}}",
               (const char *[]){"p", "jsonb", NULL}, MAX_DOCUMENT);
    ck_assert(encode(&t, "1", "{\"k\": 1}", &refusal));
    ck_assert(!encode(&t, "2", "{\"z\": 1}", &refusal));
    ck_assert_str_eq(refusal.reason, "a member \"z\" that the mapping does not have");
    ck_assert_str_eq(refusal.beginning, "{\"z\": 1}");
    bench_close(&t);
}
END_TEST

START_TEST(numbers_of_members_are_within_their_type)
{
    passes(order, "{\"i\":1.9,\"l\":\"12\",\"d\":1e-400}");
    fails(order, "{\"b\":128}", "a number out of the range of a byte in \"b\"");
    fails(order, "{\"i\":[1,[3e9]]}", "a number out of the range of an integer in \"i\"");
    fails(order, "{\"l\":9223372036854775808}", "a number out of the range of a long in \"l\"");
    fails(order, "{\"u\":-1}", "a number out of the range of an unsigned_long in \"u\"");
    fails(order, "{\"f\":1e39}", "a number out of the range of a float in \"f\"");
    fails(order, "{\"d\":1e400}", "a number out of the range of a double in \"d\"");
    fails(order, "{\"o\":{\"o\":{\"m\":300}}}", "a number out of the range of a byte in \"o.o.m\"");
    fails(order, "{\"y\":1}", "a number for a boolean in \"y\"");
    passes("{\"type\":\"object\",\"dynamic\":\"strict\",\"properties\":"
           "{\"b\":{\"type\":\"byte\",\"ignore_malformed\":true}}}",
           "{\"b\":300}");
}
END_TEST

START_TEST(objects_and_scalars_are_not_mixed_up)
{
    fails(order, "{\"k\":{\"z\":1}}", "a JSON object for a scalar in \"k\"");
    fails(order, "{\"l\":[1,{}]}", "a JSON object for a scalar in \"l\"");
    fails(order, "{\"at\":{}}", "a JSON object for a scalar in \"at\"");
    fails(order, "{\"o\":1}", "a JSON scalar for an object in \"o\"");
    fails(order, "{\"o\":{\"o\":[{\"m\":1},\"s\"]}}", "a JSON scalar for an object in \"o.o\"");
    fails(order, "[1]", "a JSON scalar for an object");
    fails(order, "{\"x\":1}", "a value for an alias in \"x\"");
    fails("{\"type\":\"keyword\"}", "[\"a\",{\"b\":1}]", "a JSON object for a scalar");
    fails("{\"type\":\"long\"}", "true", "a boolean for a number");
}
END_TEST

START_TEST(a_name_with_dots_means_the_path)
{
    passes(order, "{\"o.n\":1,\"o.o.m\":[1,2],\"o.o\":{\"m\":3}}");
    fails(order, "{\"o.n\":true}", "a boolean for a number in \"o.n\"");
    fails(order, "{\"o.o.m\":300}", "a number out of the range of a byte in \"o.o.m\"");
    fails(order, "{\"o.z\":1}", "a member \"o.z\" that the mapping does not have");
    fails(order, "{\"k.t\":1}", "a member \"k.t\" that the mapping does not have");
    passes(order, "{\"any.z\":1,\"off.z\":1}");
    passes("{\"dynamic\":\"strict\",\"properties\":{\"a.b\":{\"type\":\"long\"}}}",
           "{\"a.b\":1,\"a\":{\"b\":2}}");
    fails("{\"dynamic\":\"strict\",\"properties\":{\"a.b\":{\"type\":\"long\"}}}", "{\"b\":1}",
          "a member \"b\" that the mapping does not have");
}
END_TEST

START_TEST(names_with_escapes_find_their_property)
{
    passes(order, "{\"\\u006b\":1,\"o\\u002en\":1}");
    fails(order, "{\"\\u006c\":true}", "a boolean for a number in \"\\u006c\"");
}
END_TEST

/* Returns open, n letters, close. */
static char *long_text(const char *open, size_t n, const char *close)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_push_text(&text, open);
    for (size_t i = 0; i < n; i++) {
        buf_push_char(&text, 'x');
    }
    buf_push_text(&text, close);
    return buf_detach(&text);
}

static void long_passes(const char *property, const char *open, size_t n, const char *close)
{
    char *text = long_text(open, n, close);
    passes(property, text);
    free(text);
}

static void long_fails(const char *property, const char *open, size_t n, const char *close,
                       const char *reason)
{
    char *text = long_text(open, n, close);
    fails(property, text, reason);
    free(text);
}

START_TEST(keywords_of_members_have_at_most_32766_bytes)
{
    static const char some[] =
        "{\"dynamic\":\"strict\",\"properties\":{\"k\":{\"type\":\"keyword\","
        "\"ignore_above\":32760},\"n\":{\"type\":\"keyword\",\"index\":false,"
        "\"doc_values\":false}}}";
    static const char reason[] = "a keyword of more than 32766 bytes in \"k\"";
    long_passes(order, "{\"k\":\"", 32766, "\"}");
    long_passes(order, "{\"k\":\"\\n\\u00e9", 32763, "\"}");
    long_passes(order, "{\"t\":\"", 32767, "\"}");
    long_fails(order, "{\"k\":[\"\",\"", 32767, "\"]}", reason);
    long_fails(order, "{\"k\":\"\\u00e9", 32765, "\"}", reason);
    long_passes(some, "{\"k\":\"", 40000, "\"}");
    long_passes(some, "{\"n\":\"", 40000, "\"}");
    long_fails("{\"type\":\"keyword\"}", "\"", 32767, "\"", "a keyword of more than 32766 bytes");
}
END_TEST

START_TEST(leaves_of_flattened_have_at_most_32766_bytes_with_their_path)
{
    static const char flat[] = "{\"type\":\"flattened\"}";
    static const char reason[] = "a leaf that has more than 32766 bytes with its path";
    long_passes(flat, "{\"a\":{\"b\":\"", 32762, "\"}}");
    long_fails(flat, "{\"a\":{\"b\":[\"", 32763, "\"]}}", reason);
    long_fails(flat, "{\"a\":{\"", 32763, "\":1}}", reason);
    long_passes(flat, "{\"a\":{\"", 40000, "\":null}}");
    long_passes("{\"type\":\"flattened\",\"ignore_above\":1000}", "{\"a\":\"", 40000, "\"}");
    long_passes("{\"type\":\"flat_object\"}", "{\"a\":{\"b\":\"", 32758, "\"}}");
    long_fails("{\"type\":\"flat_object\"}", "{\"a\":{\"b\":\"", 32759, "\"}}", reason);
    long_fails("{\"dynamic\":\"strict\",\"properties\":{\"f\":{\"type\":\"flattened\"}}}",
               "{\"f\":{\"a\":\"", 40000, "\"}}",
               "a leaf that has more than 32766 bytes with its path in \"f\"");
    expect_refused("json", "flattened", "{\"a\\u0000\":1}",
                   "a name with the character NUL in a flattened field");
    expect("json", "flattened", "{\"a\":\"\\u0000\"}", "{\"a\":\"\\u0000\"}");
    fails(flat, "1", "a JSON scalar for an object");
    fails(flat, "[{},\"s\"]", "a JSON scalar for an object");
    passes(flat, "[{\"a\":1},{\"a\":2}]");
}
END_TEST

START_TEST(objects_of_flattened_are_as_deep_as_depth_limit)
{
    static const char two[] = "{\"type\":\"flattened\",\"depth_limit\":2}";
    static const char reason[] = "objects nested deeper than the field's \"depth_limit\"";
    struct buf json;
    buf_init(&json, 4096);
    for (int i = 0; i < 20; i++) {
        buf_push_literal(&json, "{\"a\":");
    }
    buf_push_literal(&json, "[[[1]]]");
    for (int i = 0; i < 20; i++) {
        buf_push_char(&json, '}');
    }
    passes("{\"type\":\"flattened\"}", buf_text(&json));
    passes("{\"type\":\"flat_object\"}", buf_text(&json));
    fails(two, buf_text(&json), reason);
    passes(two, "{\"a\":{\"b\":[[1]]}}");
    fails(two, "{\"a\":[{\"b\":{}}]}", reason);
    buf_release(&json);
}
END_TEST

START_TEST(places_are_on_the_globe)
{
    static const char place[] = "{\"type\":\"geo_point\"}";
    static const char latitude[] = "a latitude beyond 90 degrees";
    static const char longitude[] = "a longitude beyond 180 degrees";
    passes(place, "{\"lat\":-90,\"lon\":180.0}");
    passes(place, "[180,90]");
    passes(place, "[[-180,-90.000,5],{\"lat\":\"1\",\"lon\":2},\"drm3btev3e86\"]");
    passes(place, "{\"type\":\"Point\",\"coordinates\":[1,2]}");
    fails(place, "{\"lat\":90.01,\"lon\":0}", latitude);
    fails(place, "{\"lon\":-180.5,\"lat\":0}", longitude);
    fails(place, "[100,91]", latitude);
    fails(place, "[[1,2],[181,2]]", longitude);
    fails(place, "{\"type\":\"Point\",\"coordinates\":[1,-91]}", latitude);
    fails(order, "{\"g\":{\"lat\":91,\"lon\":1}}", "a latitude beyond 90 degrees in \"g\"");
    passes("{\"type\":\"geo_point\",\"ignore_malformed\":true}", "[100,91]");
}
END_TEST

START_TEST(rank_features_are_positive)
{
    static const char features[] = "{\"type\":\"rank_features\"}";
    passes(features, "{\"a\":1,\"b\":0.5}");
    fails(features, "{\"a\":1,\"b\":0}", "a rank feature that is not positive");
    fails(features, "{\"a\":-1}", "a rank feature that is not positive");
    fails(features, "{\"a\":{\"b\":1}}", "a rank feature that is no number");
    fails("{\"type\":\"rank_feature\"}", "0.0", "a rank feature that is not positive");
}
END_TEST

START_TEST(what_is_not_certain_is_left_to_the_service)
{
    passes("{\"type\":\"completion\"}", "{\"input\":[\"a\"],\"weight\":3}");
    passes("{\"type\":\"completion\"}", "[\"a\",\"b\"]");
    passes("{\"type\":\"date_range\"}", "{\"gte\":\"2024-01-01\"}");
    passes("{\"type\":\"geo_shape\"}", "{\"type\":\"Point\",\"coordinates\":[200,1]}");
    passes("{\"type\":\"boolean\"}", "\"perhaps\"");
    passes("{\"type\":\"date\"}", "\"yesterday\"");
    passes("{\"type\":\"long\"}", "\"abc\"");
}
END_TEST

/* Truncated or damaged JSON ends the walk without reading beyond its end (detected by
 * sanitizers). */
START_TEST(damaged_json_ends_the_walk)
{
    static const char json[] = "{\"o\":{\"n\":[1,{\"a\\\"\":2}]},\"g\":[{\"lat\":1}],\"k\":\"\\u00";
    struct bench t;
    open_one(&t, "jsonb", order);
    const struct property *p = &t.mapping.properties[0];
    for (size_t len = 1; len < sizeof(json); len++) {
        for (size_t at = 0; at < len; at++) {
            struct buf out;
            buf_init(&out, 4096);
            buf_push(&out, json, len);
            out.data[at] = "{}[]\",:1nt\\"[(len + at) % 11];
            (void)json_check(&out, 0, p);
            buf_release(&out);
        }
    }
    bench_close(&t);
}
END_TEST

SUITE_MAIN("document/json_check", members_that_the_mapping_has_arrive,
           a_member_that_the_mapping_does_not_have_is_refused_by_its_path,
           a_long_name_is_cut_in_the_refusal, a_path_of_many_long_names_is_cut_in_the_refusal,
           an_unknown_member_that_is_null_is_left_to_the_service,
           dynamic_is_inherited_and_decides_what_is_unknown,
           an_object_of_a_mapping_that_says_nothing_is_strict,
           numbers_of_members_are_within_their_type, objects_and_scalars_are_not_mixed_up,
           a_name_with_dots_means_the_path, names_with_escapes_find_their_property,
           keywords_of_members_have_at_most_32766_bytes,
           leaves_of_flattened_have_at_most_32766_bytes_with_their_path,
           objects_of_flattened_are_as_deep_as_depth_limit, places_are_on_the_globe,
           rank_features_are_positive, what_is_not_certain_is_left_to_the_service,
           damaged_json_ends_the_walk)
