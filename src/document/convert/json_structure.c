/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values that are neither scalars nor mapped objects: flattened, geo_point, rank_features. */
#include "convert/json_walk.h"

#include "convert/convert_number.h"
#include "rowferry/document/json/json_name.h"

/* The position of a leaf in a flattened field. */
struct leaf {
    size_t depth; /* of objects; the field's value is the first */
    size_t bytes; /* of the names on the path, separated by dots */
    bool nul;     /* one of them contains the character NUL */
};

static type_refusal json_structure_walk_leaves(struct json_walk *w, const struct property *p,
                                               struct leaf leaf);

/*
 * Elasticsearch indexes a leaf as its path, a NUL and its text. It refuses a longer term and a NUL
 * in the path, but first leaves out texts longer than ignore_above. OpenSearch stores
 * "field.field.path=text" and refuses a longer term as well.
 */
static type_refusal json_structure_check_leaf(const struct property *p, struct leaf leaf,
                                              struct span value)
{
    bool flat = p->depth_limit == 0;
    if (leaf.nul && !flat) {
        return "a name with the character NUL in a flattened field";
    }
    if (value.len == 0 || value.data[0] == 'n') {
        return NULL;
    }
    struct json_measure m = {value.len, value.len, false};
    if (value.data[0] == '"' && value.len >= 2) {
        m = json_measure(span_make(value.data + 1, value.len - 2));
    }
    bool ignored = !flat && p->ignore_above > 0 && m.units > (uint64_t)p->ignore_above;
    size_t prefix = flat ? 2 * (p->name_len + 1) : 0;
    return !ignored && prefix + leaf.bytes + 1 + m.bytes > JSON_TERM_BYTES
               ? "a leaf that has more than 32766 bytes with its path"
               : NULL;
}

static type_refusal json_structure_walk_leaf_members(struct json_walk *w, const struct property *p,
                                                     struct leaf leaf)
{
    struct json_reader *r = &w->reader;
    if (p->depth_limit > 0 && leaf.depth > (uint64_t)p->depth_limit) {
        return "objects nested deeper than the field's \"depth_limit\"";
    }
    for (bool more = json_first(r); more; more = json_next(r)) {
        struct json_measure name = json_measure(json_member(r));
        struct leaf inner = leaf;
        inner.bytes += name.bytes + (leaf.depth > 1);
        inner.nul |= name.nul;
        type_refusal refusal = json_structure_walk_leaves(w, p, inner);
        if (refusal != NULL) {
            return refusal;
        }
    }
    return NULL;
}

static type_refusal json_structure_walk_leaves(struct json_walk *w, const struct property *p,
                                               struct leaf leaf)
{
    struct json_reader *r = &w->reader;
    if (*r->at == '{') {
        leaf.depth++;
        return json_structure_walk_leaf_members(w, p, leaf);
    }
    if (*r->at != '[') {
        return json_structure_check_leaf(p, leaf, json_value(r));
    }
    for (bool more = json_first(r); more; more = json_next(r)) {
        type_refusal refusal = json_structure_walk_leaves(w, p, leaf);
        if (refusal != NULL) {
            return refusal;
        }
    }
    return NULL;
}

static type_refusal json_structure_walk_flat_value(struct json_walk *w, const struct property *p)
{
    struct json_reader *r = &w->reader;
    if (*r->at == '[') {
        for (bool more = json_first(r); more; more = json_next(r)) {
            type_refusal refusal = json_structure_walk_flat_value(w, p);
            if (refusal != NULL) {
                return refusal;
            }
        }
        return NULL;
    }
    if (*r->at == '{') {
        return json_structure_walk_leaves(w, p, (struct leaf){0});
    }
    if (*r->at != 'n') {
        return "a JSON scalar for an object";
    }
    json_value(r);
    return NULL;
}

type_refusal json_walk_flat(struct json_walk *w, const struct property *p,
                            const struct json_path *path)
{
    type_refusal refusal = json_structure_walk_flat_value(w, p);
    return refusal != NULL ? json_refuse(w, path, refusal) : NULL;
}

/* Checks a number of degrees; a text is left to the service. */
static type_refusal json_structure_check_degrees(struct json_walk *w, enum number number)
{
    bool is_number = json_is_number(&w->reader);
    struct span value = json_value(&w->reader);
    return is_number ? convert_number_refusal(value.data, value.len, number) : NULL;
}

/* Checks [lon, lat] with an optional height. */
static type_refusal json_structure_walk_pair(struct json_walk *w)
{
    static const enum number halves[] = {NUMBER_LONGITUDE, NUMBER_LATITUDE};
    struct json_reader *r = &w->reader;
    size_t i = 0;
    for (bool more = json_first(r); more; more = json_next(r), i++) {
        type_refusal refusal = i < 2 ? json_structure_check_degrees(w, halves[i]) : NULL;
        if (refusal != NULL) {
            return refusal;
        }
        if (i >= 2) {
            json_value(r);
        }
    }
    return NULL;
}

/* Checks {"lat": .., "lon": ..}, or GeoJSON's {"type": "Point", "coordinates": [lon, lat]}. */
static type_refusal json_structure_walk_place_members(struct json_walk *w)
{
    struct json_reader *r = &w->reader;
    type_refusal refusal = NULL;
    for (bool more = json_first(r); more && refusal == NULL; more = more && json_next(r)) {
        struct span name = json_member(r);
        if (span_is(name, "lat")) {
            refusal = json_structure_check_degrees(w, NUMBER_LATITUDE);
        } else if (span_is(name, "lon")) {
            refusal = json_structure_check_degrees(w, NUMBER_LONGITUDE);
        } else if (span_is(name, "coordinates") && *r->at == '[') {
            refusal = json_structure_walk_pair(w);
        } else {
            json_value(r);
        }
    }
    return refusal;
}

type_refusal json_walk_place(struct json_walk *w, const struct property *p,
                             const struct json_path *path)
{
    struct json_reader *r = &w->reader;
    struct json_reader second = {r->at + (r->at < r->end), r->end};
    type_refusal refusal = NULL;
    if (*r->at == '{') {
        refusal = json_structure_walk_place_members(w);
    } else if (*r->at != '[') {
        json_value(r);
    } else if (json_is_number(&second)) {
        refusal = json_structure_walk_pair(w);
    } else {
        for (bool more = json_first(r); more; more = json_next(r)) {
            type_refusal said = json_walk_place(w, p, path);
            if (said != NULL) {
                return said;
            }
        }
    }
    return refusal != NULL ? json_refuse(w, path, refusal) : NULL;
}

static type_refusal json_structure_check_feature(struct json_walk *w)
{
    bool is_number = json_is_number(&w->reader);
    char first = *w->reader.at;
    struct span value = json_value(&w->reader);
    if (is_number) {
        return convert_number_refusal(value.data, value.len, NUMBER_FEATURE);
    }
    return first == '"' || first == 'n' ? NULL : "a rank feature that is no number";
}

type_refusal json_walk_features(struct json_walk *w, const struct json_path *path)
{
    struct json_reader *r = &w->reader;
    type_refusal refusal = NULL;
    if (*r->at != '{') {
        json_value(r);
        return NULL;
    }
    for (bool more = json_first(r); more; more = json_next(r)) {
        json_member(r);
        refusal = json_structure_check_feature(w);
        if (refusal != NULL) {
            return json_refuse(w, path, refusal);
        }
    }
    return NULL;
}
