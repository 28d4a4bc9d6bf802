/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts parts of a value for which no property defines a type, such as a composite's field in a
 * flattened or open object. Numbers, booleans, JSON and dates keep their type; everything else
 * becomes a text.
 */
#pragma once

#include "rowferry/document/convert/type.h"

/* A property without any restrictions. */
extern const struct property natural_property;

/* Returns the converter of a type that is not an array, composite or hstore. */
type_converter convert_natural_converter(const struct column *column);
