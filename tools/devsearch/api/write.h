/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One write: an index, create or delete of one document, with its versions.
 */
#ifndef DEVSEARCH_WRITE_H
#define DEVSEARCH_WRITE_H

#include "api/server.h"

enum write_kind { WRITE_INDEX, WRITE_CREATE, WRITE_DELETE };
enum version_type { VERSION_INTERNAL, VERSION_EXTERNAL, VERSION_EXTERNAL_GTE };

#define VERSION_NONE (-3) /* what the service itself says for "not given" */

struct write {
    enum write_kind kind;
    char *index;
    char *id; /* null: none was given */
    size_t id_bytes;
    int64_t version;
    enum version_type version_type;
    bool require_alias;
    bool no_create; /* another write of the request asks for an alias of this name */
    char *pipeline;
    bool routed;
    struct span source;
};

void write_release(struct write *w);

/* "index", "create", "delete". */
const char *write_name(enum write_kind kind);

bool version_type_parse(const char *text, enum version_type *type);

/* Problems for which the service refuses the whole request: null, or a text for the caller. */
char *write_problem(const struct write *w);

/* Carries it out and appends the members from "_index" to "_primary_term" of its result.
 * 0 and status (and the index, for a refresh), or -1 and the refusal. */
int write_apply(struct server *s, struct write *w, bool forced_refresh, struct buf *out,
                int *status, struct index **touched, struct refusal *refusal);

/* Every document of an index into an empty one of the same mapping, with its version. */
int write_copies(struct server *s, struct index *from, struct index *to, struct refusal *refusal);

#endif
