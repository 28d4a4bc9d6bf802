/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of single fields as the service reads them: numbers, dates, addresses. Pure.
 */
#ifndef DEVSEARCH_VALUE_H
#define DEVSEARCH_VALUE_H

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
    const char *range_of; /* the type of the bounds, for FAMILY_RANGE */
    long double max;      /* the largest value of numbers; the smallest is -max - 1 for integers */
};

/* The type of that name that the product knows, or null. */
const struct field_type *field_type_find(const char *name, enum product product);

/* A number written in decimal; false where the text is anything else. */
bool value_number(struct span text, long double *number);

/* Without its fraction (large ones have none). */
long double value_whole(long double n);

/* Milliseconds since 1970 (with a fraction). format: names joined by "||". */
bool value_date(struct span text, const char *format, long double *ms);

/* Every name of the format is one that value_date reads. */
bool value_date_format_known(const char *format);

#define VALUE_DATE_FORMAT "strict_date_optional_time||epoch_millis"

bool value_ip(struct span text);

/* "true" and "false"; "" counts as false. */
bool value_boolean(struct span text, bool *value);

#endif
