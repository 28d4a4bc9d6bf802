/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data streams: a name behind which backing indices stand in a row, ".ds-<name>-000001" the first,
 * of which the last is written. A stream takes `create` alone, by its own name: no update, no
 * delete, no version, no routing; no alias stands before it (tried on OpenSearch 2.19.4 and
 * Elasticsearch 8.19.21). 409 says that the last backing index has a document of that id.
 *
 * A stream is ours by `_meta.rowferry` of its mapping, as a generation is (index.h). Its uuid is
 * that of its first backing index, noted in `_meta.rowferry.stream` because some day retention
 * deletes that one, or a lifecycle replaces it (shrunk, or a searchable snapshot). A stream that
 * was deleted and came back by its template has another one.
 */
#ifndef ROWFERRY_SERVICE_STREAM_H
#define ROWFERRY_SERVICE_STREAM_H

#include "rowferry/service/index/index.h"

#define STREAM_TEMPLATE_BYTES 320

/* The name of the index template that is ours: "rowferry-<name>". */
void stream_template_name(char out[STREAM_TEMPLATE_BYTES], const char *name);

/*
 * The first property of a mapping (the object as it is sent) that the template which makes streams
 * of that name lacks, or has of another type, is copied to out; empty: none. By it alone is mapped
 * what comes after a rollover.
 */
int stream_template_lacks(struct service *s, const char *name, const char *mappings,
                          char out[STREAM_TEMPLATE_BYTES], struct err *err) MUST_CHECK;

/*
 * Creates a stream, or makes one that is there fit: its own index template unless another one makes
 * streams of that name (or templates may not be asked for), the stream, and the mapping with its
 * `_meta` on all backing indices. Does no harm twice. mappings: the object with `_meta`; settings:
 * the configured object or null, for the template alone. ERR_REJECTED where the name is an index's
 * or alias's, where a stream that another one built holds documents, or where the other template
 * lacks a property.
 */
int stream_create(struct service *s, const char *name, const char *mappings, const char *settings,
                  struct err *err) MUST_CHECK;

/* Notes the uuid in backing indices that came since (of a template that is not ours). ERR_STATE
 * where the stream is gone or another one, ERR_INTERNAL where its _meta names another pipeline. */
int stream_mark(struct service *s, const struct generation *stream, struct err *err) MUST_CHECK;

#endif
