/* SPDX-License-Identifier: Apache-2.0 */
/* Compares sets of values, for a derived source. */
#include "compare/compare_derived.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/document/json/json_compare.h"

#define NUMBER_BYTES 64
#define MOMENT_BYTES 24
#define FLOAT_SHARE 1e-6

static bool compare_derived_is_date(const struct property *p)
{
    return strncmp(p->type, "date", 4) == 0;
}

bool compare_derived_comparable(const struct property *p)
{
    if (strcmp(p->type, "object") == 0) {
        bool all = p->enabled && p->child_count > 0;
        for (size_t i = 0; i < p->child_count; i++) {
            all = all && compare_derived_comparable(&p->children[i]);
        }
        return all;
    }
    return p->family == FAMILY_OTHER ? compare_derived_is_date(p) && p->format == NULL
                                     : p->scaling_factor == 0;
}

/* --- scalars ---------------------------------------------------------------------------------- */

static double compare_derived_number_of(struct span s)
{
    char text[NUMBER_BYTES];
    size_t from = s.len > 0 && s.data[0] == '"'; /* a number may be sent as a string */
    size_t len = s.len - 2 * from < sizeof(text) - 1 ? s.len - 2 * from : sizeof(text) - 1;
    memcpy(text, s.data + from, len);
    text[len] = '\0';
    return strtod(text, NULL);
}

static bool compare_derived_near(double a, double b, double share)
{
    double most = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    return fabs(a - b) <= most * share;
}

bool compare_as_floats(struct span a, struct span b)
{
    return json_scalar_same(a, b) ||
           (a.len > 0 && b.len > 0 && a.data[0] != '"' && b.data[0] != '"' &&
            compare_derived_near(compare_derived_number_of(a), compare_derived_number_of(b),
                                 FLOAT_SHARE));
}

/* Writes "yyyy-mm-ddThh:mm:ss.mmm" in UTC, which both sides use. Missing digits become zeros. */
static void compare_derived_moment(char out[MOMENT_BYTES], struct span s)
{
    memcpy(out, "0000-01-01T00:00:00.000", MOMENT_BYTES);
    for (size_t i = 1; i + 1 < s.len && i < MOMENT_BYTES; i++) {
        char c = s.data[i];
        if (i > 10 && (c == 'Z' || c == '+')) {
            return;
        }
        out[i - 1] = c;
    }
}

static bool compare_derived_value_same(const struct property *p, struct span a, struct span b)
{
    if (json_scalar_same(a, b)) {
        return true;
    }
    if (compare_derived_is_date(p)) {
        char x[MOMENT_BYTES];
        char y[MOMENT_BYTES];
        compare_derived_moment(x, a);
        compare_derived_moment(y, b);
        return strcmp(x, y) == 0;
    }
    double share = p->family == FAMILY_HALF_FLOAT ? 1e-3
                   : p->family == FAMILY_FLOAT    ? FLOAT_SHARE
                   : p->family == FAMILY_DOUBLE   ? 1e-15
                                                  : 0;
    if (share > 0) {
        return compare_derived_near(compare_derived_number_of(a), compare_derived_number_of(b),
                                    share);
    }
    if (p->family != FAMILY_OTHER && p->family != FAMILY_BOOLEAN) {
        size_t x = a.len > 1 && a.data[0] == '"'; /* a number sent as a text, or the reverse */
        size_t y = b.len > 1 && b.data[0] == '"';
        return span_equal(span_make(a.data + x, a.len - 2 * x),
                          span_make(b.data + y, b.len - 2 * y));
    }
    return false;
}

/* --- sets ------------------------------------------------------------------------------------- */

static bool compare_derived_is_null(struct span s)
{
    return s.len == 0 || s.data[0] == 'n';
}

/* Returns true if the set, an array of any depth, contains the value. */
static bool compare_derived_holds(const struct property *p, struct span set, struct span value)
{
    struct span element;
    if (set.len == 0 || set.data[0] != '[') {
        return !compare_derived_is_null(set) && compare_derived_value_same(p, set, value);
    }
    struct json_steps at = json_steps_into(set);
    while (json_steps_element(&at, &element)) {
        if (compare_derived_holds(p, element, value)) {
            return true;
        }
    }
    return false;
}

/* Returns true if the set contains all the values. */
static bool compare_derived_within(const struct property *p, struct span values, struct span set)
{
    struct span element;
    if (values.data == NULL || compare_derived_is_null(values)) {
        return true;
    }
    if (values.data[0] != '[') {
        return compare_derived_holds(p, set, values);
    }
    struct json_steps at = json_steps_into(values);
    while (json_steps_element(&at, &element)) {
        if (!compare_derived_within(p, element, set)) {
            return false;
        }
    }
    return true;
}

struct span compare_derived_member(struct span object, const struct property *child)
{
    struct json_steps at = json_steps_into(object);
    return json_steps_find(&at, span_make(child->name, child->name_len));
}

/* A derived source merges the objects of an array into one, so they cannot be distinguished. */
static bool compare_derived_objects_same(const struct property *p, struct span row,
                                         struct span indexed)
{
    if ((row.len > 0 && row.data[0] != '{') || (indexed.len > 0 && indexed.data[0] != '{')) {
        return true;
    }
    for (size_t i = 0; i < p->child_count; i++) {
        if (!compare_derived_same(&p->children[i], compare_derived_member(row, &p->children[i]),
                                  compare_derived_member(indexed, &p->children[i]))) {
            return false;
        }
    }
    return true;
}

bool compare_derived_same(const struct property *p, struct span row, struct span indexed)
{
    if (strcmp(p->type, "object") == 0) {
        return compare_derived_objects_same(p, row, indexed);
    }
    return compare_derived_within(p, row, indexed) && compare_derived_within(p, indexed, row);
}
