/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data streams and the index templates that make them. A stream is what its backing indices say:
 * it is there as long as one of them is.
 */
#ifndef DEVSEARCH_STREAMS_H
#define DEVSEARCH_STREAMS_H

#include "api/server.h"
#include "api/write.h"

/* Whether it is a backing index of that stream. */
bool index_is_of(const struct index *ix, const char *stream);

/* The backing index that is written, or null. */
struct index *stream_newest(const struct catalogue *c, const char *name);

/* The template of the highest priority that fits, where it makes data streams; else null. */
const struct template *stream_template(const struct catalogue *c, const char *name);

/* What the template that fits gives an index of this name; null = none. Of an index that is no
 * stream's devsearch takes nothing else from its template. */
struct json_object *template_aliases(const struct catalogue *c, const char *name);

/* A new stream by its template, which is there: its first backing index. */
struct index *stream_begin(struct catalogue *c, const char *name, struct refusal *refusal);

/* What the real ones refuse: anything but a create by the stream's name; */
int stream_check_write(const struct server *s, const struct index *ix, const struct write *w,
                       struct refusal *refusal);
/* a document without a time; */
int stream_check_time(const struct server *s, const struct index *ix, const struct write *w,
                      struct refusal *refusal);
/* an index where a template makes streams, or by the name of one; */
int stream_check_index(const struct catalogue *c, const char *name, struct refusal *refusal);
/* the deletion of the index that is written. */
int stream_check_delete(const struct catalogue *c, const struct index *ix, struct refusal *refusal);

#endif
