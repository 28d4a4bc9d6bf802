/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equality of two values of a mapping's parameter, as the services see it. Pure.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

/* Returns true if the values mean the same: "true" and true, "100" and 100.0, an empty object and a
 * missing one. */
bool mapdiff_value_same(struct json_object *a, struct json_object *b);
