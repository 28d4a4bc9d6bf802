/* SPDX-License-Identifier: Apache-2.0 */
/* Dates and times from PostgreSQL's ISO form, by position: calendar arithmetic is not needed. */
#include "convert/converters.h"

#include <stdint.h>
#include <string.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/buf.h"
#include "json/quote.h"

#define DATE_BYTES 10   /* 2024-03-10 */
#define SECOND_BYTES 19 /* 2024-03-10 07:04:56 */
#define FRACTION_DIGITS 6

static const char no_date[] = "a date that is infinite, BC or after the year 9999";
static const char no_nanos[] = "a date outside 1970-01-01 to 2262-04-11, the range of date_nanos";

/* Returns true if eight bytes match the picture, in which 0 matches a digit (or one of ":;<=>?",
 * which is harmless in a string). */
static inline bool convert_time_looks_like(const char *text, const char *picture, const char *mask)
{
    return (quote_load(text) & quote_load(mask)) == quote_load(picture);
}

static bool convert_time_is_date(const char *text)
{
    return convert_time_looks_like(text, "0000-00-", "\xf0\xf0\xf0\xf0\xff\xf0\xf0\xff") &&
           convert_time_looks_like(text + 2, "00-00-00", "\xf0\xf0\xff\xf0\xf0\xff\xf0\xf0");
}

/* Copies ".123" as ".123000". Returns false if the text is not a fraction. */
static bool convert_time_copy_fraction(char *to, const char *text, size_t len)
{
    memcpy(to, ".000000", FRACTION_DIGITS + 1);
    if (len == 0) {
        return true;
    }
    if (text[0] != '.' || len < 2 || len > FRACTION_DIGITS + 1) {
        return false;
    }
    for (size_t i = 1; i < len; i++) {
        if (!ascii_is_digit(text[i])) {
            return false;
        }
        to[i] = text[i];
    }
    return true;
}

/* `len` excludes the time zone. If `utc` is true, appends "Z". */
static type_refusal convert_time_push_instant(struct buf *out, const char *text, size_t len,
                                              bool utc)
{
    if (len < SECOND_BYTES || !convert_time_is_date(text) || text[DATE_BYTES] != ' ' ||
        !convert_time_looks_like(text + DATE_BYTES + 1, "00:00:00",
                                 "\xf0\xf0\xff\xf0\xf0\xff\xf0\xf0")) {
        return no_date;
    }
    if (!buf_reserve(out, SECOND_BYTES + FRACTION_DIGITS + 4)) {
        return NULL;
    }
    char *to = out->data + out->len;
    *to++ = '"';
    memcpy(to, text, SECOND_BYTES);
    to[DATE_BYTES] = 'T';
    to += SECOND_BYTES;
    if (!convert_time_copy_fraction(to, text + SECOND_BYTES, len - SECOND_BYTES)) {
        return no_date;
    }
    to += FRACTION_DIGITS + 1;
    if (utc) {
        *to++ = 'Z';
    }
    *to++ = '"';
    *to = '\0';
    out->len = (size_t)(to - out->data);
    return NULL;
}

/* Compares up to the length of the shorter text, which is correct for ISO forms. A "+00" behind the
 * seconds sorts before every fraction. */
static bool convert_time_within_nanos(const char *text, size_t len)
{
    static const char last[] = "2262-04-11 23:47:16.854775";
    if (len < DATE_BYTES || memcmp(text, "1970", 4) < 0) {
        return false;
    }
    size_t shared = len < sizeof(last) - 1 ? len : sizeof(last) - 1;
    return memcmp(text, last, shared) <= 0;
}

type_refusal convert_date(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair)
{
    (void)pair;
    if (len != DATE_BYTES || !convert_time_is_date(text)) {
        return no_date;
    }
    quote_push(out, text, len);
    return NULL;
}

type_refusal convert_timestamp(struct buf *out, const char *text, size_t len,
                               const struct type_pair *pair)
{
    (void)pair;
    return convert_time_push_instant(out, text, len, false);
}

type_refusal convert_timestamptz(struct buf *out, const char *text, size_t len,
                                 const struct type_pair *pair)
{
    (void)pair;
    if (len < SECOND_BYTES + 3 || memcmp(text + len - 3, "+00", 3) != 0) {
        return no_date;
    }
    return convert_time_push_instant(out, text, len - 3, true);
}

/* The same for a date_nanos. */
#define NANOS(type)                                                                                \
    type_refusal convert_##type##_nanos(struct buf *out, const char *text, size_t len,             \
                                        const struct type_pair *pair)                              \
    {                                                                                              \
        type_refusal refusal = convert_##type(out, text, len, pair);                               \
        return refusal != NULL || convert_time_within_nanos(text, len) ? refusal : no_nanos;       \
    }

NANOS(date)
NANOS(timestamp)
NANOS(timestamptz)
