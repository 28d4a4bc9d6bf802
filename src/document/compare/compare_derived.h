/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of a value in a source that the service derives from what it indexed. */
#ifndef ROWFERRY_DOCUMENT_COMPARE_DERIVED_H
#define ROWFERRY_DOCUMENT_COMPARE_DERIVED_H

#include "rowferry/base/text.h"
#include "rowferry/document/mapping/mapping.h"

/* Whether its values come back in a form that can be compared. */
bool derived_comparable(const struct property *p);

/* The same set of values; data null: the member is not there. */
bool derived_same(const struct property *p, struct span row, struct span indexed);

/* Two numbers as a 32-bit float holds them, but for its last digits. */
bool compare_as_floats(struct span a, struct span b);

#endif
