/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The indices and their aliases: who has which name, where a write to a name goes.
 */
#ifndef DEVSEARCH_CATALOGUE_H
#define DEVSEARCH_CATALOGUE_H

#include "index/settings.h"
#include "index/store.h"
#include "mapping/mapping.h"
#include "rowferry/base/clock.h"

struct alias {
    char *name;
    int write; /* is_write_index: 0, 1, or -1 where it was not said */
};

struct index {
    int64_t number;
    char *name;
    char *uuid;
    char *stream; /* of a backing index: its data stream, else null */
    struct mapping mapping;
    struct settings settings;
    struct alias *aliases;
    size_t alias_count;
    struct shelf *shelf;
    int64_t next_seq;
    int64_t refresh;      /* what searches see */
    bool dirty;           /* written since that refresh */
    int64_t refreshed_ms; /* when */
};

struct template
{
    char *name;
    struct json_object *json; /* as it was put */
};

struct catalogue {
    struct store *store;
    enum product product;
    struct clock clock;
    struct index **list; /* in the order of names */
    size_t count;
    int64_t next_number;
    struct template *templates; /* forgotten at the end */
    size_t template_count;
};

/* Some of the indices; release the list alone. */
struct indices {
    struct index **list;
    size_t count;
};

int catalogue_open(struct catalogue *c, struct store *store, enum product product,
                   struct refusal *refusal);
void catalogue_close(struct catalogue *c);

struct index *catalogue_find(const struct catalogue *c, const char *name);
bool catalogue_has_alias(const struct catalogue *c, const char *name);
const struct alias *index_alias(const struct index *ix, const char *name);
int index_alias_put(struct index *ix, const char *name, int write);
bool index_alias_remove(struct index *ix, const char *name);

/* Creates it from {"settings", "mappings", "aliases"}; body may be null. */
struct index *catalogue_create(struct catalogue *c, const char *name, struct json_object *body,
                               struct refusal *refusal);
int catalogue_delete(struct catalogue *c, struct index *ix, struct refusal *refusal);

/* Makes the index's mapping, settings and aliases durable. */
int catalogue_save(struct catalogue *c, const struct index *ix, struct refusal *refusal);

/* Indices of an expression: names, aliases, wildcards, commas; refuses a name that is not there. A
 * wildcard passes over what is closed; _all: it does not; _open: one that is named is refused. */
int catalogue_resolve(const struct catalogue *c, const char *expression, struct indices *out,
                      struct refusal *refusal);
int catalogue_resolve_all(const struct catalogue *c, const char *expression, struct indices *out,
                          struct refusal *refusal);
int catalogue_resolve_open(const struct catalogue *c, const char *expression, struct indices *out,
                           struct refusal *refusal);

/* The one index that a name stands for, for reading one document. */
struct index *catalogue_one(const struct catalogue *c, const char *name, struct refusal *refusal);

/* The index that a write to the name goes to; null with refusal->status 0 where there is none. */
struct index *catalogue_write_target(const struct catalogue *c, const char *name,
                                     struct refusal *refusal);

/* Names of indices and aliases. what: "index" or "alias". */
int name_check(const char *name, bool alias, struct refusal *refusal);

/* A random text of 22 characters; the caller frees it. */
char *random_name(const struct clock *clock);

#endif
