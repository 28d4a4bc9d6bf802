/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PostGIS's geometry and geography, whose text is EWKB in hexadecimal digits, as GeoJSON.
 *
 * Either byte order, EWKB's flags and ISO's codes; Z is kept, M is dropped. SRID 0 and 4326 are
 * longitude and latitude, any other is refused. What is empty is left out, a value that is empty as
 * a whole is type_absent. Coordinates are written with the fewest digits that read back as the same
 * double.
 */
#ifndef ROWFERRY_DOCUMENT_CONVERT_GEOMETRY_H
#define ROWFERRY_DOCUMENT_CONVERT_GEOMETRY_H

#include "rowferry/document/convert/type.h"

#define GEOMETRY_MAX_DEPTH 16 /* collections in collections */

/* A geo_point takes a Point alone, as [x,y]. */
type_refusal convert_geometry(struct buf *out, const char *text, size_t len,
                              const struct type_pair *pair);

#endif
