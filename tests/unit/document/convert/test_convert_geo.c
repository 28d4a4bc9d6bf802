/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL's geometric types as GeoJSON. */
#include "encoding.h"
#include "suite.h"

START_TEST(a_point_is_longitude_and_latitude_digit_for_digit)
{
    expect("point", "geo_point", "(1.5,2)", "[1.5,2]");
    expect("point", "geo_shape", "(-1e-05,89.99999999999999)",
           "{\"type\":\"Point\",\"coordinates\":[-1e-05,89.99999999999999]}");
    expect("point", "geo_point", "(-180,-90)", "[-180,-90]");
    expect("point", "geo_shape", "(360,90)", "{\"type\":\"Point\",\"coordinates\":[360,90]}");
    expect("point", "keyword", "(1.5,2)", "\"(1.5,2)\"");
}
END_TEST

START_TEST(a_point_off_the_map_is_refused)
{
    expect_refused("point", "geo_point", "(180.00000000000003,0)",
                   "a longitude beyond 180 degrees");
    expect_refused("point", "geo_shape", "(-361,0)", "a longitude beyond 360 degrees");
    expect_refused("point", "geo_point", "(0,90.00000000000001)", "a latitude beyond 90 degrees");
    expect_refused("point", "geo_shape", "(0,-91)", "a latitude beyond 90 degrees");
    expect_refused("point", "geo_point", "(NaN,0)", "not a finite number");
    expect_refused("point", "geo_point", "(0,-Infinity)", "not a finite number");
}
END_TEST

START_TEST(lines_and_polygons_are_shapes)
{
    expect("lseg", "geo_shape", "[(0,0),(1,1.5)]",
           "{\"type\":\"LineString\",\"coordinates\":[[0,0],[1,1.5]]}");
    expect("path", "geo_shape", "[(0,0),(1,1),(2,0)]",
           "{\"type\":\"LineString\",\"coordinates\":[[0,0],[1,1],[2,0]]}");
    expect("path", "geo_shape", "((0,0),(1,1),(2,0))",
           "{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,1],[2,0],[0,0]]]}");
    expect("polygon", "geo_shape", "((0,0),(1,0),(1,1),(0,0))",
           "{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,0],[1,1],[0,0]]]}");
    expect("box", "geo_shape", "(3,4),(1,2)",
           "{\"type\":\"Polygon\",\"coordinates\":[[[1,2],[3,2],[3,4],[1,4],[1,2]]]}");
}
END_TEST

START_TEST(what_is_no_shape_is_refused)
{
    expect_refused("path", "geo_shape", "[(0,0)]", "a line of fewer than 2 points");
    expect_refused("polygon", "geo_shape", "((0,0),(1,1))", "a polygon of fewer than 3 points");
    expect_refused("polygon", "geo_shape", "((0,0),(1,1),(0,0))",
                   "a polygon of fewer than 3 points");
    expect_refused("box", "geo_shape", "(3,91),(1,2)", "a latitude beyond 90 degrees");
    expect_refused("lseg", "geo_shape", "[(0,0),(Infinity,1)]", "not a finite number");
    expect_refused("lseg", "geo_shape", "[(0,0),(1,1))", "not a place");
    expect_refused("path", "geo_shape", "[(0,0),(1,1)", "not a place");
    expect_refused("path", "geo_shape", "[(0,0),(1,1)]]", "not a place");
    expect_refused("path", "geo_shape", "", "not a place");
    expect_refused("box", "geo_shape", "(3,4)", "not a place");
    expect_refused("point", "geo_point", "(1,2),", "not a place");
    expect_refused("point", "geo_point", "(1 2)", "not a place");
    expect_refused("point", "geo_point", "(1,2,3)", "not a finite number");
}
END_TEST

SUITE_MAIN("document/convert_geo", a_point_is_longitude_and_latitude_digit_for_digit,
           a_point_off_the_map_is_refused, lines_and_polygons_are_shapes,
           what_is_no_shape_is_refused)
