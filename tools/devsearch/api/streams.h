/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data streams and the index templates that create them. A stream has no entry of its own: it
 * exists while it has backing indices.
 */
#pragma once

#include "api/server.h"
#include "api/write.h"

/* Returns true if ix is a backing index of the stream. */
bool index_is_of(const struct index *ix, const char *stream);

/* Returns the write index of the stream, or null. */
struct index *stream_newest(const struct catalogue *c, const char *name);

/* Returns the matching template with the highest priority if it creates data streams, else null. */
const struct template *stream_template(const struct catalogue *c, const char *name);

/* Returns the aliases that the matching template adds to an index of this name, or null. For plain
 * indices, devsearch applies nothing else of a template. */
struct json_object *template_aliases(const struct catalogue *c, const char *name);

/* Creates a stream with its first backing index; its template must exist. */
struct index *stream_begin(struct catalogue *c, const char *name, struct refusal *refusal);

/* These checks refuse what the real services refuse: anything but a create by the stream's name; */
int stream_check_write(const struct server *s, const struct index *ix, const struct write *w,
                       struct refusal *refusal);
/* a document without a timestamp; */
int stream_check_time(const struct server *s, const struct index *ix, const struct write *w,
                      struct refusal *refusal);
/* a plain index with the name of a stream, or with a name that a stream template matches; */
int stream_check_index(const struct catalogue *c, const char *name, struct refusal *refusal);
/* the deletion of the write index. */
int stream_check_delete(const struct catalogue *c, const struct index *ix, struct refusal *refusal);
