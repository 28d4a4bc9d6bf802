/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses values of single fields like the service: numbers, dates, addresses. Pure.
 */
#pragma once

#include "base/answer.h"

#include <stdbool.h>

enum family {
    FAMILY_OBJECT,
    FAMILY_NESTED,
    FAMILY_TEXT,
    FAMILY_KEYWORD,
    FAMILY_INTEGER,
    FAMILY_UNSIGNED,
    FAMILY_REAL,
    FAMILY_BOOLEAN,
    FAMILY_DATE,
    FAMILY_IP,
    FAMILY_BINARY,
    FAMILY_FLAT,
    FAMILY_GEO,
    FAMILY_VECTOR,
    FAMILY_RANGE,
};

struct field_type {
    const char *name;
    enum family family;
    unsigned products;    /* bits 1 << enum product */
    const char *range_of; /* type of the bounds, for FAMILY_RANGE */
    long double max;      /* largest number; the smallest integer is -max - 1 */
};

/* Returns the type of that name if the product has it, or null. */
const struct field_type *field_type_find(const char *name, enum product product);

/* Parses a decimal number; returns false for any other text. */
bool value_number(struct span text, long double *number);

/* Removes the fraction (large numbers have none). */
long double value_whole(long double n);

/* Parses a date into milliseconds since 1970, with a fraction. format: names joined by "||". */
bool value_date(struct span text, const char *format, long double *ms);

/* Returns true if value_date supports every name of the format. */
bool value_date_format_known(const char *format);

#define VALUE_DATE_FORMAT "strict_date_optional_time||epoch_millis"

bool value_ip(struct span text);

/* Parses "true" and "false"; "" is false. */
bool value_boolean(struct span text, bool *value);
