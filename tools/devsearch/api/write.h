/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A single write: index, create or delete of one document, with versioning.
 */
#pragma once

#include "api/server.h"

enum write_kind { WRITE_INDEX, WRITE_CREATE, WRITE_DELETE };
enum version_type { VERSION_INTERNAL, VERSION_EXTERNAL, VERSION_EXTERNAL_GTE };

#define VERSION_NONE (-3) /* the services' own value for "not given" */

struct write {
    enum write_kind kind;
    char *index;
    char *id; /* may be null */
    size_t id_bytes;
    int64_t version;
    enum version_type version_type;
    bool require_alias;
    bool no_create; /* another write of the request requires an alias of this name */
    char *pipeline;
    bool routed;
    struct span source;
};

void write_release(struct write *w);

/* "index", "create", "delete". */
const char *write_name(enum write_kind kind);

bool version_type_parse(const char *text, enum version_type *type);

/* Returns the problem for which the service refuses the whole request, or null. The caller frees
 * it. */
char *write_problem(const struct write *w);

/* Applies the write and appends the result's members from "_index" to "_primary_term". Returns 0
 * with *status, and *touched for a refresh, or -1 with the refusal. */
int write_apply(struct server *s, struct write *w, bool forced_refresh, struct buf *out,
                int *status, struct index **touched, struct refusal *refusal);

/* Copies every document with its version into an empty index of the same mapping. */
int write_copies(struct server *s, struct index *from, struct index *to, struct refusal *refusal);
