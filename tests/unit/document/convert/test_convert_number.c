/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers: digit for digit, or refused. */
#include "encoding.h"
#include "suite.h"

START_TEST(numbers_stay_digit_for_digit)
{
    static const char *const forty = "1234567890123456789012345678901234567890.0500";
    expect("numeric", "double", forty, forty);
    expect("numeric", "keyword", "NaN", "\"NaN\"");
    expect("numeric", "scaled_float", "1.10", "1.10");
    expect("int8", "long", "-9223372036854775808", "-9223372036854775808");
    expect("int8", "long", "9223372036854775807", "9223372036854775807");
    expect("numeric", "unsigned_long", "18446744073709551615", "18446744073709551615");
    expect("int8", "integer", "-2147483648", "-2147483648");
    expect("int4", "short", "32767", "32767");
    expect("numeric", "short", "32767.999", "32767.999");
    expect("numeric", "byte", "-128.9", "-128.9");
    expect("numeric", "long", "-9223372036854775808.5", "-9223372036854775808.5");
    expect("float8", "unsigned_long", "-1e-05", "-1e-05");
    expect("numeric", "unsigned_long", "-0.9", "-0.9");
    expect("int2", "byte", "-128", "-128");
    expect("int2", "byte", "0", "0");
    expect("float8", "double", "1.7976931348623157e+308", "1.7976931348623157e+308");
    expect("float8", "double", "5e-324", "5e-324");
    expect("float8", "float", "-3.4028234663852886e+38", "-3.4028234663852886e+38");
    expect("float8", "float", "1e-300", "1e-300");
    expect("float4", "half_float", "65504", "65504");
    expect("numeric", "long", "9223372036854775806.9", "9223372036854775806.9");
    expect("numeric", "byte", "0.00", "0.00");
    expect("numeric", "double", "-0.25", "-0.25");
    expect("int4", "integer", "12345678", "12345678");
    expect("int8", "long", "1234567890123456", "1234567890123456");
    expect("numeric", "byte", "127.0", "127.0");
    expect("oid", "long", "4294967295", "4294967295");
    expect("int8", "date", "1710054296123", "1710054296123");
}
END_TEST

START_TEST(numbers_that_cannot_be_held_are_refused)
{
    expect_refused("numeric", "double", "NaN", "not a finite number");
    expect_refused("numeric", "double", "-Infinity", "not a finite number");
    expect_refused("float8", "float", "Infinity", "not a finite number");
    expect_refused("int4", "byte", "128", "a number out of the range of a byte");
    expect_refused("int4", "byte", "-129", "a number out of the range of a byte");
    expect_refused("numeric", "byte", "128.5", "a number out of the range of a byte");
    expect_refused("numeric", "integer", "2147483647.5", "a number out of the range of an integer");
    expect_refused("int4", "short", "32768", "a number out of the range of a short");
    expect_refused("int8", "integer", "2147483648", "a number out of the range of an integer");
    expect_refused("numeric", "long", "9223372036854775808", "a number out of the range of a long");
    expect_refused("int4", "unsigned_long", "-1", "a number out of the range of an unsigned_long");
    expect_refused("numeric", "unsigned_long", "18446744073709551616",
                   "a number out of the range of an unsigned_long");
    expect_refused("float8", "float", "3.5e+38", "a number out of the range of a float");
    expect_refused("float8", "half_float", "65520", "a number out of the range of a half_float");
    expect_refused("numeric", "double", "1.2.3", "not a finite number");
    expect_refused("numeric", "double", "12a4", "not a finite number");
    expect_refused("numeric", "double", "123:", "not a finite number");
    expect_refused("numeric", "double", "1.", "not a finite number");
    expect_refused("numeric", "double", "007", "not a finite number");
    expect_refused("numeric", "double", "-", "not a finite number");
    expect_refused("numeric", "double", "", "not a finite number");
    expect_refused("numeric", "double", "1e", "not a finite number");
    expect_refused("float8", "long", "1e+20", "a number out of the range of a long");
    struct buf big;
    buf_init(&big, 1000);
    for (int i = 0; i < 310; i++) {
        buf_push_char(&big, '9');
    }
    expect_refused("numeric", "double", buf_text(&big), "a number out of the range of a double");
    buf_release(&big);
}
END_TEST

SUITE_MAIN("document/convert_number", numbers_stay_digit_for_digit,
           numbers_that_cannot_be_held_are_refused)
