/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as PostgreSQL writes them, compared with a range as texts. They are never converted to a
 * double, so that 40 digits arrive as 40 digits.
 */
#include "convert/converters.h"

#include <stdint.h>
#include <string.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/buf.h"
#include "rowferry/document/json/json_compare.h"
#include "json/quote.h"

/*
 * The largest and the smallest number, as the digits before the point without leading zeros. A
 * float type accepts numbers that round to its largest finite number, so its limit is the truncated
 * digits of that bound.
 */
struct range {
    int magnitude;   /* digits of the largest before the point */
    const char *max; /* its digits, followed by zeros */
    const char *min; /* the same for the smallest, without its sign; null: no negative numbers */
    const char *over;
    bool cuts; /* the service truncates the fraction before it compares, so ignore it */
};

static const struct range byte_range = {3, "127", "128", "a number out of the range of a byte",
                                        true};
static const struct range short_range = {5, "32767", "32768",
                                         "a number out of the range of a short", true};
/* Both products parse an integer with a parser that compares the fraction, too. */
static const struct range integer_range = {10, "2147483647", "2147483648",
                                           "a number out of the range of an integer", false};
static const struct range long_range = {19, "9223372036854775807", "9223372036854775808",
                                        "a number out of the range of a long", true};
static const struct range unsigned_long_range = {
    20, "18446744073709551615", NULL, "a number out of the range of an unsigned_long", true};
static const struct range half_float_range = {5, "65519", "65519",
                                              "a number out of the range of a half_float", false};
static const struct range float_range = {39, "340282356779733661", "340282356779733661",
                                         "a number out of the range of a float", false};
static const struct range double_range = {309, "17976931348623158079", "17976931348623158079",
                                          "a number out of the range of a double", false};

/* Returns true if the digits are at most those of the limit, both read as fractions "0.ddd". The
 * limit of a range with `cuts` has all digits before the point. */
static bool convert_number_digits_within(const struct json_number *d, const char *limit, bool cuts)
{
    for (const char *p = d->digits; p < d->end && !(cuts && *limit == '\0'); p++) {
        if (*p == '.') {
            continue;
        }
        char most = *limit != '\0' ? *limit++ : '0';
        if (*p != most) {
            return *p < most;
        }
    }
    return true;
}

static bool convert_number_decimal_within(const struct json_number *d, const struct range *range)
{
    if (d->zero || (range->cuts && d->magnitude <= 0)) {
        return true;
    }
    const char *limit = d->negative ? range->min : range->max;
    if (limit == NULL || d->magnitude > range->magnitude) {
        return false;
    }
    return d->magnitude < range->magnitude || convert_number_digits_within(d, limit, range->cuts);
}

/* Returns true if all eight bytes are digits. */
static inline bool convert_number_are_digits(uint64_t word)
{
    const uint64_t high = QUOTE_ONES * 0xf0;
    return ((word & high) | ((word + QUOTE_ONES * 0x06) & high) >> 4) == QUOTE_ONES * 0x33;
}

/* Copies 4 to 16 digits in two steps that overlap. Returns false if there are other bytes among
 * them. */
static inline bool convert_number_copy_digits(char *to, const char *text, size_t len)
{
    if (len >= sizeof(uint64_t)) {
        uint64_t head = quote_load(text);
        uint64_t tail = quote_load(text + len - sizeof(tail));
        memcpy(to, &head, sizeof(head));
        memcpy(to + len - sizeof(tail), &tail, sizeof(tail));
        return convert_number_are_digits(head) && convert_number_are_digits(tail);
    }
    uint32_t head = quote_load_half(text);
    uint32_t tail = quote_load_half(text + len - sizeof(tail));
    memcpy(to, &head, sizeof(head));
    memcpy(to + len - sizeof(tail), &tail, sizeof(tail));
    return convert_number_are_digits((uint64_t)head << 32 | tail);
}

/* Copies digits with at most one point among them. */
static bool convert_number_copy_decimal(char *to, const char *text, size_t len)
{
    size_t i = 0;
    for (; i < len && ascii_is_digit(text[i]); i++) {
        to[i] = text[i];
    }
    if (i == len || i == 0 || text[i] != '.' || i + 1 == len) {
        return i == len;
    }
    to[i++] = '.';
    for (; i < len && ascii_is_digit(text[i]); i++) {
        to[i] = text[i];
    }
    return i == len;
}

/* Handles the common case quickly: no exponent, and at most as many bytes as the largest number has
 * digits. Returns false in all other cases. `to` has room for len bytes. */
static bool convert_number_copy_short_number(char *to, const char *text, size_t len,
                                             const struct range *range)
{
    size_t sign = len > 0 && text[0] == '-' && range->min != NULL;
    to[0] = '-';
    to += sign;
    text += sign;
    len -= sign;
    if (len == 0 || len >= (size_t)range->magnitude ||
        (text[0] == '0' && len > 1 && text[1] != '.')) {
        return false;
    }
    return (len >= 4 && len <= 16 && convert_number_copy_digits(to, text, len)) ||
           convert_number_copy_decimal(to, text, len);
}

static type_refusal convert_number_push_slow_number(struct buf *out, const char *text, size_t len,
                                                    const struct range *range)
{
    struct json_number d;
    if (!json_number_read(&d, span_make(text, len))) {
        return "not a finite number";
    }
    if (!convert_number_decimal_within(&d, range)) {
        return range->over;
    }
    buf_push(out, text, len);
    return NULL;
}

static type_refusal convert_number_push(struct buf *out, const char *text, size_t len,
                                        const struct range *range)
{
    if (!buf_reserve(out, len + 1)) {
        return NULL;
    }
    if (!convert_number_copy_short_number(out->data + out->len, text, len, range)) {
        return convert_number_push_slow_number(out, text, len, range);
    }
    out->len += len;
    out->data[out->len] = '\0';
    return NULL;
}

#define CONVERTER(type)                                                                            \
    type_refusal convert_##type(struct buf *out, const char *text, size_t len,                     \
                                const struct type_pair *pair)                                      \
    {                                                                                              \
        (void)pair;                                                                                \
        return convert_number_push(out, text, len, &type##_range);                                 \
    }

CONVERTER(byte)
CONVERTER(short)
CONVERTER(integer)
CONVERTER(long)
CONVERTER(unsigned_long)
CONVERTER(half_float)
CONVERTER(float)
CONVERTER(double)

type_refusal convert_coordinate_refusal(struct span number, enum coordinate coordinate)
{
    static const struct range ranges[] = {
        [LATITUDE] = {2, "9", "9", "a latitude beyond 90 degrees", false},
        [LONGITUDE] = {3, "18", "18", "a longitude beyond 180 degrees", false},
        [SHAPE_LONGITUDE] = {3, "36", "36", "a longitude beyond 360 degrees", false},
    };
    struct json_number d;
    if (!json_number_read(&d, number)) {
        return "not a finite number";
    }
    return convert_number_decimal_within(&d, &ranges[coordinate]) ? NULL : ranges[coordinate].over;
}
