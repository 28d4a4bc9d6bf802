/* SPDX-License-Identifier: Apache-2.0 */
/* Compares values with a source that the service derives from the indexed data. */
#pragma once

#include "rowferry/base/text.h"
#include "rowferry/document/mapping/mapping.h"

/* Returns true if the property's values are returned in a form that can be compared. */
bool compare_derived_comparable(const struct property *p);

/* Compares two sets of values; data is null if the member is absent. */
bool compare_derived_same(const struct property *p, struct span row, struct span indexed);

/* Returns the value of the child in an object; data is null if it is absent. */
struct span compare_derived_member(struct span object, const struct property *child);

/* Compares two numbers with the precision of a 32-bit float, except its last digits. */
bool compare_as_floats(struct span a, struct span b);
