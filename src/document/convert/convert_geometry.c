/* SPDX-License-Identifier: Apache-2.0 */
/* Reads EWKB byte by byte from its digits and writes GeoJSON in the same pass. */
#include "convert/converters.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/buf.h"

enum geometry_kind {
    KIND_POINT = 1,
    KIND_LINE,
    KIND_POLYGON,
    KIND_POINTS,
    KIND_LINES,
    KIND_POLYGONS,
    KIND_COLLECTION,
};

#define FLAG_Z 0x80000000u
#define FLAG_M 0x40000000u
#define FLAG_SRID 0x20000000u
#define LON_LAT 4326
#define GEOMETRY_MAX_DEPTH 16 /* of nested collections */

static const char malformed[] = "not a geometry";

struct wkb {
    struct buf *out;
    const char *at;
    const char *end;
    double max_longitude;
    bool little; /* of the current geometry, like the next two */
    bool z;
    bool m;
};

/* Reads the next `count` bytes as one number in the geometry's byte order. */
static bool convert_geometry_read_bytes(struct wkb *w, size_t count, uint64_t *value)
{
    if ((size_t)(w->end - w->at) < 2 * count) {
        return false;
    }
    *value = 0;
    for (size_t i = 0; i < count; i++) {
        int byte = ascii_hex_byte(w->at, 2);
        if (byte < 0) {
            return false;
        }
        *value |= (uint64_t)byte << 8 * (w->little ? i : count - 1 - i);
        w->at += 2;
    }
    return true;
}

static bool convert_geometry_read_double(struct wkb *w, double *value)
{
    uint64_t bits;
    if (!convert_geometry_read_bytes(w, sizeof(bits), &bits)) {
        return false;
    }
    memcpy(value, &bits, sizeof(bits));
    return true;
}

/* Reads byte order, type, flags and SRID. */
static type_refusal convert_geometry_read_header(struct wkb *w, uint64_t *kind)
{
    uint64_t order;
    uint64_t code;
    uint64_t srid = 0;
    if (!convert_geometry_read_bytes(w, 1, &order) || order > 1) {
        return malformed;
    }
    w->little = order == 1;
    if (!convert_geometry_read_bytes(w, 4, &code) ||
        ((code & FLAG_SRID) != 0 && !convert_geometry_read_bytes(w, 4, &srid))) {
        return malformed;
    }
    uint64_t plain = code & ~(uint64_t)(FLAG_Z | FLAG_M | FLAG_SRID);
    uint64_t iso = plain / 1000; /* 1 = Z, 2 = M, 3 = ZM */
    if (iso > 3) {
        return malformed;
    }
    w->z = (code & FLAG_Z) != 0 || (iso & 1) != 0;
    w->m = (code & FLAG_M) != 0 || (iso & 2) != 0;
    *kind = plain % 1000;
    if (*kind < KIND_POINT || *kind > KIND_COLLECTION) {
        return "a curve or a surface, which GeoJSON does not have: convert it in a query";
    }
    return srid == 0 || srid == LON_LAT
               ? NULL
               : "a geometry whose SRID is not 4326: use ST_Transform(..., 4326) in a query";
}

/* Writes the fewest digits that read back as the same double, with a point in any locale. */
static void convert_geometry_push_double(struct buf *out, double value)
{
    char text[40] = "";
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    for (const char *p = text; *p != '\0';) {
        size_t usual = strspn(p, "0123456789+-e");
        buf_push(out, p, usual);
        p += usual;
        if (*p != '\0') {
            buf_push_char(out, '.');
            p += strcspn(p, "0123456789+-e");
        }
    }
}

static type_refusal convert_geometry_check_position(const struct wkb *w, double x, double y,
                                                    double z)
{
    if (!isfinite(x) || !isfinite(y) || !isfinite(z)) {
        return "a coordinate that is not finite";
    }
    if (y < -90 || y > 90) {
        return "a latitude beyond 90 degrees";
    }
    if (x < -w->max_longitude || x > w->max_longitude) {
        return w->max_longitude > 180 ? "a longitude beyond 360 degrees"
                                      : "a longitude beyond 180 degrees";
    }
    return NULL;
}

/* Writes a position. Writes nothing if all its coordinates are NaN and it may be empty. */
static type_refusal convert_geometry_push_position(struct wkb *w, bool may_be_empty)
{
    double x;
    double y;
    double z = 0;
    double m;
    if (!convert_geometry_read_double(w, &x) || !convert_geometry_read_double(w, &y) ||
        (w->z && !convert_geometry_read_double(w, &z)) ||
        (w->m && !convert_geometry_read_double(w, &m))) {
        return malformed;
    }
    if (may_be_empty && isnan(x) && isnan(y)) {
        return NULL;
    }
    type_refusal refusal = convert_geometry_check_position(w, x, y, z);
    if (refusal != NULL) {
        return refusal;
    }
    buf_push_char(w->out, '[');
    convert_geometry_push_double(w->out, x);
    buf_push_char(w->out, ',');
    convert_geometry_push_double(w->out, y);
    if (w->z) {
        buf_push_char(w->out, ',');
        convert_geometry_push_double(w->out, z);
    }
    buf_push_char(w->out, ']');
    return NULL;
}

/* Writes positions in brackets. Writes nothing if the list is empty and may be so. */
static type_refusal convert_geometry_push_line(struct wkb *w, bool ring)
{
    uint64_t count;
    if (!convert_geometry_read_bytes(w, 4, &count)) {
        return malformed;
    }
    if (count == 0 && !ring) {
        return NULL;
    }
    if (count < (ring ? 4 : 2)) {
        return ring ? "a polygon of fewer than 3 points" : "a line of fewer than 2 points";
    }
    for (uint64_t i = 0; i < count; i++) {
        buf_push_char(w->out, i == 0 ? '[' : ',');
        type_refusal refusal = convert_geometry_push_position(w, false);
        if (refusal != NULL) {
            return refusal;
        }
    }
    buf_push_char(w->out, ']');
    return NULL;
}

static type_refusal convert_geometry_push_member(struct wkb *w, uint64_t kind, int depth);

/* Writes rings or members in brackets, without the empty ones. Writes nothing if all are empty. */
static type_refusal convert_geometry_push_members(struct wkb *w, uint64_t kind, int depth)
{
    uint64_t count;
    bool any = false;
    if (!convert_geometry_read_bytes(w, 4, &count)) {
        return malformed;
    }
    for (; count > 0; count--) {
        size_t before = w->out->len;
        buf_push_char(w->out, any ? ',' : '[');
        size_t begun = w->out->len;
        type_refusal refusal = convert_geometry_push_member(w, kind, depth);
        if (refusal != NULL || w->out->failed) {
            return refusal;
        }
        if (w->out->len == begun) {
            buf_truncate(w->out, before);
        } else {
            any = true;
        }
    }
    if (any) {
        buf_push_char(w->out, ']');
    }
    return NULL;
}

static type_refusal convert_geometry_push_coordinates(struct wkb *w, uint64_t kind, int depth)
{
    switch (kind) {
    case KIND_POINT:
        return convert_geometry_push_position(w, true);
    case KIND_LINE:
        return convert_geometry_push_line(w, false);
    default:
        return convert_geometry_push_members(w, kind, depth);
    }
}

/* Writes a GeoJSON object. Writes nothing if it would be empty. */
static type_refusal convert_geometry_push(struct wkb *w, uint64_t kind, int depth)
{
    static const char *const begin[] = {
        [KIND_POINT] = "{\"type\":\"Point\",\"coordinates\":",
        [KIND_LINE] = "{\"type\":\"LineString\",\"coordinates\":",
        [KIND_POLYGON] = "{\"type\":\"Polygon\",\"coordinates\":",
        [KIND_POINTS] = "{\"type\":\"MultiPoint\",\"coordinates\":",
        [KIND_LINES] = "{\"type\":\"MultiLineString\",\"coordinates\":",
        [KIND_POLYGONS] = "{\"type\":\"MultiPolygon\",\"coordinates\":",
        [KIND_COLLECTION] = "{\"type\":\"GeometryCollection\",\"geometries\":",
    };
    size_t before = w->out->len;
    if (depth > GEOMETRY_MAX_DEPTH) {
        return "a geometry collection that is nested more than 16 deep";
    }
    buf_push_text(w->out, begin[kind]);
    size_t begun = w->out->len;
    type_refusal refusal = convert_geometry_push_coordinates(w, kind, depth);
    if (refusal != NULL || w->out->failed) {
        return refusal;
    }
    if (w->out->len == begun) {
        buf_truncate(w->out, before);
    } else {
        buf_push_char(w->out, '}');
    }
    return NULL;
}

/* `kind` is that of the containing geometry. */
static type_refusal convert_geometry_push_member(struct wkb *w, uint64_t kind, int depth)
{
    uint64_t own;
    if (kind == KIND_POLYGON) {
        return convert_geometry_push_line(w, true);
    }
    type_refusal refusal = convert_geometry_read_header(w, &own);
    if (refusal != NULL) {
        return refusal;
    }
    if (kind == KIND_COLLECTION) {
        return convert_geometry_push(w, own, depth + 1);
    }
    return own == kind - KIND_POLYGON ? convert_geometry_push_coordinates(w, own, depth)
                                      : malformed;
}

type_refusal convert_geometry(struct buf *out, const char *text, size_t len,
                              const struct type_pair *pair)
{
    bool point = strcmp(pair->property->type, "geo_point") == 0;
    struct wkb w = {.out = out, .at = text, .end = text + len, .max_longitude = point ? 180 : 360};
    size_t before = out->len;
    uint64_t kind;
    type_refusal refusal = convert_geometry_read_header(&w, &kind);
    if (refusal != NULL) {
        return refusal;
    }
    if (point && kind != KIND_POINT) {
        return "a geometry other than a point";
    }
    refusal = point ? convert_geometry_push_position(&w, true) : convert_geometry_push(&w, kind, 1);
    if (refusal != NULL || out->failed) {
        return refusal;
    }
    if (w.at != w.end) {
        return malformed;
    }
    return out->len == before ? type_absent : NULL;
}
