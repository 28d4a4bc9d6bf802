/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index blocks: recognises, by the text of a refusal, that an index is blocked or closed, and names
 * the request that opens it again. The texts are those of OpenSearch and Elasticsearch. Pure.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/err.h"
#include "rowferry/base/text.h"

/* If the reason or the error type means that the index is blocked or closed, adds the hint what
 * opens it and returns true. `index` is the name for the request in the hint. */
bool index_block_hint(struct span reason, const char *index, struct err *err);
