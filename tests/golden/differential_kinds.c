/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of random tables, and their values: data only. */
#include "differential.h"

#define SAME "as to_jsonb"
#define DIGITS "number as its digits"
#define TZ "timestamptz with six digits and Z"
#define TS "timestamp with six digits"

#define TEXTS                                                                                      \
    "''", "'plain'", "'a \"q\" \\ /'", "E'\\x01\\x1f\\x7f\\t\\r\\n'", "U&'\\2028\\2029\\FEFF'",    \
        "chr((%u %% 55000 + 1)::int)", "chr((%u %% 1000000 + 65536)::int)", "md5('%u')",           \
        "repeat('é', (%u %% 40)::int)", "'{\"index\":{}}'", "'NULL'", "' , {}() '"
#define LONG_TEXT "repeat('x', 32760 + (%u %% 14)::int)"
#define WHOLE                                                                                      \
    "0", "-1", "127", "-128", "128", "(%u %% 200)::int - 100", "(%u %% 65536)::int - 32768",       \
        "(%u %% 30000)::int"
#define FRACTIONS                                                                                  \
    "0", "1.10", "-0.5", "'NaN'", "100", "%u / 7.0", "-(%u %% 1000) / 16.0", "'Infinity'",         \
        "65504", "12345.678"
#define SMALL_FRACTIONS "0", "1.10", "-0.5", "'NaN'", "%u / 700.0", "-(%u %% 1000) / 16.0"
#define DATES                                                                                      \
    "'2024-03-10'", "'1970-01-01'", "'1969-12-31'", "'9999-12-31'", "'0001-01-01'",                \
        "'0044-03-15 BC'", "'12024-01-01'", "'infinity'", "date '2000-01-01' + (%u %% 50000)::int"
#define TIMES                                                                                      \
    "'2024-03-10 07:04:56.123456'", "'1969-12-31 23:59:59.5'", "'2262-04-11 23:47:16.854776'",     \
        "'-infinity'", "'0044-03-15 12:00 BC'", "'9999-12-31 23:59:59.999999'",                    \
        "timestamp '1980-01-01' + %u * interval '0.731 s'",                                        \
        "timestamp '1999-12-31' + %u * interval '1 s'"
#define JSONS                                                                                      \
    "'{\"b\": 1, \"a\": [true, null, \"x\\n\"]}'", "'null'", "'[]'", "'{}'", "'\"text\"'",         \
        "'{\"n\": 12345678901234567890.10}'", "'[1, [2, [3]], \"é\"]'",                            \
        "json_build_object('k', %u, 't', E'\\x01\"')::text::json"

const struct kind kinds[] = {
    {"text", "text", SAME, "", {TEXTS}},
    {"text", "keyword", SAME, "keyword", {TEXTS, LONG_TEXT}},
    {"varchar(40)", "wildcard", SAME, "", {"'v'", "md5('%u')"}},
    {"name", "keyword", SAME, "", {"'a name'", "md5('%u')"}},
    {"pg_temp.note", "text", SAME, "", {TEXTS}},
    {"char(20)", "keyword", "char without its padding", "padded keyword", {"'ab'", "''", "' a '"}},
    {"uuid", "keyword", SAME, "", {"md5('%u')::uuid"}},
    {"pg_temp.mood", "keyword", SAME, "", {"'sad'", "'so so'", "'hap\"py'"}},
    {"int2", "byte", SAME, "byte", {WHOLE}},
    {"int2", "short", SAME, "short", {WHOLE}},
    {"int4", "short", SAME, "short", {WHOLE, "2147483647"}},
    {"int4", "integer", SAME, "integer", {WHOLE, "-2147483648"}},
    {"int8", "integer", SAME, "integer", {WHOLE, "%u * 3::int8", "9223372036854775807"}},
    {"int8", "long", SAME, "long", {WHOLE, "-9223372036854775808", "%u * 2147483647::int8"}},
    {"int8", "unsigned_long", SAME, "unsigned_long", {WHOLE, "9223372036854775807"}},
    {"int8", "half_float", SAME, "half_float", {WHOLE, "65519", "65520", "-65520"}},
    {"int8", "keyword", DIGITS, "", {WHOLE, "%u * 2147483647::int8"}},
    {"oid", "long", "oid as a number", "long", {"0", "4294967295", "%u"}},
    {"numeric",
     "double",
     SAME,
     "double",
     {FRACTIONS, "1e308", "1e309", "-1e-40", "%u::numeric ^ 4"}},
    {"numeric", "keyword", DIGITS, "", {FRACTIONS, "1e-20", "%u::numeric ^ 5 / 3"}},
    {"numeric", "byte", SAME, "byte", {FRACTIONS, "127", "127.5", "128"}},
    {"numeric",
     "unsigned_long",
     SAME,
     "unsigned_long",
     {FRACTIONS, "18446744073709551615", "18446744073709551616"}},
    {"numeric", "long", SAME, "long", {FRACTIONS, "9223372036854775807", "9223372036854775808"}},
    {"numeric(12,4)", "scaled_float", SAME, "double", {SMALL_FRACTIONS}},
    {"pg_temp.amount", "float", SAME, "float", {SMALL_FRACTIONS}},
    {"pg_temp.big_amount", "double", SAME, "double", {"1.5", "%u / 3.0"}},
    {"float8", "double", SAME, "double", {FRACTIONS, "1e300", "5e-324", "'-0'", "0.1 + 0.2"}},
    {"float8", "float", SAME, "float", {FRACTIONS, "1e39", "3.4e38", "-1e300"}},
    {"float4", "float", SAME, "float", {FRACTIONS, "3.4028235e38", "1e-45"}},
    {"float4", "half_float", SAME, "half_float", {FRACTIONS, "65519", "65521", "-70000"}},
    {"bool", "boolean", SAME, "", {"true", "false"}},
    {"bool", "keyword", "boolean as a word", "", {"true", "false"}},
    {"date", "date", SAME, "date", {DATES}},
    {"date", "date_nanos", SAME, "date_nanos", {DATES, "'2262-04-11'", "'2262-04-12'"}},
    {"timestamptz", "date", TZ, "date", {TIMES}},
    {"timestamptz", "date_nanos", TZ, "date_nanos", {TIMES}},
    {"timestamptz", "keyword", "timestamptz as PostgreSQL writes it", "", {TIMES}},
    {"timestamp", "date", TS, "date", {TIMES}},
    {"timestamp", "date_nanos", TS, "date_nanos", {TIMES}},
    {"timestamp(0)", "text", "timestamp as PostgreSQL writes it", "", {TIMES}},
    {"time", "keyword", SAME, "", {"'24:00'", "'07:04:56.5'"}},
    {"timetz", "keyword", SAME, "", {"'07:04:56.5+02'"}},
    {"interval", "keyword", SAME, "", {"'1 year -3 days 04:05:06.789'", "%u * interval '1 s'"}},
    {"jsonb", "object", SAME, "", {JSONS}},
    {"json", "flattened", SAME, "", {JSONS, "'{\"a\": 1,\n \"b\" : 1.50}'"}},
    {"jsonb",
     "keyword",
     SAME,
     "",
     {"'null'", "'[]'", "'\"text %u\"'", "'[\"a\", [null, \"é\"]]'", "'1.50'", "'true'"}},
    {"bytea",
     "binary",
     "bytea as base64",
     "",
     {"''", "'\\x00'", "'\\xdeadbeef'", "decode(md5('%u'), 'hex')", "sha512('%u')"}},
    {"inet",
     "ip",
     "address without its mask",
     "",
     {"'10.0.0.1/24'", "'2001:db8::1'", "'0.0.0.0'::inet + %u"}},
    {"cidr", "ip_range", "address with its bits", "", {"'10.0.0.0/8'", "'::/0'", "'10.0.0.1'"}},
    {"inet", "ip_range", "address with its bits", "", {"'10.0.0.1/24'", "'::1'"}},
    {"macaddr", "keyword", SAME, "", {"'08:00:2b:01:02:03'"}},
    {"tsvector", "text", SAME, "", {"'fat ''cat'''", "to_tsvector('simple', md5('%u'))"}},
    {"pg_temp.pair",
     "flattened",
     "composite without its NULL fields",
     "",
     {"row(%u, 'a \"b\", (c) \\d')", "row(null, E'x\\n, {}')", "row(1, null)", "row(null, null)",
      "row(-1, '')"}},
    {"int4range",
     "integer_range",
     "range as an object of its bounds",
     "",
     {"'[1,5)'", "'(,)'", "'[,7]'", "int4range(0, %u)"}},
    {"int8range",
     "long_range",
     "range as an object of its bounds",
     "",
     {"'[-9223372036854775807,)'", "int8range(-%u, 5)"}},
    {"numrange",
     "double_range",
     "range as an object of its bounds",
     "",
     {"'(1.10,2.50]'", "'[,0.5)'", "numrange(0, %u / 7.0 + 1, '()')"}},
    {"point", "keyword", SAME, "", {"'(1.5,-2)'"}},
    {"point", "geo_shape", "place as GeoJSON", "", {"'(1.5,-2)'", "point(%u / 1e8, 0.1)"}},
};

const size_t kind_count = sizeof(kinds) / sizeof(kinds[0]);
