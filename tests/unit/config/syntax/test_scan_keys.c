/* SPDX-License-Identifier: Apache-2.0 */
/* Equal keys are detected however they are escaped. */
#include "syntax/scan_keys.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

static struct scan_keys keys;
static struct buf path;

static bool push(const char *key)
{
    buf_release(&path);
    buf_init(&path, 100);
    return scan_keys_push(&keys, &path, span_make(key, strlen(key)));
}

START_TEST(the_first_key_that_comes_again_is_found_whatever_its_escapes)
{
    static const char text[] = "b a \\u0062 \\u0061 b";
    const size_t at[] = {0, 2, 4, 11, 18};
    const size_t len[] = {1, 1, 6, 6, 1};
    buf_init(&path, 100);
    for (size_t i = 0; i < 5; i++) {
        ck_assert(scan_keys_push(&keys, &path, span_make(text + at[i], len[i])));
    }
    ck_assert_str_eq(buf_text(&path), "babab");
    ck_assert_ptr_eq(scan_keys_end(&keys, 0), text + 4);
    ck_assert_uint_eq(keys.count, 0);
    free(keys.items);
    buf_release(&path);
}
END_TEST

START_TEST(keys_of_the_object_around_are_none_of_this_one)
{
    ck_assert(push("a") && push("ab") && push("") && push("a"));
    ck_assert_ptr_null(scan_keys_end(&keys, 3));
    ck_assert_ptr_null(scan_keys_end(&keys, 0));
    ck_assert_ptr_null(scan_keys_end(&keys, 0));
    free(keys.items);
    buf_release(&path);
}
END_TEST

START_TEST(a_key_that_json_c_would_take_for_another_is_told)
{
    static const char *const bad[] = {"name\\u0000x", "\\ud800", "\\udc00\\ud800", "a\\uD83D"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!push(bad[i]), "%s", bad[i]);
    }
    ck_assert(push("\\ud83d\\ude00"));
    ck_assert_str_eq(buf_text(&path), "\xf0\x9f\x98\x80");
    free(keys.items);
    buf_release(&path);
}
END_TEST

SUITE_MAIN("config/scan_keys", the_first_key_that_comes_again_is_found_whatever_its_escapes,
           keys_of_the_object_around_are_none_of_this_one,
           a_key_that_json_c_would_take_for_another_is_told)
