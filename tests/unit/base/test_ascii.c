/* SPDX-License-Identifier: Apache-2.0 */
/* Characters of ASCII. */
#include "rowferry/base/ascii.h"

#include <string.h>

#include "suite.h"

START_TEST(each_byte_has_its_classes)
{
    for (int c = -128; c < 128; c++) {
        bool found = c > 0 && strchr("0123456789", c) != NULL;
        ck_assert_msg(ascii_is_digit((char)c) == found, "%d", c);
        found = c > 0 && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c) != NULL;
        ck_assert_msg(ascii_is_letter((char)c) == found, "%d", c);
        found = c > 0 && strchr(" \t\n\r", c) != NULL;
        ck_assert_msg(ascii_is_blank((char)c) == found, "%d", c);
        ck_assert_int_eq(ascii_lower((char)c), c >= 'A' && c <= 'Z' ? c + 32 : c);
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = c > 0 ? strchr(digits, c) : NULL;
        ck_assert_int_eq(ascii_hex((char)c), digit != NULL ? (digit - digits) % 16 : -1);
    }
}
END_TEST

START_TEST(two_hexadecimal_digits_are_a_byte)
{
    ck_assert_int_eq(ascii_hex_byte("00", 2), 0);
    ck_assert_int_eq(ascii_hex_byte("fFx", 3), 255);
    ck_assert_int_eq(ascii_hex_byte("ff", 1), -1);
    ck_assert_int_eq(ascii_hex_byte("f", 2), -1);
    ck_assert_int_eq(ascii_hex_byte("xf", 2), -1);
    ck_assert_int_eq(ascii_hex_byte("", 0), -1);
}
END_TEST

START_TEST(characters_are_written_in_utf8)
{
    static const struct {
        uint32_t code;
        const char *text;
    } cases[] = {{'a', "a"},
                 {0x7f, "\x7f"},
                 {0x80, "\xc2\x80"},
                 {0x7ff, "\xdf\xbf"},
                 {0x800, "\xe0\xa0\x80"},
                 {0xffff, "\xef\xbf\xbf"},
                 {0x10000, "\xf0\x90\x80\x80"},
                 {0x10ffff, "\xf4\x8f\xbf\xbf"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char bytes[4];
        size_t len = ascii_utf8(bytes, cases[i].code);
        ck_assert_uint_eq(len, strlen(cases[i].text));
        ck_assert_mem_eq(bytes, cases[i].text, len);
    }
}
END_TEST

SUITE_MAIN("base/ascii", each_byte_has_its_classes, two_hexadecimal_digits_are_a_byte,
           characters_are_written_in_utf8)
