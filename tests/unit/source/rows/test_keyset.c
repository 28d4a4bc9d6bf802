/* SPDX-License-Identifier: Apache-2.0 */
/* The distinct keys of a page. */
#include "rows/keyset.h"

#include <stdio.h>

#include "suite.h"

static struct span key_of(char out[24], int i)
{
    int len = snprintf(out, 24, "key %d", i);
    return span_make(out, (size_t)len);
}

START_TEST(a_key_is_kept_once_however_often_it_comes)
{
    enum { KEYS = 5000 };
    struct keyset k;
    char text[24];
    keyset_init(&k, 1 << 20);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < KEYS; i++) {
            ck_assert_int_eq(keyset_add(&k, key_of(text, i)),
                             round == 0 ? KEYSET_NEW : KEYSET_KNOWN);
        }
    }
    ck_assert_uint_eq(k.count, KEYS);
    for (int i = 0; i < KEYS; i++) {
        ck_assert(span_equal(keyset_get(&k, (size_t)i), key_of(text, i)));
    }
    keyset_release(&k);
}
END_TEST

START_TEST(a_repeated_row_and_an_unrequested_row_are_recognised)
{
    struct keyset k;
    keyset_init(&k, 4096);
    ck_assert_int_eq(keyset_mark(&k, span_make("a", 1), 0, k.count), KEYSET_STRANGER);
    keyset_add(&k, span_make("a", 1));
    keyset_add(&k, span_make("", 0));
    ck_assert_int_eq(keyset_mark(&k, span_make("a", 1), 0, k.count), KEYSET_FIRST);
    ck_assert_int_eq(keyset_mark(&k, span_make("a", 1), 0, k.count), KEYSET_AGAIN);
    ck_assert_int_eq(keyset_mark(&k, span_make("A", 1), 0, k.count), KEYSET_STRANGER);
    ck_assert_int_eq(keyset_mark(&k, span_make("", 0), 0, k.count), KEYSET_FIRST);
    keyset_release(&k);
}
END_TEST

START_TEST(after_a_reset_it_is_empty_and_usable)
{
    struct keyset k;
    char text[24];
    keyset_init(&k, 1 << 20);
    for (int page = 0; page < 3; page++) {
        for (int i = 0; i < 1000; i++) {
            ck_assert_int_eq(keyset_add(&k, key_of(text, page * 500 + i)), KEYSET_NEW);
        }
        keyset_reset(&k);
        ck_assert_uint_eq(k.count, 0);
        ck_assert_int_eq(keyset_mark(&k, key_of(text, page * 500), 0, k.count), KEYSET_STRANGER);
    }
    keyset_release(&k);
}
END_TEST

START_TEST(a_full_set_refuses_new_keys_and_keeps_the_others)
{
    struct keyset k;
    keyset_init(&k, 16);
    ck_assert_int_eq(keyset_add(&k, span_make("0123456789", 10)), KEYSET_NEW);
    ck_assert_int_eq(keyset_add(&k, span_make("0123456780", 10)), KEYSET_FULL);
    ck_assert_int_eq(keyset_add(&k, span_make("0123456789", 10)), KEYSET_KNOWN);
    ck_assert_int_eq(keyset_add(&k, span_make("ab", 2)), KEYSET_NEW);
    ck_assert_uint_eq(k.count, 2);
    keyset_release(&k);
}
END_TEST

SUITE_MAIN("source/keyset", a_key_is_kept_once_however_often_it_comes,
           a_repeated_row_and_an_unrequested_row_are_recognised,
           after_a_reset_it_is_empty_and_usable, a_full_set_refuses_new_keys_and_keeps_the_others)
