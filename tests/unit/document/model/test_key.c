/* SPDX-License-Identifier: Apache-2.0 */
/* Keys: readable, injective, reversible. */
#include "rowferry/document/model/key.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "keyjoin.h"
#include "rowferry/base/buf.h"
#include "suite.h"

static void join(struct buf *out, const char *const *parts, size_t count)
{
    size_t lens[KEY_MAX_PARTS];
    for (size_t i = 0; i < count; i++) {
        lens[i] = strlen(parts[i]);
    }
    buf_reset(out);
    key_join(out, parts, lens, count);
}

static void expect_key(const char *expected, const char *const *parts, size_t count)
{
    struct buf text;
    struct buf split;
    size_t offsets[KEY_MAX_PARTS];
    buf_init(&text, 4096);
    buf_init(&split, 4096);
    join(&text, parts, count);
    ck_assert_str_eq(buf_text(&text), expected);
    struct err err;
    ck_assert_int_eq(key_split(&split, offsets, text.data, text.len, count, &err), 0);
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(split.data + offsets[i], parts[i]);
    }
    buf_release(&text);
    buf_release(&split);
}

START_TEST(one_part_is_its_own_text)
{
    expect_key("42", (const char *[]){"42"}, 1);
    expect_key("a:b\\c", (const char *[]){"a:b\\c"}, 1);
    expect_key("", (const char *[]){""}, 1);
}
END_TEST

START_TEST(several_parts_are_joined_readably_and_split_again)
{
    expect_key("eu:42", (const char *[]){"eu", "42"}, 2);
    expect_key("a\\:b:c\\\\", (const char *[]){"a:b", "c\\"}, 2);
    expect_key("::", (const char *[]){"", "", ""}, 3);
    expect_key("a-b:c", (const char *[]){"a-b", "c"}, 2);
    expect_key("a:b-c", (const char *[]){"a", "b-c"}, 2);
    expect_key("\xf0\x9f\x90\x98:\xc3\xa9", (const char *[]){"\xf0\x9f\x90\x98", "\xc3\xa9"}, 2);
}
END_TEST

START_TEST(a_text_with_other_parts_is_refused)
{
    static const char *const wrong[] = {"a", "a:b:c", "a\\:b", "a:b\\", "a\\x:b", ""};
    struct buf out;
    size_t offsets[KEY_MAX_PARTS];
    buf_init(&out, 4096);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct err err;
        int result = key_split(&out, offsets, wrong[i], strlen(wrong[i]), 2, &err);
        ck_assert_int_eq(result, ERR_REJECTED);
        ck_assert_str_eq(err.message, "a key's text does not have the 2 parts of the key");
        ck_assert_uint_eq(out.len, 0);
    }
    buf_release(&out);
}
END_TEST

START_TEST(no_part_is_no_key_and_one_without_room_waits)
{
    static const char *const texts[] = {"1234567890", "1234:567890", "1:2:345678"};
    struct buf out;
    struct err err;
    size_t offsets[KEY_MAX_PARTS];
    buf_init(&out, 8);
    ck_assert_int_eq(key_split(&out, offsets, "1", 1, 0, &err), ERR_REJECTED);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(key_split(&out, offsets, texts[i], strlen(texts[i]), i + 1, &err),
                         ERR_TRANSIENT);
        ck_assert_uint_eq(out.len, 0);
        buf_release(&out);
        buf_init(&out, 8);
    }
    buf_release(&out);
}
END_TEST

START_TEST(a_key_that_is_too_long_routes_nowhere)
{
    char out[KEY_LONG_MAX_BYTES];
    char text[KEY_MAX_BYTES + 1];
    memset(text, 'k', sizeof(text));
    ck_assert_uint_eq(key_route(out, &(struct key_routing){.count = 1}, text, sizeof(text)), 0);
    ck_assert_uint_eq(key_route(out, &(struct key_routing){.count = 1}, text, sizeof(text) - 1),
                      KEY_MAX_BYTES);
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Uses letters that provoke collisions. */
static void random_part(char *part, uint64_t *state)
{
    size_t len = next_random(state) % 4;
    for (size_t i = 0; i < len; i++) {
        part[i] = "a:\\"[next_random(state) % 3];
    }
    part[len] = '\0';
}

START_TEST(random_keys_are_equal_only_when_their_parts_are)
{
    struct buf a;
    struct buf b;
    uint64_t state = 7;
    buf_init(&a, 100);
    buf_init(&b, 100);
    for (int i = 0; i < 20000; i++) {
        char parts[4][4];
        for (size_t p = 0; p < 4; p++) {
            random_part(parts[p], &state);
        }
        join(&a, (const char *[]){parts[0], parts[1]}, 2);
        join(&b, (const char *[]){parts[2], parts[3]}, 2);
        bool same = strcmp(parts[0], parts[2]) == 0 && strcmp(parts[1], parts[3]) == 0;
        ck_assert_int_eq(strcmp(buf_text(&a), buf_text(&b)) == 0, same);
        expect_key(buf_text(&a), (const char *[]){parts[0], parts[1]}, 2);
    }
    buf_release(&a);
    buf_release(&b);
}
END_TEST

static void expect_route(const char *key, size_t part, size_t count, const char *expected)
{
    char out[KEY_LONG_MAX_BYTES];
    const struct key_routing routing = {.part = part, .count = count};
    size_t len = key_route(out, &routing, key, strlen(key));
    ck_assert_msg(len == strlen(expected) && memcmp(out, expected, len) == 0, "%s: %.*s", key,
                  (int)len, out);
}

START_TEST(a_part_routes_as_it_is_without_escapes)
{
    expect_route("eu:42", 0, 2, "eu");
    expect_route("eu:42", 1, 2, "42");
    expect_route("a\\:b:c\\\\", 0, 2, "a:b");
    expect_route("a\\:b:c\\\\", 1, 2, "c\\");
    expect_route("a:b:c", 1, 3, "b");
    expect_route("a:b\\c", 0, 1, "a:b\\c");
}
END_TEST

START_TEST(where_nothing_routes_there_is_none)
{
    expect_route("eu:42", 0, 0, "");
    expect_route(":42", 0, 2, "");
    expect_route("eu:42:7", 0, 2, "");
    expect_route("eu", 0, 2, "");
    expect_route("eu\\", 0, 2, "");
    expect_route("eu\\x:1", 0, 2, "");
}
END_TEST

static struct span id_of(char out[KEY_ID_BYTES], const char *key, size_t len, bool hashed)
{
    return key_id(out, &(struct key_routing){.hashed = hashed}, span_make(key, len));
}

START_TEST(only_a_key_that_cannot_be_an_id_is_hashed)
{
    char out[KEY_ID_BYTES];
    char key[KEY_MAX_BYTES + 1];
    memset(key, 'k', sizeof(key));
    for (size_t len = 0; len <= KEY_MAX_BYTES; len++) {
        ck_assert_ptr_eq(id_of(out, key, len, true).data, key);
    }
    ck_assert_ptr_eq(id_of(out, key, sizeof(key), false).data, key);
    struct span id = id_of(out, key, sizeof(key), true);
    ck_assert_uint_eq(id.len, KEY_ID_BYTES - 1);
    ck_assert_str_eq(id.data,
                     "sha256:45a7c7ef95c3417e800362f5672aba16da807261fe7121f3a81b0a0fb6b9a05c");
}
END_TEST

START_TEST(a_key_with_the_form_of_a_hash_shares_no_id)
{
    static const char form[] =
        "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    static const char *const others[] = {
        "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeef",
        "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff0",
        "sha256:00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff",
        "sha255:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeefg"};
    char out[KEY_ID_BYTES];
    struct span id = id_of(out, form, sizeof(form) - 1, true);
    ck_assert_str_eq(id.data,
                     "sha256:dcf79998581dddd6e55b13a2e25c0664384d7ac27ff65e2cf540c01b51b658f2");
    ck_assert(key_is_hash(id));
    ck_assert_ptr_eq(id_of(out, form, sizeof(form) - 1, false).data, form);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        ck_assert_ptr_eq(id_of(out, others[i], strlen(others[i]), true).data, others[i]);
    }
}
END_TEST

SUITE_MAIN("document/key", only_a_key_that_cannot_be_an_id_is_hashed,
           a_key_with_the_form_of_a_hash_shares_no_id, no_part_is_no_key_and_one_without_room_waits,
           a_key_that_is_too_long_routes_nowhere, a_part_routes_as_it_is_without_escapes,
           where_nothing_routes_there_is_none, one_part_is_its_own_text,
           several_parts_are_joined_readably_and_split_again, a_text_with_other_parts_is_refused,
           random_keys_are_equal_only_when_their_parts_are)
