/* SPDX-License-Identifier: Apache-2.0 */
/* EWKB as GeoJSON: byte orders, dimensions, SRIDs, empty geometries, and invalid bytes. */
#include "convert/converters.h"

#include "encoding.h"
#include "suite.h"

#define POINT "0101000000000000000000F83F0000000000000040"
#define POINT_BIG "00000000013FF80000000000004000000000000000"
#define POINT_4326 "0101000020E6100000000000000000F83F0000000000000040"
#define POINT_3857 "0101000020110F0000000000000000F83F0000000000000040"
#define POINT_Z "0101000080000000000000F83F00000000000000400000000000000840"
#define POINT_M "0101000040000000000000F83F00000000000000400000000000002240"
#define POINT_ZM "01010000C0000000000000F83F000000000000004000000000000008400000000000002240"
#define ISO_Z "01E9030000000000000000F83F00000000000000400000000000000840"
#define ISO_M "01D1070000000000000000F83F00000000000000400000000000002240"
#define ISO_ZM "01B90B0000000000000000F83F000000000000004000000000000008400000000000002240"
#define POINT_EMPTY "0101000000000000000000F87F000000000000F87F"
#define POINT_HALF_NAN "0101000000000000000000F03F000000000000F87F"
#define POINT_TENTH "01010000009A9999999999B93F555555555555D53F"
#define POINT_SUM "0101000000343333333333D33F0000000000000080"
#define POINT_181 "01010000000000000000A06640000000000000F03F"
#define POINT_361 "01010000000000000000907640000000000000F03F"
#define POINT_91 "0101000000000000000000F03F0000000000C05640"
#define LINE                                                                                       \
    "01020000000200000000000000000000000000000000000000000000000000F03F000000000000F8"             \
    "3F"
#define LINE_EMPTY "010200000000000000"
#define LINE_ONE "01020000000100000000000000000000000000000000000000"
#define POLYGON                                                                                    \
    "0103000000010000000400000000000000000000000000000000000000000000000000F03F000000"             \
    "0000000000000000000000F03F000000000000F03F00000000000000000000000000000000"
#define POLYGON_HOLE                                                                               \
    "0103000000020000000400000000000000000000000000000000000000000000000000F03F000000"             \
    "0000000000000000000000F03F000000000000F03F00000000000000000000000000000000040000"             \
    "00000000000000E03F000000000000D03F000000000000E83F000000000000D03F000000000000E8"             \
    "3F000000000000E03F000000000000E03F000000000000D03F"
#define POLYGON_EMPTY "010300000000000000"
#define POLYGON_THIN                                                                               \
    "0103000000010000000300000000000000000000000000000000000000000000000000F03F000000"             \
    "000000000000000000000000000000000000000000"
#define POINTS                                                                                     \
    "0104000000020000000101000000000000000000F83F000000000000004000000000014008000000"             \
    "0000004010000000000000"
#define POINTS_HALF                                                                                \
    "0104000000020000000101000000000000000000F87F000000000000F87F01010000000000000000"             \
    "00F83F0000000000000040"
#define POINTS_EMPTY "0104000000010000000101000000000000000000F87F000000000000F87F"
#define LINES                                                                                      \
    "01050000000100000001020000000200000000000000000000000000000000000000000000000000"             \
    "F03F000000000000F83F"
#define POLYGONS                                                                                   \
    "01060000000100000001030000000100000004000000000000000000000000000000000000000000"             \
    "00000000F03F0000000000000000000000000000F03F000000000000F03F00000000000000000000"             \
    "000000000000"
#define POINTS_OF_LINES "010400000001000000010200000000000000"
#define COLLECTION                                                                                 \
    "0107000000030000000101000000000000000000F83F000000000000004001020000000000000001"             \
    "020000000200000000000000000000000000000000000000000000000000F03F000000000000F83F"
#define COLLECTION_EMPTY "010700000000000000"
#define COLLECTION_OF_EMPTY "010700000001000000010700000001000000010200000000000000"
#define CURVE "010800000000000000"
#define TIN "011000000000000000"
#define MANY "0102000000FFFFFFFF00000000000000000000000000000000"
#define COLLECTION_BEGIN "010700000001000000"

#define AT(coordinates) "{\"type\":\"Point\",\"coordinates\":" coordinates "}"
#define RING "[[0,0],[1,0],[1,1],[0,0]]"

START_TEST(either_byte_order_is_read)
{
    expect("geometry", "geo_point", POINT, "[1.5,2]");
    expect("geometry", "geo_shape", POINT_BIG, AT("[1.5,2]"));
    expect("geography", "geo_point", POINT_4326, "[1.5,2]");
    expect("geometry", "keyword", POINT, "\"" POINT "\"");
}
END_TEST

START_TEST(z_is_kept_and_m_dropped)
{
    expect("geometry", "geo_point", POINT_Z, "[1.5,2,3]");
    expect("geometry", "geo_point", POINT_M, "[1.5,2]");
    expect("geometry", "geo_point", POINT_ZM, "[1.5,2,3]");
    expect("geometry", "geo_point", ISO_Z, "[1.5,2,3]");
    expect("geometry", "geo_point", ISO_M, "[1.5,2]");
    expect("geometry", "geo_point", ISO_ZM, "[1.5,2,3]");
}
END_TEST

START_TEST(coordinates_have_the_fewest_digits_that_read_back)
{
    expect("geometry", "geo_point", POINT_TENTH, "[0.1,0.3333333333333333]");
    expect("geometry", "geo_point", POINT_SUM, "[0.30000000000000004,-0]");
}
END_TEST

START_TEST(every_kind_of_geometry_is_a_shape)
{
    expect("geometry", "geo_shape", LINE,
           "{\"type\":\"LineString\",\"coordinates\":[[0,0],[1,1.5]]}");
    expect("geometry", "geo_shape", POLYGON, "{\"type\":\"Polygon\",\"coordinates\":[" RING "]}");
    expect("geometry", "geo_shape", POLYGON_HOLE,
           "{\"type\":\"Polygon\",\"coordinates\":[" RING
           ",[[0.5,0.25],[0.75,0.25],[0.75,0.5],[0.5,0.25]]]}");
    expect("geometry", "geo_shape", POINTS,
           "{\"type\":\"MultiPoint\",\"coordinates\":[[1.5,2],[3,4]]}");
    expect("geometry", "geo_shape", LINES,
           "{\"type\":\"MultiLineString\",\"coordinates\":[[[0,0],[1,1.5]]]}");
    expect("geometry", "geo_shape", POLYGONS,
           "{\"type\":\"MultiPolygon\",\"coordinates\":[[" RING "]]}");
    expect("geometry", "geo_shape", COLLECTION,
           "{\"type\":\"GeometryCollection\",\"geometries\":[" AT(
               "[1.5,2]") ",{\"type\":\"LineString\",\"coordinates\":[[0,0],[1,1.5]]}]}");
}
END_TEST

START_TEST(what_is_empty_is_left_out)
{
    expect("geometry", "geo_point", POINT_EMPTY, NULL);
    expect("geometry", "geo_shape", LINE_EMPTY, NULL);
    expect("geometry", "geo_shape", POLYGON_EMPTY, NULL);
    expect("geometry", "geo_shape", POINTS_EMPTY, NULL);
    expect("geometry", "geo_shape", POINTS_HALF,
           "{\"type\":\"MultiPoint\",\"coordinates\":[[1.5,2]]}");
    expect("geometry", "geo_shape", COLLECTION_EMPTY, NULL);
    expect("geometry", "geo_shape", COLLECTION_OF_EMPTY, NULL);
}
END_TEST

START_TEST(what_the_field_cannot_hold_is_refused)
{
    expect_refused("geometry", "geo_point", POINT_3857,
                   "a geometry whose SRID is not 4326: use ST_Transform(..., 4326) in a query");
    expect_refused("geometry", "geo_point", LINE, "a geometry other than a point");
    expect_refused("geometry", "geo_point", POINT_181, "a longitude beyond 180 degrees");
    expect("geometry", "geo_shape", POINT_181, AT("[181,1]"));
    expect_refused("geometry", "geo_shape", POINT_361, "a longitude beyond 360 degrees");
    expect_refused("geometry", "geo_shape", POINT_91, "a latitude beyond 90 degrees");
    expect_refused("geometry", "geo_shape", POINT_HALF_NAN, "a coordinate that is not finite");
    expect_refused("geometry", "geo_shape", LINE_ONE, "a line of fewer than 2 points");
    expect_refused("geometry", "geo_shape", POLYGON_THIN, "a polygon of fewer than 3 points");
    expect_refused("geometry", "geo_shape", CURVE,
                   "a curve or a surface, which GeoJSON does not have: convert it in a query");
    expect_refused("geometry", "geo_shape", TIN,
                   "a curve or a surface, which GeoJSON does not have: convert it in a query");
}
END_TEST

START_TEST(collections_nest_sixteen_deep)
{
    struct buf text;
    buf_init(&text, 4096);
    for (int i = 0; i < 15; i++) {
        buf_push_literal(&text, COLLECTION_BEGIN);
    }
    buf_push_literal(&text, POINT);
    char *inside = buf_detach(&text);
    buf_printf(&text, COLLECTION_BEGIN "%s", inside);
    expect_refused("geometry", "geo_shape", buf_text(&text),
                   "a geometry collection that is nested more than 16 deep");
    struct bench t;
    struct refusal refusal;
    open_one(&t, "geometry", "{\"type\":\"geo_shape\"}");
    ck_assert(encode(&t, "1", inside, &refusal));
    bench_close(&t);
    free(inside);
    buf_release(&text);
}
END_TEST

/* Tries every prefix of a geometry, and an extra byte. */
START_TEST(a_geometry_that_is_cut_off_is_none)
{
    const char *whole = COLLECTION;
    for (size_t len = 0; len < strlen(whole); len++) {
        char *cut = text_copy_span(span_make(whole, len));
        expect_refused("geometry", "geo_shape", cut, "not a geometry");
        free(cut);
    }
    expect_refused("geometry", "geo_shape", COLLECTION "00", "not a geometry");
    expect_refused("geometry", "geo_shape", "0X" POINT, "not a geometry");
    expect_refused("geometry", "geo_shape", "02" POINT, "not a geometry");
    expect_refused("geometry", "geo_shape", POINTS_OF_LINES, "not a geometry");
    expect_refused("geometry", "geo_shape", MANY, "not a geometry");
}
END_TEST

/* A buffer that becomes full is not the row's fault. */
START_TEST(a_geometry_that_is_too_long_has_no_room)
{
    char type[] = "geo_shape";
    struct property property = {.type = type};
    struct type_pair pair = {.property = &property};
    for (size_t room = 1; room < 90; room++) {
        struct buf out;
        buf_init(&out, room);
        ck_assert_ptr_null(convert_geometry(&out, COLLECTION, strlen(COLLECTION), &pair));
        ck_assert(out.failed);
        buf_release(&out);
    }
}
END_TEST

SUITE_MAIN("document/convert_geometry", either_byte_order_is_read, z_is_kept_and_m_dropped,
           coordinates_have_the_fewest_digits_that_read_back, every_kind_of_geometry_is_a_shape,
           what_is_empty_is_left_out, what_the_field_cannot_hold_is_refused,
           collections_nest_sixteen_deep, a_geometry_that_is_cut_off_is_none,
           a_geometry_that_is_too_long_has_no_room)
