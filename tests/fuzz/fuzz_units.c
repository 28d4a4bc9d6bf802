/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the parsers of durations and sizes with a second implementation, and checks the texts
 * for people. */
#include <inttypes.h>
#include <string.h>

#include "fuzz.h"
#include "rowferry/base/units.h"

__extension__ typedef unsigned __int128 wide; /* wide enough for any sum */

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit durations[] = {{"ms", 1},          {"s", 1000},     {"m", 60 * 1000},
                                        {"h", 3600 * 1000}, {"d", 86400000}, {NULL, 0}};
static const struct unit sizes[] = {
    {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0}};

/* The unit follows the digits; the number is evaluated from its last digit. */
static bool value_of(const char *text, const struct unit *units, int64_t *value)
{
    size_t digits = 0;
    wide sum = 0;
    while (text[digits] >= '0' && text[digits] <= '9') {
        digits++;
    }
    while (units->name != NULL && strcmp(units->name, text + digits) != 0) {
        units++;
    }
    if (digits == 0 || units->name == NULL) {
        return false;
    }
    wide place = (wide)units->factor;
    for (size_t i = digits; i-- > 0 && sum <= INT64_MAX;) {
        sum += place * (unsigned)(text[i] - '0');
        place = place > INT64_MAX ? (wide)INT64_MAX + 1 : place * 10;
    }
    *value = (int64_t)sum;
    return sum <= INT64_MAX;
}

static void compare(const char *text, bool read, int64_t value, const struct unit *units)
{
    int64_t expected = 0;
    bool readable = value_of(text, units, &expected);
    FUZZ_EXPECT(read == readable, "\"%s\" is %s", text, read ? "taken" : "refused");
    FUZZ_EXPECT(!read || value == expected, "\"%s\" is read as %" PRId64 ", not %" PRId64, text,
                value, expected);
}

/* Any number must result in a short text. */
static void say(int64_t value)
{
    char *(*const say_it[])(char *, int64_t) = {units_size, units_duration, units_count};
    for (size_t i = 0; i < sizeof(say_it) / sizeof(say_it[0]); i++) {
        char out[UNITS_BYTES];
        memset(out, '#', sizeof(out));
        say_it[i](out, value);
        const char *end = memchr(out, '\0', sizeof(out));
        FUZZ_EXPECT(end != NULL && end > out, "%" PRId64 " has no text", value);
        FUZZ_EXPECT(value >= 0 || out[0] == '-', "%" PRId64 " became %s", value, out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t value = 0;
    char *text = fuzz_text(data, size);
    bool read = units_parse_duration(text, &value);
    compare(text, read, value, durations);
    read = units_parse_size(text, &value);
    compare(text, read, value, sizes);
    free(text);
    if (size >= sizeof(value)) {
        memcpy(&value, data, sizeof(value));
        say(value);
    }
    return 0;
}
