/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converters of PostgreSQL's own places into GeoJSON: x is the longitude, y the latitude, the
 * digits are PostgreSQL's. Latitudes end at 90 degrees; longitudes at 180 in a geo_point, at 360 in
 * a geo_shape, which the services bring back into their range.
 */
#ifndef ROWFERRY_DOCUMENT_CONVERT_GEO_H
#define ROWFERRY_DOCUMENT_CONVERT_GEO_H

#include "rowferry/document/convert/type.h"

/* "(1.5,2)" as a Point. */
type_refusal convert_point(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);
/* "[(0,0),(1,1)]" as a LineString, "((0,0),(1,0),(1,1))" as a Polygon: lseg, path and polygon. */
type_refusal convert_path(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair);
/* "(1,1),(0,0)" as a Polygon. */
type_refusal convert_box(struct buf *out, const char *text, size_t len,
                         const struct type_pair *pair);

#endif
