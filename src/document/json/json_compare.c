/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of valid JSON with their escapes resolved, iteration, and comparison of scalars. */
#include "rowferry/document/json/json_compare.h"

#include <stdint.h>
#include <string.h>

#include "rowferry/base/ascii.h"

/* --- strings -----------------------------------------------------------------------------------
 */

const char *json_string_end(const char *from, const char *end)
{
    for (const char *p = from + 1; p < end; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (p == NULL) {
            return NULL;
        }
        const char *back = p;
        while (back[-1] == '\\') { /* stops at the opening quote at the latest */
            back--;
        }
        if ((p - back) % 2 == 0) {
            return p;
        }
    }
    return NULL;
}

/* Returns the code unit of "\uXXXX" at p, or 0x10000 if p does not point at such an escape. */
static uint32_t json_name_code_unit(const char *p, const char *end)
{
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') {
        return 0x10000;
    }
    return ((uint32_t)ascii_hex_byte(p + 2, 2) << 8 | (uint32_t)ascii_hex_byte(p + 4, 2)) & 0xffff;
}

/* Reads the escape at *at, which has at least two bytes, and steps behind it. */
static uint32_t json_name_read_escape(const char **at, const char *end)
{
    static const char letters[128] = {
        ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};
    uint32_t code = json_name_code_unit(*at, end);
    if (code > 0xffff) {
        unsigned char letter = (unsigned char)(*at)[1] & 127;
        *at += 2;
        return letters[letter] != 0 ? (uint32_t)letters[letter] : letter;
    }
    *at += 6;
    uint32_t low = code >> 10 == 0xd800 >> 10 ? json_name_code_unit(*at, end) : 0;
    if (low >> 10 != 0xdc00 >> 10) {
        return code;
    }
    *at += 6;
    return 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
}

/* Reads a string byte by byte, with escapes resolved. */
struct json_reader {
    const char *at;
    const char *end;
    char bytes[4]; /* bytes of an escape; unread from `next` on */
    size_t next, count;
};

/* Returns the next byte, or -1 at the end. */
static int json_name_next_byte(struct json_reader *r)
{
    if (r->next < r->count) {
        return (unsigned char)r->bytes[r->next++];
    }
    if (r->at == r->end) {
        return -1;
    }
    if (*r->at != '\\' || r->end - r->at < 2) {
        return (unsigned char)*r->at++;
    }
    r->count = ascii_utf8(r->bytes, json_name_read_escape(&r->at, r->end));
    r->next = 1;
    return (unsigned char)r->bytes[0];
}

int json_name_compare(struct span a, struct span b)
{
    struct json_reader left = {.at = a.data, .end = a.data + a.len};
    struct json_reader right = {.at = b.data, .end = b.data + b.len};
    for (;;) {
        int one = json_name_next_byte(&left);
        int other = json_name_next_byte(&right);
        if (one != other || one < 0) {
            return one - other;
        }
    }
}

size_t json_name_decode(char *to, struct span text)
{
    struct json_reader reader = {.at = text.data, .end = text.data + text.len};
    size_t len = 0;
    for (int byte = json_name_next_byte(&reader); byte >= 0; byte = json_name_next_byte(&reader)) {
        to[len++] = (char)byte;
    }
    return len;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void json_compare_skip_blanks(struct json_steps *s)
{
    while (s->at < s->end && ascii_is_blank(*s->at)) {
        s->at++;
    }
}

static void json_compare_skip_string(struct json_steps *s)
{
    const char *close = json_string_end(s->at, s->end);
    s->at = close != NULL ? close + 1 : s->end;
}

static void json_compare_skip_nested(struct json_steps *s)
{
    size_t depth = 0;
    while (s->at < s->end) {
        char c = *s->at;
        if (c == '"') {
            json_compare_skip_string(s);
            continue;
        }
        s->at++;
        depth += c == '{' || c == '[';
        if ((c == '}' || c == ']') && --depth == 0) {
            return;
        }
    }
}

static struct span json_compare_take_value(struct json_steps *s)
{
    json_compare_skip_blanks(s);
    const char *from = s->at;
    if (s->at == s->end) {
        return span_make(from, 0);
    }
    if (*from == '"') {
        json_compare_skip_string(s);
    } else if (*from == '{' || *from == '[') {
        json_compare_skip_nested(s);
    } else {
        while (s->at < s->end && strchr(",]} \n\t\r", *s->at) == NULL) {
            s->at++;
        }
    }
    return span_make(from, (size_t)(s->at - from));
}

struct json_steps json_steps_into(struct span container)
{
    struct json_steps s = {container.data, container.data + container.len};
    json_compare_skip_blanks(&s);
    s.at += s.at < s.end;
    return s;
}

/* Returns true if another item follows. */
static bool json_compare_more(struct json_steps *s)
{
    json_compare_skip_blanks(s);
    if (s->at < s->end && *s->at == ',') {
        s->at++;
        json_compare_skip_blanks(s);
    }
    return s->at < s->end && *s->at != ']' && *s->at != '}';
}

bool json_steps_element(struct json_steps *s, struct span *value)
{
    if (!json_compare_more(s)) {
        return false;
    }
    *value = json_compare_take_value(s);
    return value->len > 0;
}

bool json_steps_member(struct json_steps *s, struct span *name, struct span *value)
{
    if (!json_compare_more(s) || *s->at != '"') {
        return false;
    }
    *name = json_compare_take_value(s);
    *name = span_make(name->data + 1, name->len < 2 ? 0 : name->len - 2);
    json_compare_skip_blanks(s);
    s->at += s->at < s->end && *s->at == ':';
    *value = json_compare_take_value(s);
    return value->len > 0;
}

struct span json_steps_find(struct json_steps *s, struct span name)
{
    struct span other;
    struct span value;
    while (json_steps_member(s, &other, &value)) {
        if (json_name_compare(other, name) == 0) {
            return value;
        }
    }
    return span_make(NULL, 0);
}

struct span json_trim(struct span value)
{
    while (value.len > 0 && ascii_is_blank(value.data[0])) {
        value = span_make(value.data + 1, value.len - 1);
    }
    while (value.len > 0 && ascii_is_blank(value.data[value.len - 1])) {
        value.len--;
    }
    return value;
}

/* --- scalars ---------------------------------------------------------------------------------- */

/* Reads "e+12" at *at and adds it to the magnitude. Returns false if it is not a valid exponent. */
static bool json_number_read_exponent(const char **at, const char *end, long *magnitude)
{
    const char *p = *at + 1;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '+' || *p == '-')) {
        p++;
    }
    long exponent = 0;
    const char *first = p;
    for (; p < end && ascii_is_digit(*p) && exponent < 1000000000000; p++) {
        exponent = exponent * 10 + (*p - '0');
    }
    *magnitude += negative ? -exponent : exponent;
    *at = p;
    return p > first;
}

/* Reads digits from *at; leading ones count as zeros until a non-zero digit. */
static void json_number_read_digits(const char **at, const char *end, struct json_number *d)
{
    const char *p = *at;
    for (; p < end && ascii_is_digit(*p); p++) {
        if (d->zero && *p != '0') {
            d->zero = false;
            d->digits = p;
        }
    }
    *at = p;
}

bool json_number_read(struct json_number *d, struct span text)
{
    const char *p = text.data;
    const char *end = p + text.len;
    *d = (struct json_number){.negative = p < end && *p == '-', .zero = true};
    p += d->negative;
    const char *first = p;
    json_number_read_digits(&p, end, d);
    if (p == first || (*first == '0' && p - first > 1)) {
        return false;
    }
    d->magnitude = d->zero ? 0 : p - d->digits;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        bool whole = !d->zero;
        json_number_read_digits(&p, end, d);
        if (p == fraction) {
            return false;
        }
        if (!whole && !d->zero) {
            d->magnitude = fraction - d->digits;
        }
    }
    d->end = p;
    if (p < end && (*p == 'e' || *p == 'E') && !json_number_read_exponent(&p, end, &d->magnitude)) {
        return false;
    }
    return p == end;
}

static bool json_compare_number_same(struct span a, struct span b)
{
    struct json_number x;
    struct json_number y;
    if (!json_number_read(&x, a) || !json_number_read(&y, b)) {
        return false;
    }
    if (x.zero || y.zero) {
        return x.zero == y.zero;
    }
    bool same = x.negative == y.negative && x.magnitude == y.magnitude;
    for (const char *p = x.digits, *q = y.digits; same && (p < x.end || q < y.end);) {
        p += p < x.end && *p == '.';
        q += q < y.end && *q == '.';
        same = (p < x.end ? *p++ : '0') == (q < y.end ? *q++ : '0');
    }
    return same;
}

bool json_scalar_same(struct span a, struct span b)
{
    if (span_equal(a, b)) {
        return true;
    }
    if (a.len >= 2 && b.len >= 2 && a.data[0] == '"' && b.data[0] == '"') {
        return json_name_compare(span_make(a.data + 1, a.len - 2),
                                 span_make(b.data + 1, b.len - 2)) == 0;
    }
    return json_compare_number_same(a, b);
}
