/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a part of a value becomes where no property says what it has to be: a composite's field in a
 * flattened or open object. Numbers, booleans, JSON and dates as what they are, all else a text.
 */
#ifndef ROWFERRY_DOCUMENT_CONVERT_NATURAL_H
#define ROWFERRY_DOCUMENT_CONVERT_NATURAL_H

#include "rowferry/document/convert/type.h"

/* A property that asks for nothing. */
extern const struct property natural_property;

/* For a type that is neither array, composite nor hstore. */
type_converter natural_converter(const struct column *column);

#endif
