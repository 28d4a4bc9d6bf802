/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors, component by component. Their length is computed only if the mapping requires it. */
#include "convert/converters.h"

#include <stdint.h>
#include <string.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/buf.h"

#define LEAST_WEIGHT 1.17549435e-38 /* the smallest normal float */
#define UNIT_SLACK 1e-3             /* tolerance of the squared length, as in Elasticsearch */

enum length { LENGTH_ANY, LENGTH_NOT_ZERO, LENGTH_ONE };

struct vector {
    struct buf *out;
    const char *at;
    const char *end;
    const struct type_pair *pair;
    bool whole; /* elements are bytes or bits */
    enum length length;
    int64_t wanted; /* components; 0 if the mapping does not specify them */
    int64_t most;
    int64_t count;
    double squares; /* the squared length, if it is needed */
};

static const char not_a_vector[] = "not a vector";
static const char other_dimension[] = "a vector of another dimension than the mapping's";

static bool convert_vector_reports(const char *text, const char *word)
{
    return text != NULL && strcmp(text, word) == 0;
}

bool convert_vector_packs_bits(const struct property *p)
{
    return convert_vector_reports(p->element_type, "bit") ||
           convert_vector_reports(p->element_type, "binary");
}

/* The default similarity is cosine in Elasticsearch and a distance in OpenSearch. */
static enum length convert_vector_wanted_length(const struct property *p, bool dense, bool bits,
                                                bool whole)
{
    if (!dense) {
        return convert_vector_reports(p->similarity, "cosinesimil") ? LENGTH_NOT_ZERO : LENGTH_ANY;
    }
    if (!p->indexed) {
        return LENGTH_ANY;
    }
    if (convert_vector_reports(p->similarity, "dot_product")) {
        return whole ? LENGTH_ANY : LENGTH_ONE;
    }
    bool cosine = p->similarity == NULL ? !bits : convert_vector_reports(p->similarity, "cosine");
    return cosine ? LENGTH_NOT_ZERO : LENGTH_ANY;
}

static struct vector convert_vector_over(struct buf *out, const char *text, size_t len,
                                         const struct type_pair *pair)
{
    const struct property *p = pair->property;
    bool dense = convert_vector_reports(p->type, "dense_vector");
    bool bits = convert_vector_packs_bits(p);
    bool whole = bits || convert_vector_reports(p->element_type, "byte");
    return (struct vector){
        .out = out,
        .at = text,
        .end = text + len,
        .pair = pair,
        .whole = whole,
        .length = convert_vector_wanted_length(p, dense, bits, whole),
        .wanted = bits ? p->dimension / 8 : p->dimension,
        .most = dense ? 4096 : 16000,
    };
}

/* Reads a number up to `limit`. Returns false if there are no digits or it exceeds the limit. */
static bool convert_vector_read_count(const char **at, const char *end, int64_t limit,
                                      int64_t *value)
{
    const char *p = *at;
    *value = 0;
    for (; p < end && ascii_is_digit(*p) && *value <= limit; p++) {
        *value = *value * 10 + (*p - '0');
    }
    bool good = p > *at && *value <= limit;
    *at = p;
    return good;
}

static double convert_vector_scaled(double value, int64_t exponent)
{
    for (; exponent > 0 && value < 1e300 && value > 0; exponent--) {
        value *= 10;
    }
    for (; exponent < 0 && value > 0; exponent++) {
        value /= 10;
    }
    return value;
}

/* Returns the approximate absolute value, exact enough to compute a length. The text is a JSON
 * number. */
static double convert_vector_approximate(const char *p, const char *end)
{
    double value = 0;
    int64_t exponent = 0;
    bool fraction = false;
    p += p < end && *p == '-';
    for (; p < end && (ascii_is_digit(*p) || *p == '.'); p++) {
        if (*p == '.') {
            fraction = true;
        } else if (value < 1e17) {
            value = value * 10 + (*p - '0');
            exponent -= fraction;
        } else {
            exponent += !fraction;
        }
    }
    if (p < end) {
        bool negative = p + 1 < end && p[1] == '-';
        int64_t said = 0;
        p += 1 + (p + 1 < end && (p[1] == '-' || p[1] == '+'));
        (void)convert_vector_read_count(&p, end, 100000, &said);
        exponent += negative ? -said : said;
    }
    return convert_vector_scaled(value, exponent);
}

/* Reads the bytes up to ',' or a closing bracket as one number, without the blanks around it. */
static type_refusal convert_vector_push_component(struct vector *v)
{
    static const char no_float[] = "a vector with a component that is not a finite number";
    static const char no_byte[] =
        "a vector with a component that is not a whole number from -128 to 127";
    const char *from = v->at;
    while (v->at < v->end && *v->at != ',' && *v->at != ' ' && *v->at != '}' && *v->at != ']') {
        v->at++;
    }
    size_t len = (size_t)(v->at - from);
    type_converter *number = v->whole ? convert_byte : convert_float;
    if (number(v->out, from, len, v->pair) != NULL) {
        return v->whole ? no_byte : no_float;
    }
    v->count++;
    if (!v->whole && v->length == LENGTH_ANY) {
        return NULL;
    }
    double value = convert_vector_approximate(from, v->at);
    v->squares += value * value;
    return !v->whole || (double)(int)value == value ? NULL : no_byte;
}

static type_refusal convert_vector_check_dimension(const struct vector *v, int64_t count)
{
    if (v->wanted > 0) {
        return count == v->wanted ? NULL : other_dimension;
    }
    return count <= v->most ? NULL : "a vector of more dimensions than the service takes";
}

static type_refusal convert_vector_check_whole(const struct vector *v)
{
    if (v->length == LENGTH_NOT_ZERO && v->squares == 0) {
        return "a vector of zeros, which has no cosine";
    }
    double off = v->squares - 1;
    if (v->length == LENGTH_ONE && (off > UNIT_SLACK || off < -UNIT_SLACK)) {
        return "a vector whose length is not 1, which dot_product requires";
    }
    return convert_vector_check_dimension(v, v->count);
}

static void convert_vector_skip_blanks(struct vector *v)
{
    while (v->at < v->end && *v->at == ' ') {
        v->at++;
    }
}

/* Starts behind the opening bracket. */
static type_refusal convert_vector_push_components(struct vector *v)
{
    buf_push_char(v->out, '[');
    for (;;) {
        convert_vector_skip_blanks(v);
        type_refusal refusal = convert_vector_push_component(v);
        if (refusal != NULL) {
            return refusal;
        }
        convert_vector_skip_blanks(v);
        if (v->at == v->end || *v->at != ',') {
            break;
        }
        buf_push_char(v->out, ',');
        v->at++;
    }
    buf_push_char(v->out, ']');
    bool closed = v->at + 1 == v->end && (*v->at == '}' || *v->at == ']');
    return closed ? convert_vector_check_whole(v) : not_a_vector;
}

type_refusal convert_vector(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair)
{
    struct vector v = convert_vector_over(out, text, len, pair);
    if (len == 4 && memcmp(text, "null", 4) == 0) {
        buf_push(out, text, len);
        return NULL;
    }
    const char *bounds = memchr(text, '=', len);
    v.at = bounds != NULL ? bounds + 1 : text;
    if (v.at == v.end || (*v.at != '{' && *v.at != '[')) {
        return not_a_vector;
    }
    v.at++;
    return convert_vector_push_components(&v);
}

/* Cuts "/5" off the end and leaves `at` behind the opening brace. */
static type_refusal convert_vector_sparse_begin(struct vector *v, int64_t *dimension)
{
    const char *slash = v->end;
    while (slash > v->at && slash[-1] != '/') {
        slash--;
    }
    if (slash == v->at || *v->at != '{') {
        return not_a_vector;
    }
    const char *at = slash;
    if (!convert_vector_read_count(&at, v->end, INT32_MAX, dimension) || at != v->end) {
        return not_a_vector;
    }
    v->end = slash - 1;
    v->at++;
    return NULL;
}

static bool convert_vector_has_entries(const struct vector *v)
{
    return v->at < v->end && *v->at != '}';
}

/* Steps over a comma. Returns false if another byte follows. */
static bool convert_vector_next_entry(struct vector *v)
{
    bool comma = v->at < v->end && *v->at == ',';
    v->at += comma;
    return comma;
}

/* Reads "3:" of "3:2". The index must be above the last one and at most the dimension. */
static bool convert_vector_read_index(struct vector *v, int64_t last, int64_t dimension,
                                      int64_t *index)
{
    bool good = convert_vector_read_count(&v->at, v->end, dimension, index) && *index > last &&
                v->at < v->end && *v->at == ':';
    v->at += good;
    return good;
}

static void convert_vector_push_zeros(struct vector *v, int64_t upto)
{
    for (; v->count < upto; v->count++) {
        buf_push_text(v->out, v->count > 0 ? ",0" : "0");
    }
}

type_refusal convert_sparse_vector(struct buf *out, const char *text, size_t len,
                                   const struct type_pair *pair)
{
    struct vector v = convert_vector_over(out, text, len, pair);
    int64_t dimension;
    type_refusal refusal = convert_vector_sparse_begin(&v, &dimension);
    if (refusal == NULL) {
        refusal = convert_vector_check_dimension(&v, dimension);
    }
    bool more = convert_vector_has_entries(&v);
    buf_push_char(out, '[');
    while (refusal == NULL && more) {
        int64_t index;
        if (!convert_vector_read_index(&v, v.count, dimension, &index)) {
            return not_a_vector;
        }
        convert_vector_push_zeros(&v, index - 1);
        if (index > 1) {
            buf_push_char(out, ',');
        }
        refusal = convert_vector_push_component(&v);
        more = convert_vector_next_entry(&v);
    }
    if (refusal != NULL || v.at + 1 != v.end || *v.at != '}') {
        return refusal != NULL ? refusal : not_a_vector;
    }
    convert_vector_push_zeros(&v, dimension);
    buf_push_char(out, ']');
    return convert_vector_check_whole(&v);
}

/* Converts "3:2" to `"3":2`. */
static type_refusal convert_vector_push_feature(struct vector *v, int64_t *last)
{
    const char *name = v->at;
    if (!convert_vector_read_index(v, *last, INT32_MAX, last)) {
        return not_a_vector;
    }
    buf_push_char(v->out, '"');
    buf_push(v->out, name, (size_t)(v->at - 1 - name));
    buf_push_literal(v->out, "\":");
    const char *weight = v->at;
    v->whole = false;
    type_refusal refusal = convert_vector_push_component(v);
    if (refusal != NULL) {
        return refusal;
    }
    bool above = *weight != '-' && convert_vector_approximate(weight, v->at) >= LEAST_WEIGHT;
    return above ? NULL : "a weight that is not above zero";
}

type_refusal convert_features(struct buf *out, const char *text, size_t len,
                              const struct type_pair *pair)
{
    struct vector v = convert_vector_over(out, text, len, pair);
    int64_t dimension;
    int64_t last = 0;
    type_refusal refusal = convert_vector_sparse_begin(&v, &dimension);
    bool more = convert_vector_has_entries(&v);
    buf_push_char(out, '{');
    while (refusal == NULL && more) {
        refusal = convert_vector_push_feature(&v, &last);
        more = convert_vector_next_entry(&v);
        if (more) {
            buf_push_char(out, ',');
        }
    }
    if (refusal != NULL || v.at + 1 != v.end || *v.at != '}') {
        return refusal != NULL ? refusal : not_a_vector;
    }
    buf_push_char(out, '}');
    return NULL;
}
