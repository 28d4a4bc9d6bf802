/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Default values of mapping parameters.
 */
#pragma once

#include <stdbool.h>

/* Returns true if `value` is the parameter's default. `type` is the property's, "" for the whole
 * mapping; `value` is a text without quotes, null for JSON null. Services may omit or add such a
 * parameter in the mapping that they return. */
bool mapping_is_default(const char *type, const char *parameter, const char *value);
