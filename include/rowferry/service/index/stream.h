/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data streams: one name for a sequence of backing indices, beginning with ".ds-<name>-000001".
 * Only the last one is written. A stream accepts only `create`, by its own name: no update, delete,
 * version or routing, and no alias can point at it (tried on OpenSearch 2.19.4 and Elasticsearch
 * 8.19.21). A 409 means that the last backing index has a document with that id.
 *
 * A stream is ours if `_meta.rowferry` of its mapping names us, as with a generation (index.h). Its
 * uuid is that of its first backing index. `_meta.rowferry.stream` records it, because retention
 * may delete that index, or a lifecycle may replace it (shrunk, or a searchable snapshot). A stream
 * that was deleted and recreated by its template has another uuid.
 */
#pragma once

#include "rowferry/service/index/index.h"

#define STREAM_TEMPLATE_BYTES 320

/* Formats the name of our index template: "rowferry-<name>". */
void stream_template_name(char out[STREAM_TEMPLATE_BYTES], const char *name);

/*
 * Finds the first property of mappings (the object as sent) that is missing or has another type in
 * the template that applies to this stream name. Copies its name to out; empty if there is none.
 * Only the template defines the mapping after a rollover.
 */
int stream_template_lacks(struct service *s, const char *name, const char *mappings,
                          char out[STREAM_TEMPLATE_BYTES], struct err *err) MUST_CHECK;

/*
 * Creates a stream or completes an existing one: its index template, the stream, and the mapping
 * with `_meta` on all backing indices. No template is created if another one applies to the name or
 * if templates may not be read. Idempotent. mappings is the object with `_meta`; settings is the
 * configured object or null, used in the template only. ERR_REJECTED if the name belongs to an
 * index or alias, if the stream belongs to another pipeline, if it belongs to none and holds
 * documents, or if the other template lacks a property.
 */
int stream_create(struct service *s, const char *name, const char *mappings, const char *settings,
                  struct err *err) MUST_CHECK;

/* Records the uuid in newer backing indices, which a template that is not ours created. ERR_STATE
 * if the stream is missing or another one, ERR_INTERNAL if its _meta names another pipeline. */
int stream_mark(struct service *s, const struct generation_id *stream, struct err *err) MUST_CHECK;
