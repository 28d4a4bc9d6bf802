/* SPDX-License-Identifier: Apache-2.0 */
/* The normal case; crash_torture tests it without memory. */
#include "rowferry/document/json/json_build.h"

#include <json-c/json.h>

#include "suite.h"

START_TEST(what_is_made_is_whole)
{
    struct json_object *all = json_build_object();
    struct json_object *list = json_build_list();
    json_build_item(list, json_build_number(7));
    json_build_item(list, NULL);
    json_build_member(all, "text", json_build_text("a/b"));
    json_build_member(all, "list", list);
    json_build_member(all, "truth", json_build_bool(true));
    ck_assert_str_eq(
        json_build_string(all, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
        "{\"text\":\"a/b\",\"list\":[7,null],\"truth\":true}");
    ck_assert_str_eq(json_build_words(json_object_object_get(all, "text")), "a/b");
    ck_assert_str_eq(json_build_words(json_object_object_get(all, "truth")), "true");
    json_object_put(all);
    ck_assert_str_eq(json_build_string(NULL, 0), "null");
}
END_TEST

START_TEST(null_is_what_the_text_says)
{
    struct json_tokener *tokener = json_build_tokener(2);
    ck_assert_ptr_null(json_build_parsed(tokener, "[[[1]]]", 7));
    ck_assert_int_eq(json_tokener_get_error(tokener), json_tokener_error_depth);
    json_tokener_free(tokener);
}
END_TEST

SUITE_MAIN("document/json_build", what_is_made_is_whole, null_is_what_the_text_says)
