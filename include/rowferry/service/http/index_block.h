/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index blocks: recognises, by the text of a refusal, that an index is blocked or closed, and names
 * the request that opens it again. The texts are those of OpenSearch and Elasticsearch. Pure.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/err.h"
#include "rowferry/base/text.h"

/* Returns the setting that lifts the block that the reason names ("index.blocks.write",
 * "cluster.blocks.read_only"), or null if it names none. */
const char *index_block_setting(struct span reason);
/* Adds the hint how to lift the block of this setting on this index. */
void index_block_hint(const char *setting, const char *index, struct err *err);

/* Returns true if the reason or the error type means that the index is closed. */
bool index_block_closed(struct span reason);
/* Adds the hint how to open the index. */
void index_block_closed_hint(const char *index, struct err *err);
