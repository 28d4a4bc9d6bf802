/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of the differential test: type, property, how the document differs from to_jsonb and
 * which values the property cannot hold (both by name, see differential.sql).
 */
#pragma once

#include <stddef.h>

#define KIND_VALUES 20

struct kind {
    const char *type;
    const char *property;
    const char *rule;
    const char *limit;               /* "" if every value fits */
    const char *values[KIND_VALUES]; /* SQL; %u becomes a random number, %% a percent sign */
};

extern const struct kind kinds[];
extern const size_t kind_count;
