/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts PostGIS's geometry and geography, whose text is EWKB in hexadecimal digits, to GeoJSON.
 *
 * Accepts either byte order, EWKB's flags and ISO's codes. Z is kept, M is dropped. SRID 0 and 4326
 * are longitude and latitude; any other is refused. Empty parts are left out, and a value that is
 * entirely empty is type_absent. Coordinates are written with the fewest digits that read back as
 * the same double.
 */
#pragma once

#include "rowferry/document/convert/type.h"

#define GEOMETRY_MAX_DEPTH 16 /* of nested collections */

/* A geo_point accepts only a Point, which is written as [x,y]. */
type_refusal convert_geometry(struct buf *out, const char *text, size_t len,
                              const struct type_pair *pair);
