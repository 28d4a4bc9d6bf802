/* SPDX-License-Identifier: Apache-2.0 */
/* Points, lines, polygons and boxes, copied number by number. */
#include "convert/converters.h"

#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

static const char not_a_place[] = "not a place";

struct geo_walk {
    struct buf *out;
    const char *at;
    const char *end;
    enum coordinate longitude; /* LONGITUDE for a geo_point */
};

static struct geo_walk convert_geo_walk_over(struct buf *out, const char *text, size_t len,
                                             const struct type_pair *pair)
{
    bool point = strcmp(pair->property->type, "geo_point") == 0;
    return (struct geo_walk){out, text, text + len, point ? LONGITUDE : SHAPE_LONGITUDE};
}

/* Reads the bytes up to the mark and steps over it. Returns false if the mark does not follow. */
static bool convert_geo_read_until(struct geo_walk *w, char mark, struct span *part)
{
    const char *found = w->at < w->end ? memchr(w->at, mark, (size_t)(w->end - w->at)) : NULL;
    if (found == NULL) {
        return false;
    }
    *part = span_make(w->at, (size_t)(found - w->at));
    w->at = found + 1;
    return true;
}

static bool convert_geo_read_char(struct geo_walk *w, char c)
{
    bool there = w->at < w->end && *w->at == c;
    w->at += there;
    return there;
}

/* Reads "(x,y)". */
static bool convert_geo_read_pair(struct geo_walk *w, struct span *x, struct span *y)
{
    return convert_geo_read_char(w, '(') && convert_geo_read_until(w, ',', x) &&
           convert_geo_read_until(w, ')', y);
}

static type_refusal convert_geo_push_position(struct geo_walk *w, struct span x, struct span y)
{
    type_refusal refusal = convert_coordinate_refusal(x, w->longitude);
    if (refusal == NULL) {
        refusal = convert_coordinate_refusal(y, LATITUDE);
    }
    buf_push_char(w->out, '[');
    buf_push(w->out, x.data, x.len);
    buf_push_char(w->out, ',');
    buf_push(w->out, y.data, y.len);
    buf_push_char(w->out, ']');
    return refusal;
}

/* A geo_point accepts GeoJSON only in recent versions of both products, but [x,y] in all
 * versions. */
type_refusal convert_point(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair)
{
    struct geo_walk w = convert_geo_walk_over(out, text, len, pair);
    struct span x;
    struct span y;
    if (!convert_geo_read_pair(&w, &x, &y) || w.at != w.end) {
        return not_a_place;
    }
    if (w.longitude == LONGITUDE) {
        return convert_geo_push_position(&w, x, y);
    }
    buf_push_literal(out, "{\"type\":\"Point\",\"coordinates\":");
    type_refusal refusal = convert_geo_push_position(&w, x, y);
    buf_push_char(out, '}');
    return refusal;
}

/* Writes the positions of a path up to its end. A ring is closed with its first position. */
static type_refusal convert_geo_push_positions(struct geo_walk *w, bool ring)
{
    struct span first[2];
    struct span last[2];
    size_t count = 0;
    do {
        if (!convert_geo_read_pair(w, &last[0], &last[1])) {
            return not_a_place;
        }
        if (count++ == 0) {
            memcpy(first, last, sizeof(first));
        } else {
            buf_push_char(w->out, ',');
        }
        type_refusal refusal = convert_geo_push_position(w, last[0], last[1]);
        if (refusal != NULL) {
            return refusal;
        }
    } while (convert_geo_read_char(w, ','));
    if (ring && !(span_equal(first[0], last[0]) && span_equal(first[1], last[1]))) {
        buf_push_char(w->out, ',');
        (void)convert_geo_push_position(w, first[0], first[1]); /* checked before */
        count++;
    }
    if (ring) {
        return count >= 4 ? NULL : "a polygon of fewer than 3 points";
    }
    return count >= 2 ? NULL : "a line of fewer than 2 points";
}

type_refusal convert_path(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair)
{
    struct geo_walk w = convert_geo_walk_over(out, text, len, pair);
    bool ring = convert_geo_read_char(&w, '(');
    if (!ring && !convert_geo_read_char(&w, '[')) {
        return not_a_place;
    }
    if (ring) {
        buf_push_literal(out, "{\"type\":\"Polygon\",\"coordinates\":[[");
    } else {
        buf_push_literal(out, "{\"type\":\"LineString\",\"coordinates\":[");
    }
    type_refusal refusal = convert_geo_push_positions(&w, ring);
    if (refusal != NULL) {
        return refusal;
    }
    buf_push_text(out, ring ? "]]}" : "]}");
    return convert_geo_read_char(&w, ring ? ')' : ']') && w.at == w.end ? NULL : not_a_place;
}

type_refusal convert_box(struct buf *out, const char *text, size_t len,
                         const struct type_pair *pair)
{
    struct geo_walk w = convert_geo_walk_over(out, text, len, pair);
    struct span high[2];
    struct span low[2];
    if (!convert_geo_read_pair(&w, &high[0], &high[1]) || !convert_geo_read_char(&w, ',') ||
        !convert_geo_read_pair(&w, &low[0], &low[1]) || w.at != w.end) {
        return not_a_place;
    }
    const struct span *const corners[5][2] = {{&low[0], &low[1]},
                                              {&high[0], &low[1]},
                                              {&high[0], &high[1]},
                                              {&low[0], &high[1]},
                                              {&low[0], &low[1]}};
    buf_push_literal(out, "{\"type\":\"Polygon\",\"coordinates\":[[");
    for (size_t i = 0; i < 5; i++) {
        if (i > 0) {
            buf_push_char(out, ',');
        }
        type_refusal refusal = convert_geo_push_position(&w, *corners[i][0], *corners[i][1]);
        if (refusal != NULL) {
            return refusal;
        }
    }
    buf_push_literal(out, "]]}");
    return NULL;
}
