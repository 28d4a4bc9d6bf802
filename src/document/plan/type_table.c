/* SPDX-License-Identifier: Apache-2.0 */
/* The type table: data only. */
#include "plan/type_table.h"

#include "convert/converters.h"

#define TEXT_COLUMNS "text varchar name citext"
#define WHOLE_COLUMNS "int2 int4 int8 oid"
#define FRACTION_COLUMNS "numeric float4 float8"
#define NUMBER_COLUMNS WHOLE_COLUMNS " " FRACTION_COLUMNS
#define STRUCTURED_COLUMNS "composite hstore range multirange"
#define PLACE_COLUMNS "point lseg path polygon box geometry geography"
#define VECTOR_COLUMNS "vector halfvec float4[] float8[] numeric[] int2[] int4[] int8[] json jsonb"

#define WORDS "text match_only_text search_as_you_type wildcard semantic_text semantic version"
#define TEXTS WORDS " completion"
#define WHOLE_NUMBERS "byte short integer long unsigned_long"
#define FRACTION_NUMBERS "half_float float double scaled_float"
#define NUMBERS WHOLE_NUMBERS " " FRACTION_NUMBERS
#define DATES "date date_nanos"
#define PLACES "geo_point geo_shape"
#define RANGES "integer_range long_range float_range double_range date_range ip_range"
#define OBJECTS "object nested flattened flat_object"
#define VECTORS "dense_vector knn_vector"
#define JSON_PROPERTIES                                                                            \
    "keyword " TEXTS " " NUMBERS " boolean ip binary rank_feature rank_features " DATES " " PLACES \
    " " RANGES

#define LOSS_READ "a text that the service cannot read as this type makes the row a dead letter"
#define LOSS_JSON "JSON that the service cannot read as this type makes the row a dead letter"
#define LOSS_WHOLE "search sees the number without its fraction"
#define LOSS_UTC "taken as UTC without a \"zone\" in \"fields\""
#define LOSS_PARTS "what its parts lose" /* replaced by notes for each part */
#define LOSS_WHOLE_TEXT "its parts are not searchable one by one"

const struct type_rule type_rules[] = {
    {TEXT_COLUMNS, "keyword", convert_keyword, "the text, at most 32,766 bytes", NULL},
    {TEXT_COLUMNS, WORDS, convert_string, "the text", NULL},
    {TEXT_COLUMNS, "completion", convert_completion, "the text, without U+001E and U+001F", NULL},
    {TEXT_COLUMNS, NUMBERS " boolean ip " DATES " " PLACES " " RANGES, convert_string, "the text",
     LOSS_READ},
    {"bpchar", "keyword", convert_padded_keyword, "the text, at most 32,766 bytes",
     "its padding blanks are left out"},
    {"bpchar", WORDS, convert_padded, "the text", "its padding blanks are left out"},
    {"bpchar", "completion", convert_padded_completion, "the text, without U+001E and U+001F",
     "its padding blanks are left out"},
    {"bpchar", NUMBERS " boolean ip " DATES, convert_padded, "the text", LOSS_READ},
    {"uuid enum xml char", "keyword", convert_keyword, "the text, at most 32,766 bytes", NULL},
    {"uuid enum xml char", TEXTS, convert_string, "the text", NULL},

    {WHOLE_COLUMNS, "byte", convert_byte, "the number", NULL},
    {WHOLE_COLUMNS, "short", convert_short, "the number", NULL},
    {WHOLE_COLUMNS, "integer", convert_integer, "the number", NULL},
    {WHOLE_COLUMNS, "long", convert_long, "the number", NULL},
    {WHOLE_COLUMNS, "unsigned_long", convert_unsigned_long, "the number", NULL},
    {FRACTION_COLUMNS, "byte", convert_byte, "the number, digit for digit", LOSS_WHOLE},
    {FRACTION_COLUMNS, "short", convert_short, "the number, digit for digit", LOSS_WHOLE},
    {FRACTION_COLUMNS, "integer", convert_integer, "the number, digit for digit", LOSS_WHOLE},
    {FRACTION_COLUMNS, "long", convert_long, "the number, digit for digit", LOSS_WHOLE},
    {FRACTION_COLUMNS, "unsigned_long", convert_unsigned_long, "the number, digit for digit",
     LOSS_WHOLE},
    {"int2 int4 oid float4 float8", "double", convert_double, "the number, digit for digit", NULL},
    {"int8 numeric", "double", convert_double, "the number, digit for digit", TYPE_LOSS_15_DIGITS},
    {"int2 float4", "float", convert_float, "the number, digit for digit", NULL},
    {"int4 int8 oid numeric float8", "float", convert_float, "the number, digit for digit",
     "search rounds to 6 digits"},
    {NUMBER_COLUMNS, "half_float", convert_half_float, "the number, digit for digit",
     "search rounds to 3 digits"},
    {NUMBER_COLUMNS, "scaled_float", convert_double, "the number, digit for digit",
     "search rounds to the scaling factor"},
    {NUMBER_COLUMNS, "rank_feature", convert_float, "the number, digit for digit",
     "search rounds to 3 digits and refuses what is not positive"},
    {NUMBER_COLUMNS, "keyword", convert_keyword, "the digits as a text", NULL},
    {NUMBER_COLUMNS, TEXTS, convert_string, "the digits as a text", NULL},
    {"int4 int8", "date", convert_long, "the number",
     "read as milliseconds since 1970 unless the property's format says otherwise"},

    {"bool", "boolean", convert_bool, "true or false", NULL},
    {"bool", "keyword " TEXTS, convert_bool_string, "\"true\" or \"false\"", NULL},

    {"date", "date", convert_date, "YYYY-MM-DD, years 1 to 9999", NULL},
    {"date", "date_nanos", convert_date_nanos, "YYYY-MM-DD, 1970 to 2262-04-11", NULL},
    {"timestamptz", "date", convert_timestamptz, "ISO 8601 in UTC with six digits and Z",
     TYPE_LOSS_MILLIS},
    {"timestamptz", "date_nanos", convert_timestamptz_nanos,
     "ISO 8601 in UTC with six digits and Z, 1970 to 2262-04-11", NULL},
    {"timestamp", "date", convert_timestamp, "ISO 8601 with six digits and no zone",
     LOSS_UTC "; " TYPE_LOSS_MILLIS},
    {"timestamp", "date_nanos", convert_timestamp_nanos,
     "ISO 8601 with six digits and no zone, 1970 to 2262-04-11", LOSS_UTC},
    {"date timestamp timestamptz time timetz interval", "keyword " TEXTS, convert_string,
     "the text as PostgreSQL writes it, in UTC", NULL},

    {VECTOR_COLUMNS, VECTORS, convert_vector, "an array of numbers, as many as the dimension",
     "search rounds to the vector's element type"},
    {"sparsevec", VECTORS, convert_sparse_vector, "an array of numbers, its zeros included",
     "search rounds to the vector's element type"},
    {"sparsevec", "rank_features sparse_vector", convert_features,
     "an object: the index from 1 on, the weight", "search rounds to 3 digits"},

    {"point", "geo_point", convert_point, "an array: x as the longitude, y as the latitude", NULL},
    {"point", "geo_shape", convert_point, "a GeoJSON Point: x is the longitude, y the latitude",
     NULL},
    {"lseg path", "geo_shape", convert_path, "a GeoJSON LineString, of a closed path a Polygon",
     NULL},
    {"polygon", "geo_shape", convert_path, "a GeoJSON Polygon", NULL},
    {"box", "geo_shape", convert_box, "a GeoJSON Polygon", NULL},
    {"geometry geography", "geo_point", convert_geometry, "an array: longitude, latitude",
     "M is left out; search sees no Z"},
    {"geometry geography", "geo_shape", convert_geometry, "GeoJSON",
     "M is left out; search sees no Z"},

    {"json", OBJECTS, convert_json, "the JSON on one line, of a repeated name the last value",
     NULL},
    {"jsonb", OBJECTS, convert_jsonb, "the JSON on one line", NULL},
    {"json", JSON_PROPERTIES, convert_json,
     "the JSON on one line, of a repeated name the last value", LOSS_JSON},
    {"jsonb", JSON_PROPERTIES, convert_jsonb, "the JSON on one line", LOSS_JSON},

    {"bytea", "binary", convert_bytes, "base64", NULL},
    {"inet cidr", "ip", convert_ip, "the address", "its mask is left out"},
    {"inet cidr", "ip_range", convert_ip_range, "address/bits", NULL},
    {"inet cidr", "keyword " TEXTS, convert_string, "the text as PostgreSQL writes it", NULL},

    {"composite", OBJECTS, convert_composite, "an object of the fields that are not NULL",
     LOSS_PARTS},
    {"hstore", OBJECTS, convert_hstore, "an object of texts, NULL as null", NULL},
    {"range", RANGES, convert_range, "an object of its bounds: gt, gte, lt, lte", LOSS_PARTS},
    {"multirange", RANGES, convert_multirange, "an array of such objects", LOSS_PARTS},

    {STRUCTURED_COLUMNS " " PLACE_COLUMNS " " TYPE_OTHER, "keyword", convert_keyword,
     "the text as PostgreSQL writes it, at most 32,766 bytes", LOSS_WHOLE_TEXT},
    {STRUCTURED_COLUMNS " " PLACE_COLUMNS " " TYPE_OTHER, TEXTS, convert_string,
     "the text as PostgreSQL writes it", LOSS_WHOLE_TEXT},
    {NULL, NULL, NULL, NULL, NULL},
};
