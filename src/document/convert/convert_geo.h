/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts PostgreSQL's geometric types to GeoJSON: x is the longitude, y the latitude, and the
 * digits are PostgreSQL's. The limit for latitudes is 90 degrees. For longitudes it is 180 in a
 * geo_point and 360 in a geo_shape, whose coordinates the services normalize.
 */
#pragma once

#include "rowferry/document/convert/type.h"

/* Converts "(1.5,2)" to a Point. */
type_refusal convert_point(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);
/* Converts lseg, path and polygon: "[(0,0),(1,1)]" to a LineString, "((0,0),(1,0),(1,1))" to a
 * Polygon. */
type_refusal convert_path(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair);
/* Converts "(1,1),(0,0)" to a Polygon. */
type_refusal convert_box(struct buf *out, const char *text, size_t len,
                         const struct type_pair *pair);
