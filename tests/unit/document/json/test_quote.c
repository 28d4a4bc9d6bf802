/* SPDX-License-Identifier: Apache-2.0 */
/* JSON strings: each byte at each position of a step, compared with a simple implementation. */
#include "json/quote.h"

#include <stdio.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "suite.h"

static void expect(const char *text, size_t len, const char *expected)
{
    struct buf out;
    buf_init(&out, 4096);
    quote_push(&out, text, len);
    ck_assert_str_eq(buf_text(&out), expected);
    buf_release(&out);
}

START_TEST(every_byte_is_escaped_at_every_place)
{
    static const char *const shorts[0x20] = {
        ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r"};
    for (int byte = 0; byte < 256; byte++) {
        for (size_t len = 1; len < 26; len++) {
            for (size_t at = 0; at < len; at++) {
                char text[26];
                memset(text, 'x', sizeof(text));
                text[at] = (char)byte;
                char escaped[8] = {(char)byte};
                if (byte == '"' || byte == '\\') {
                    snprintf(escaped, sizeof(escaped), "\\%c", byte);
                } else if (byte < 0x20 && shorts[byte] != NULL) {
                    snprintf(escaped, sizeof(escaped), "%s", shorts[byte]);
                } else if (byte < 0x20) {
                    snprintf(escaped, sizeof(escaped), "\\u%04x", byte);
                }
                char expected[64];
                snprintf(expected, sizeof(expected), "\"%.*s%s%.*s\"", (int)at, text, escaped,
                         (int)(len - at - 1), text + at + 1);
                expect(text, len, expected);
            }
        }
    }
}
END_TEST

START_TEST(a_text_of_escapes_only_grows_as_it_must)
{
    struct buf out;
    buf_init(&out, 6 * 1000 + 2 + 16);
    char text[1000];
    memset(text, 1, sizeof(text));
    quote_push(&out, text, sizeof(text));
    ck_assert(!out.failed);
    ck_assert_uint_eq(out.len, 6002);
    buf_release(&out);
    buf_init(&out, 5000);
    quote_push(&out, text, sizeof(text));
    ck_assert(out.failed);
    buf_release(&out);
}
END_TEST

START_TEST(other_characters_pass)
{
    expect("", 0, "\"\"");
    expect("\xe2\x80\xa8\xf0\x9f\x90\x98 \xc3\xa9/", 11,
           "\"\xe2\x80\xa8\xf0\x9f\x90\x98 \xc3\xa9/\"");
}
END_TEST

SUITE_MAIN("document/quote", every_byte_is_escaped_at_every_place,
           a_text_of_escapes_only_grows_as_it_must, other_characters_pass)
