/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files that compare two mappings. */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

/* Returns true if two values of a parameter mean the same to the services: "true" and true, "100"
 * and 100.0, an empty object and a missing one. */
bool mapdiff_value_same(struct json_object *a, struct json_object *b);

/* Returns true if `value` is the parameter's default. `type` is the property's, "" for the whole
 * mapping; `value` is a text without quotes, null for JSON null. Services may omit or add such a
 * parameter in the mapping that they return. */
bool mapping_is_default(const char *type, const char *parameter, const char *value);
