/* SPDX-License-Identifier: Apache-2.0 */
/* The converters of each family of PostgreSQL types (type_converter has their signature). */
#pragma once

#include "rowferry/base/text.h"
#include "rowferry/document/convert/type.h"

/*
 * convert_text.c. A keyword refuses texts over 32,766 bytes unless ignore_above excludes them from
 * the index; a completion refuses the two characters that its automaton reserves. A padded one
 * leaves out the blanks that pad a character(n).
 */
type_converter convert_string, convert_padded;
type_converter convert_keyword, convert_padded_keyword;
type_converter convert_completion, convert_padded_completion;
type_converter convert_bool, convert_bool_string; /* t to true or "true" */
type_converter convert_bytes;                     /* \x00ff to base64 */
type_converter convert_ip, convert_ip_range;      /* inet and cidr: without, or with their mask */

/* convert_number.c: digit for digit; refuses numbers that the mapping type cannot hold. */
type_converter convert_byte, convert_short, convert_integer, convert_long, convert_unsigned_long;
type_converter convert_half_float, convert_float, convert_double;

enum coordinate {
    LATITUDE,
    LONGITUDE,
    SHAPE_LONGITUDE, /* of a geo_shape, where it may exceed a full turn */
};

/* Returns why a number is not such a coordinate, or null. */
type_refusal convert_coordinate_refusal(struct span number, enum coordinate coordinate);

/*
 * convert_time.c: ISO 8601, always with six digits of a second, years 1 to 9999. A timestamptz is
 * in UTC (the session's time zone) and gets a Z; the service assumes UTC for a timestamp.
 * date_nanos holds only 1970-01-01 to 2262-04-11; the service refuses a document with any other
 * date.
 */
type_converter convert_date, convert_date_nanos;
type_converter convert_timestamp, convert_timestamp_nanos;
type_converter convert_timestamptz, convert_timestamptz_nanos;

/*
 * convert_json.c: on one line, with numbers and escapes unchanged. If an object of a json repeats a
 * name, the last member is kept, because the service refuses such a document; a jsonb never does.
 */
type_converter convert_json, convert_jsonb;

/* convert_array.c: any number of dimensions, without lower bounds; NULL elements become null. */
type_converter convert_array;

/* convert_composite.c: (1,"x y",) to {"a":1,"b":"x y"}. The inner pairs are the fields; NULL fields
 * are left out. */
type_converter convert_composite;

/* convert_hstore.c: "a"=>"1", "b"=>NULL to {"a":"1","b":null}. A key with a child property is
 * converted by the inner pair of that child. Any other key is copied, or refused if the property is
 * strict. */
type_converter convert_hstore;

/*
 * convert_range.c: [1,5) to {"gte":1,"lt":5}, each bound by the pair's inner pair. A bound that is
 * open or infinite is left out; an empty range is type_absent. A multirange becomes an array; the
 * inner pair is the range's.
 */
type_converter convert_range, convert_multirange;

/*
 * convert_geo.c: PostgreSQL's geometric types to GeoJSON, digit for digit: x is the longitude, y
 * the latitude. The limit for latitudes is 90 degrees. For longitudes it is 180 in a geo_point and
 * 360 in a geo_shape, whose coordinates the services normalize.
 */
type_converter convert_point; /* "(1.5,2)" to a Point */
type_converter convert_path;  /* lseg, path and polygon: "[(0,0),(1,1)]" to a LineString,
                                 "((0,0),(1,0),(1,1))" to a Polygon */
type_converter convert_box;   /* "(1,1),(0,0)" to a Polygon */

/*
 * convert_geometry.c: PostGIS's geometry and geography, whose text is EWKB in hexadecimal digits,
 * to GeoJSON; a geo_point accepts only a Point, which is written as [x,y].
 *
 * Accepts either byte order, EWKB's flags and ISO's codes. Z is kept, M is dropped. SRID 0 and 4326
 * are longitude and latitude; any other is refused. Empty parts are left out, and a value that is
 * entirely empty is type_absent. Coordinates are written with the fewest digits that read back as
 * the same double.
 */
type_converter convert_geometry;

/*
 * convert_vector.c, with the service's own checks. The number of components must match the
 * mapping's dims or dimension (an eighth of it for bits). The numbers must fit a float, or be
 * integers from -128 to 127 for elements of bytes or bits. The length must be usable by the
 * similarity.
 */
type_converter convert_vector;        /* "{1,2}", "[0:1]={1,2}" or "[1, 2]" to [1,2] */
type_converter convert_sparse_vector; /* pgvector's "{1:1.5,3:2}/5" to [1.5,0,2,0,0] */
type_converter convert_features;      /* the same to {"1":1.5,"3":2}: weights above zero */

/*
 * convert_natural.c: parts of a value for which no property defines a type, such as a composite's
 * field in a flattened or open object. Numbers, booleans, JSON and dates keep their type;
 * everything else becomes a text.
 */
extern const struct property natural_property; /* without any restrictions */
/* Returns the converter of a type that is not an array, composite or hstore. */
type_converter *convert_natural_converter(const struct column *column);

/* Returns true if the vector's elements are bits, eight of them in a number. */
bool convert_vector_packs_bits(const struct property *p);
