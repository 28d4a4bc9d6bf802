/* SPDX-License-Identifier: Apache-2.0 */
/* Parses field values. */
#include "mapping/value.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "rowferry/base/ascii.h"

#define OS (1U << OPENSEARCH)
#define ES (1U << ELASTICSEARCH)
#define BOTH (OS | ES)

static const struct field_type types[] = {
    {"object", FAMILY_OBJECT, BOTH, NULL, 0},
    {"nested", FAMILY_NESTED, BOTH, NULL, 0},
    {"text", FAMILY_TEXT, BOTH, NULL, 0},
    {"semantic", FAMILY_TEXT, OS, NULL, 0}, /* without a model, it is searched as a text */
    {"semantic_text", FAMILY_TEXT, ES, NULL, 0},
    {"keyword", FAMILY_KEYWORD, BOTH, NULL, 0},
    {"wildcard", FAMILY_KEYWORD, BOTH, NULL, 0},
    {"long", FAMILY_INTEGER, BOTH, NULL, 9223372036854775807.0L},
    {"integer", FAMILY_INTEGER, BOTH, NULL, 2147483647.0L},
    {"short", FAMILY_INTEGER, BOTH, NULL, 32767.0L},
    {"byte", FAMILY_INTEGER, BOTH, NULL, 127.0L},
    {"unsigned_long", FAMILY_UNSIGNED, BOTH, NULL, 18446744073709551615.0L},
    {"double", FAMILY_REAL, BOTH, NULL, 1.7976931348623157e308L},
    {"float", FAMILY_REAL, BOTH, NULL, 3.4028235677973366e38L},
    {"half_float", FAMILY_REAL, BOTH, NULL, 65519.99L},
    {"scaled_float", FAMILY_REAL, BOTH, NULL, 1.7976931348623157e308L},
    {"boolean", FAMILY_BOOLEAN, BOTH, NULL, 0},
    {"date", FAMILY_DATE, BOTH, NULL, 0},
    {"date_nanos", FAMILY_DATE, BOTH, NULL, 0},
    {"ip", FAMILY_IP, BOTH, NULL, 0},
    {"binary", FAMILY_BINARY, BOTH, NULL, 0},
    {"flat_object", FAMILY_FLAT, OS, NULL, 0},
    {"flattened", FAMILY_FLAT, ES, NULL, 0},
    {"geo_point", FAMILY_GEO, BOTH, NULL, 0},
    {"geo_shape", FAMILY_GEO, BOTH, NULL, 0},
    {"knn_vector", FAMILY_VECTOR, OS, NULL, 0},
    {"dense_vector", FAMILY_VECTOR, ES, NULL, 0},
    {"integer_range", FAMILY_RANGE, BOTH, "integer", 0},
    {"long_range", FAMILY_RANGE, BOTH, "long", 0},
    {"float_range", FAMILY_RANGE, BOTH, "float", 0},
    {"double_range", FAMILY_RANGE, BOTH, "double", 0},
    {"date_range", FAMILY_RANGE, BOTH, "date", 0},
    {"ip_range", FAMILY_RANGE, BOTH, "ip", 0},
};

const struct field_type *field_type_find(const char *name, enum product product)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(types[i].name, name) == 0 && (types[i].products & (1U << product)) != 0) {
            return &types[i];
        }
    }
    return NULL;
}

bool value_number(struct span text, long double *number)
{
    if (text.len == 0 || text.len > 4096) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (strchr("0123456789+-.eE", text.data[i]) == NULL || text.data[i] == '\0') {
            return false;
        }
    }
    char *copy = text_copy_span(text);
    char *stop;
    *number = strtold(copy, &stop);
    bool whole = *stop == '\0' && stop != copy;
    free(copy);
    return whole;
}

long double value_whole(long double n)
{
    if (n > -9.2e18L && n < 9.2e18L) {
        return (long double)(int64_t)n;
    }
    return n > 0 && n < 1.8446744073709551615e19L ? (long double)(uint64_t)n : n;
}

bool value_ip(struct span text)
{
    char *copy = text_copy_span(text);
    unsigned char address[16];
    bool good = strlen(copy) == text.len &&
                (inet_pton(AF_INET, copy, address) == 1 || inet_pton(AF_INET6, copy, address) == 1);
    free(copy);
    return good;
}

bool value_boolean(struct span text, bool *value)
{
    *value = span_is(text, "true");
    return *value || span_is(text, "false") || text.len == 0;
}

/* A cursor over the text of a date. */
struct clockwork {
    const char *at;
    const char *end;
};

/* Consumes exactly n digits. */
static bool take_digits(struct clockwork *c, int n, int64_t *out)
{
    int64_t value = 0;
    if (c->end - c->at < n) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        if (!ascii_is_digit(c->at[i])) {
            return false;
        }
        value = value * 10 + (c->at[i] - '0');
    }
    c->at += n;
    *out = value;
    return true;
}

static bool take(struct clockwork *c, char expected)
{
    if (c->at < c->end && *c->at == expected) {
        c->at++;
        return true;
    }
    return false;
}

/* Returns the days since 1970-01-01 of a proleptic Gregorian date. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2 ? 1 : 0;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return era * 146097 + day_of_era - 719468;
}

static int64_t month_length(int64_t year, int64_t month)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : lengths[month - 1];
}

/* Parses Z, +HH, +HHMM, +HH:MM, +HH:MM:SS into seconds east of UTC. */
static bool take_offset(struct clockwork *c, int64_t *seconds)
{
    *seconds = 0;
    if (c->at == c->end || take(c, 'Z')) {
        return true;
    }
    int64_t sign = *c->at == '-' ? -1 : 1;
    if (!take(c, '+') && !take(c, '-')) {
        return false;
    }
    int64_t hours;
    int64_t minutes = 0;
    int64_t rest = 0;
    if (!take_digits(c, 2, &hours)) {
        return false;
    }
    bool colon = take(c, ':');
    if ((colon || c->at < c->end) && !take_digits(c, 2, &minutes)) {
        return false;
    }
    if (take(c, ':') && !take_digits(c, 2, &rest)) {
        return false;
    }
    *seconds = sign * (hours * 3600 + minutes * 60 + rest);
    return hours <= 18 && minutes < 60 && rest < 60;
}

/* Parses HH[:mm[:ss[.fraction]]][offset] into milliseconds of the day, UTC. */
static bool take_time(struct clockwork *c, long double *ms)
{
    int64_t hours;
    int64_t minutes = 0;
    int64_t seconds = 0;
    long double fraction = 0;
    if (!take_digits(c, 2, &hours)) {
        return false;
    }
    if (take(c, ':') && !take_digits(c, 2, &minutes)) {
        return false;
    }
    if (take(c, ':') && !take_digits(c, 2, &seconds)) {
        return false;
    }
    if (take(c, '.') || take(c, ',')) {
        long double unit = 100;
        int count = 0;
        for (; c->at < c->end && ascii_is_digit(*c->at); c->at++, count++, unit /= 10) {
            fraction += unit * (*c->at - '0');
        }
        if (count == 0 || count > 9) {
            return false;
        }
    }
    int64_t offset;
    if (!take_offset(c, &offset) || hours > 23 || minutes > 59 || seconds > 59) {
        return false;
    }
    *ms = (long double)((hours * 3600 + minutes * 60 + seconds - offset) * 1000) + fraction;
    return true;
}

/* Parses yyyy[-MM[-dd[(T| )time]]]. */
static bool iso_date(struct span text, char between, long double *ms)
{
    struct clockwork c = {text.data, text.data + text.len};
    bool negative = take(&c, '-');
    int64_t year;
    int64_t month = 1;
    int64_t day = 1;
    long double time = 0;
    if (!take_digits(&c, 4, &year)) {
        return false;
    }
    year = negative ? -year : year;
    if (take(&c, '-') && !take_digits(&c, 2, &month)) {
        return false;
    }
    if (month < 1 || month > 12 || (take(&c, '-') && !take_digits(&c, 2, &day))) {
        return false;
    }
    if (day < 1 || day > month_length(year, month)) {
        return false;
    }
    if (take(&c, between) && !take_time(&c, &time)) {
        return false;
    }
    *ms = (long double)(days_of(year, month, day) * 86400000) + time;
    return c.at == c.end;
}

static bool iso(struct span text, long double *ms)
{
    return iso_date(text, 'T', ms);
}

static bool blank(struct span text, long double *ms)
{
    return text.len == 19 && iso_date(text, ' ', ms);
}

static bool day_only(struct span text, long double *ms)
{
    return text.len == 10 && iso_date(text, 'T', ms);
}

static bool epoch_millis(struct span text, long double *ms)
{
    return memchr(text.data, 'e', text.len) == NULL && memchr(text.data, 'E', text.len) == NULL &&
           value_number(text, ms) && *ms <= 9223372036854775807.0L &&
           *ms >= -9223372036854775808.0L;
}

static bool epoch_second(struct span text, long double *ms)
{
    bool good = epoch_millis(text, ms);
    *ms *= 1000;
    return good;
}

static const struct {
    const char *name;
    bool (*read)(struct span text, long double *ms);
} formats[] = {
    {"strict_date_optional_time", iso},
    {"date_optional_time", iso},
    {"strict_date_optional_time_nanos", iso},
    {"epoch_millis", epoch_millis},
    {"epoch_second", epoch_second},
    {"strict_date", day_only},
    {"date", day_only},
    {"yyyy-MM-dd", day_only},
    {"yyyy-MM-dd HH:mm:ss", blank},
};

static int format_index(struct span name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (span_is(name, formats[i].name)) {
            return (int)i;
        }
    }
    return -1;
}

/* Returns the next name of "a||b"; false at the end. */
static bool next_format(const char **at, struct span *name)
{
    if (**at == '\0') {
        return false;
    }
    const char *stop = strstr(*at, "||");
    *name = span_make(*at, stop != NULL ? (size_t)(stop - *at) : strlen(*at));
    *at += name->len + (stop != NULL ? 2 : 0);
    return true;
}

bool value_date_format_known(const char *format)
{
    struct span name;
    while (next_format(&format, &name)) {
        if (format_index(name) < 0) {
            return false;
        }
    }
    return true;
}

bool value_date(struct span text, const char *format, long double *ms)
{
    struct span name;
    if (text.len == 0 || text.len > 128) {
        return false;
    }
    while (next_format(&format, &name)) {
        int i = format_index(name);
        if (i >= 0 && formats[i].read(text, ms)) {
            return true;
        }
    }
    return false;
}
