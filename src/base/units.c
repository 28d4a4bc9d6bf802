/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing and formatting of durations, sizes and counts. */
#include "rowferry/base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t factor;
};

static bool units_parse(const char *text, const struct unit *units, int64_t *result)
{
    size_t digits = strspn(text, "0123456789");
    int64_t value = 0;
    for (size_t i = 0; i < digits; i++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[i] - '0', &value)) {
            return false;
        }
    }
    for (; digits > 0 && units->name != NULL; units++) {
        if (strcmp(text + digits, units->name) == 0) {
            return !__builtin_mul_overflow(value, units->factor, result);
        }
    }
    return false;
}

bool units_parse_count(const char *text, int64_t *count)
{
    static const struct unit units[] = {{"", 1}, {NULL, 0}};
    return units_parse(text, units, count);
}

bool units_parse_duration(const char *text, int64_t *ms)
{
    static const struct unit units[] = {
        {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}, {NULL, 0},
    };
    return units_parse(text, units, ms);
}

bool units_parse_size(const char *text, int64_t *bytes)
{
    static const struct unit units[] = {
        {"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {NULL, 0},
    };
    return units_parse(text, units, bytes);
}

/* Returns the absolute value, which is correct for INT64_MIN too, and the sign as text. */
static uint64_t units_magnitude(int64_t value, const char **sign)
{
    *sign = value < 0 ? "-" : "";
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

char *units_size(char *out, int64_t bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    const char *sign;
    uint64_t size = units_magnitude(bytes, &sign);
    if (size < 1024) {
        snprintf(out, UNITS_BYTES, "%s%" PRIu64 " B", sign, size);
        return out;
    }
    double value = (double)size;
    size_t i = 0;
    /* 1023.95 would be printed as 1024.0 */
    while (value >= 1023.95 && i + 1 < sizeof(names) / sizeof(names[0])) {
        value /= 1024;
        i++;
    }
    snprintf(out, UNITS_BYTES, "%s%.1f %s", sign, value, names[i]);
    return out;
}

char *units_duration(char *out, int64_t ms)
{
    const char *sign;
    uint64_t total_ms = units_magnitude(ms, &sign);
    uint64_t s = total_ms / 1000;
    if (total_ms < 1000) {
        snprintf(out, UNITS_BYTES, "%s%" PRIu64 "ms", sign, total_ms);
    } else if (s < 10) {
        snprintf(out, UNITS_BYTES, "%s%" PRIu64 ".%" PRIu64 "s", sign, s, total_ms % 1000 / 100);
    } else if (s < 60) {
        snprintf(out, UNITS_BYTES, "%s%" PRIu64 "s", sign, s);
    } else if (s < 3600) {
        snprintf(out, UNITS_BYTES, "%s%" PRIu64 "m %" PRIu64 "s", sign, s / 60, s % 60);
    } else if (s < 86400) {
        snprintf(out, UNITS_BYTES, "%s%" PRIu64 "h %" PRIu64 "m", sign, s / 3600, s % 3600 / 60);
    } else {
        snprintf(out, UNITS_BYTES, "%s%" PRIu64 "d %" PRIu64 "h", sign, s / 86400,
                 s % 86400 / 3600);
    }
    return out;
}

char *units_count(char *out, int64_t n)
{
    const char *sign;
    char digits[UNITS_BYTES];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, units_magnitude(n, &sign));
    char *at = out;
    if (*sign != '\0') {
        *at++ = *sign;
    }
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            *at++ = ',';
        }
        *at++ = digits[i];
    }
    *at = '\0';
    return out;
}
