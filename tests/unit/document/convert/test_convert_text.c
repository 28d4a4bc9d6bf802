/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, booleans, bytes and addresses as JSON. */
#include "encoding.h"
#include "suite.h"

START_TEST(texts_are_quoted_and_escaped)
{
    expect("text", "text", "", "\"\"");
    expect("text", "text", "a \"b\" \\ /", "\"a \\\"b\\\" \\\\ /\"");
    expect("text", "text", "1\n2\r\t\b\f\x01\x1f", "\"1\\n2\\r\\t\\b\\f\\u0001\\u001f\"");
    expect("varchar", "keyword", "\xf0\x9f\x90\x98\xe2\x80\xa8",
           "\"\xf0\x9f\x90\x98\xe2\x80\xa8\"");
    expect("bpchar", "keyword", "ab   ", "\"ab\"");
    expect("bpchar", "text", "   ", "\"\"");
    expect("enum:mood", "keyword", "happy", "\"happy\"");
    expect("xml", "text", "<a b=\"c\"/>", "\"<a b=\\\"c\\\"/>\"");
    expect("tsvector", "text", "'a':1", "\"'a':1\"");
    expect("text", "long", "abc", "\"abc\"");
    expect("text", "date", "2024-01-01", "\"2024-01-01\"");
}
END_TEST

START_TEST(booleans_bytes_and_addresses)
{
    expect("bool", "boolean", "t", "true");
    expect("bool", "boolean", "f", "false");
    expect("bool", "keyword", "f", "\"false\"");
    expect("bytea", "binary", "\\x", "\"\"");
    expect("bytea", "binary", "\\x00", "\"AA==\"");
    expect("bytea", "binary", "\\x00ff", "\"AP8=\"");
    expect("bytea", "binary", "\\xdeadbe", "\"3q2+\"");
    expect("bytea", "binary", "\\xdeadbeef", "\"3q2+7w==\"");
    expect("inet", "ip", "10.0.0.1/24", "\"10.0.0.1\"");
    expect("inet", "ip", "::1", "\"::1\"");
    expect("inet", "ip_range", "10.0.0.1", "\"10.0.0.1/32\"");
    expect("cidr", "ip_range", "2001:db8::/32", "\"2001:db8::/32\"");
    expect("inet", "ip_range", "::1", "\"::1/128\"");
    expect_refused("bytea", "binary", "\\xabc", "not a bytea in hex");
    expect_refused("bytea", "binary", "\\xzz", "not a bytea in hex");
    expect_refused("bool", "boolean", "yes", "not a boolean");
}
END_TEST

START_TEST(a_keyword_is_at_most_32766_bytes_unless_it_is_left_out_of_the_index)
{
    struct buf text;
    struct buf quoted;
    buf_init(&text, 40000);
    buf_init(&quoted, 40000);
    while (text.len < 32766) {
        buf_push_literal(&text, "x");
    }
    buf_printf(&quoted, "\"%s\"", buf_text(&text));
    expect("text", "keyword", buf_text(&text), buf_text(&quoted));
    buf_push_literal(&text, "y");
    static const char reason[] = "a keyword of more than 32766 bytes";
    expect_refused("text", "keyword", buf_text(&text), reason);
    expect_refused_as("text", "{\"type\":\"keyword\",\"ignore_above\":32767}", buf_text(&text),
                      reason);
    buf_reset(&quoted);
    buf_printf(&quoted, "\"%s\"", buf_text(&text));
    expect("text", "wildcard", buf_text(&text), buf_text(&quoted));
    expect_as("text", "{\"type\":\"keyword\",\"ignore_above\":8191}", buf_text(&text),
              buf_text(&quoted));
    buf_release(&text);
    buf_release(&quoted);
}
END_TEST

SUITE_MAIN("document/convert_text", texts_are_quoted_and_escaped, booleans_bytes_and_addresses,
           a_keyword_is_at_most_32766_bytes_unless_it_is_left_out_of_the_index)
