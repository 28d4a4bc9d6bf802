/* SPDX-License-Identifier: Apache-2.0 */
/* JSON in pieces: valid and invalid JSON, and texts unescaped on one line. */
#include "http/walk.h"

#include <stdio.h>

#include "rowferry/base/buf.h"
#include "suite.h"

static struct buf *seen(void *context)
{
    return context;
}

static bool on_open(void *context, unsigned depth, bool array)
{
    buf_printf(seen(context), "%s%u", array ? "[" : "{", depth);
    return true;
}

static bool on_close(void *context, unsigned depth)
{
    buf_printf(seen(context), "!%u", depth);
    return true;
}

static bool on_key(void *context, unsigned depth, struct span text)
{
    buf_printf(seen(context), "%u:%.*s=", depth, (int)text.len, text.data);
    return true;
}

static bool on_string(void *context, unsigned depth, struct span text)
{
    (void)depth;
    buf_printf(seen(context), "'%.*s'", (int)text.len, text.data);
    return true;
}

static bool on_scalar(void *context, unsigned depth, struct span text)
{
    (void)depth;
    buf_printf(seen(context), "<%.*s>", (int)text.len, text.data);
    return true;
}

static const struct walk_events events = {on_open, on_close, on_key, on_string, on_scalar, NULL};

static bool walk_text(const char *json, size_t piece, struct buf *out)
{
    struct walk w;
    walk_begin(&w, &events, out);
    size_t len = strlen(json);
    for (size_t at = 0; at < len; at += piece) {
        size_t n = len - at < piece ? len - at : piece;
        if (!walk_feed(&w, json + at, n)) {
            return false;
        }
    }
    return walk_whole(&w);
}

static void expect(const char *json, const char *wanted)
{
    size_t len = strlen(json);
    for (size_t piece = 1; piece <= len; piece++) {
        struct buf out;
        buf_init(&out, 65536);
        ck_assert_msg(walk_text(json, piece, &out), "%s in pieces of %zu", json, piece);
        ck_assert_str_eq(buf_text(&out), wanted);
        buf_release(&out);
    }
}

START_TEST(events_come_in_order)
{
    expect("{\"a\":[1,{\"b\":null}],\"c\":{}}", "{11:a=[2<1>{33:b=<null>!3!21:c={2!2!1");
    expect(" [ ] ", "[1!1");
    expect("[true , false,-1.5e+3]", "[1<true><false><-1.5e+3>!1");
    expect("[0,-0,0.50,10E-7,120]", "[1<0><-0><0.50><10E-7><120>!1");
}
END_TEST

START_TEST(texts_are_unescaped_onto_one_line)
{
    expect("[\"a\\nb\\tc\"]", "[1'a b c'!1");
    expect("[\"\\\"\\\\\\/\"]", "[1'\"\\/'!1");
    expect("[\"\\u00e9\\u20ac\"]", "[1'\xc3\xa9\xe2\x82\xac'!1");
    expect("[\"\\uD83D\\uDE00\"]", "[1'\xf0\x9f\x98\x80'!1");
    expect("[\"\\u0000\\u001b[1m\"]", "[1'  [1m'!1");
}
END_TEST

START_TEST(half_a_surrogate_pair_becomes_a_replacement)
{
    expect("[\"\\ud800\"]", "[1'\xef\xbf\xbd'!1");
    expect("[\"\\ud800x\"]", "[1'\xef\xbf\xbdx'!1");
    expect("[\"\\udc00\"]", "[1'\xef\xbf\xbd'!1");
    expect("[\"\\ud800\\ud83d\\ude00\"]", "[1'\xef\xbf\xbd\xf0\x9f\x98\x80'!1");
}
END_TEST

START_TEST(a_number_may_be_longer_than_the_kept_text)
{
    char json[4096];
    struct buf out;
    memset(json, '7', sizeof(json));
    json[0] = '[';
    json[3000] = '.';
    json[sizeof(json) - 2] = ']';
    json[sizeof(json) - 1] = '\0';
    buf_init(&out, 65536);
    ck_assert(walk_text(json, 7, &out));
    buf_reset(&out);
    json[2000] = '-';
    ck_assert(!walk_text(json, 7, &out));
    buf_release(&out);
}
END_TEST

static const char *const broken[] = {
    "{\"a\"}",
    "{\"a\":}",
    "{,}",
    "[1,]",
    "[1 2]",
    "{\"a\":1,}",
    "[}",
    "{]",
    "]",
    "[\"\\x\"]",
    "[nul]",
    "[truefalse]",
    "[\"\\u12g4\"]",
    "[\"a\nb\"]",
    "[1]x",
    "[1][2]",
    "[-]",
    "[1e]",
    "[--1]",
    "[1-2]",
    "[01]",
    "[1.]",
    "[1.2.3]",
    "[.5]",
    "[1e+]",
    "[1e5.0]",
    "{\"a\":1 \"b\":2}",
    "{1:2}",
    "[\"a\" \"b\"]",
    "<html></html>",
    "[1a]",
    "[']",
};

START_TEST(invalid_json_is_refused)
{
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        for (size_t piece = 1; piece <= strlen(broken[i]); piece++) {
            struct buf out;
            buf_init(&out, 65536);
            ck_assert_msg(!walk_text(broken[i], piece, &out), "%s", broken[i]);
            buf_release(&out);
        }
    }
}
END_TEST

START_TEST(every_prefix_of_a_text_is_incomplete)
{
    const char *json = "{\"a\":[1,{\"b\":\"\\u00e9\"}],\"c\":true}";
    for (size_t len = 0; len < strlen(json); len++) {
        struct walk w;
        struct buf out;
        buf_init(&out, 65536);
        walk_begin(&w, &events, &out);
        ck_assert(walk_feed(&w, json, len));
        ck_assert(!walk_whole(&w));
        buf_release(&out);
    }
}
END_TEST

START_TEST(depth_is_bounded)
{
    char deep[2 * WALK_MAX_DEPTH + 3];
    struct buf out;
    buf_init(&out, 65536);
    memset(deep, '[', WALK_MAX_DEPTH);
    memset(deep + WALK_MAX_DEPTH, ']', WALK_MAX_DEPTH);
    deep[2 * WALK_MAX_DEPTH] = '\0';
    ck_assert(walk_text(deep, 7, &out));
    memset(deep, '[', WALK_MAX_DEPTH + 1);
    ck_assert(!walk_text(deep, 7, &out));
    buf_release(&out);
}
END_TEST

START_TEST(long_texts_are_cut_and_their_end_is_found)
{
    size_t len = 100000;
    char *json = malloc(len + 8);
    ck_assert_ptr_nonnull(json);
    snprintf(json, len + 8, "[\"%*s\",1]", (int)len - 2, "x");
    struct buf out;
    buf_init(&out, 65536);
    ck_assert(walk_text(json, 1000, &out));
    ck_assert_uint_eq(out.len, strlen("[1''<1>!1") + WALK_TEXT_BYTES);
    buf_release(&out);
    free(json);
}
END_TEST

/* Accepts {"ok":1} in one piece and nothing else. */
static size_t on_take(void *context, unsigned depth, struct span bytes)
{
    static const char whole[] = "{\"ok\":1}";
    if (bytes.len < sizeof(whole) - 1 || memcmp(bytes.data, whole, sizeof(whole) - 1) != 0) {
        return 0;
    }
    buf_printf(seen(context), "#%u", depth);
    return sizeof(whole) - 1;
}

static const struct walk_events taking = {on_open, on_close, on_key, on_string, on_scalar, on_take};

static void expect_taken(const char *json, bool whole, const char *wanted)
{
    struct walk w;
    struct buf out;
    buf_init(&out, 4096);
    walk_begin(&w, &taking, &out);
    (void)walk_feed(&w, json, strlen(json));
    ck_assert_int_eq(walk_whole(&w), whole);
    ck_assert_str_eq(buf_text(&out), wanted);
    buf_release(&out);
}

START_TEST(only_an_array_element_can_be_taken_unparsed)
{
    expect_taken("[{\"ok\":1},{\"ok\":2},{\"ok\":1}]", true, "[1#1{22:ok=<2>!2#1!1");
    expect_taken("[ {\"ok\":1} , {\"ok\":1} ]", true, "[1#1#1!1");
    expect_taken("{\"a\":{\"ok\":1}}", true, "{11:a={22:ok=<1>!2!1");
    expect_taken("{\"ok\":1}", true, "{11:ok=<1>!1");
    expect_taken("[{\"ok\":1}{\"ok\":1}]", false, "[1#1");
    expect_taken("[{\"ok\":1},]", false, "[1#1");
}
END_TEST

SUITE_MAIN("service/walk", events_come_in_order, texts_are_unescaped_onto_one_line,
           half_a_surrogate_pair_becomes_a_replacement, a_number_may_be_longer_than_the_kept_text,
           invalid_json_is_refused, every_prefix_of_a_text_is_incomplete, depth_is_bounded,
           long_texts_are_cut_and_their_end_is_found, only_an_array_element_can_be_taken_unparsed)
