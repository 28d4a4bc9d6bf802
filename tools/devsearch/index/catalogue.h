/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indices and aliases: resolves names, and finds the write index of a name.
 */
#pragma once

#include "index/settings.h"
#include "index/store.h"
#include "mapping/mapping.h"
#include "rowferry/base/clock.h"

struct alias {
    char *name;
    int write; /* is_write_index: 0, 1, or -1 if not given */
};

struct index {
    int64_t number;
    char *name;
    char *uuid;
    char *stream; /* data stream of a backing index, else null */
    struct mapping mapping;
    struct settings settings;
    struct alias *aliases;
    size_t alias_count;
    struct shelf *shelf;
    int64_t next_seq;
    int64_t indexed;      /* index operations since the start of the process */
    int64_t refresh;      /* current refresh of searches */
    bool dirty;           /* written since that refresh */
    int64_t refreshed_ms; /* time of that refresh */
};

struct template
{
    char *name;
    struct json_object *json; /* as received */
};

struct catalogue {
    struct store *store;
    enum product product;
    struct clock clock;
    struct index **list; /* sorted by name */
    size_t count;
    int64_t next_number;
    struct template *templates; /* not durable */
    size_t template_count;
};

/* A selection of indices; the caller frees the list only. */
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

/* Creates an index from {"settings", "mappings", "aliases"}; body may be null. */
struct index *catalogue_create(struct catalogue *c, const char *name, struct json_object *body,
                               struct refusal *refusal);
int catalogue_delete(struct catalogue *c, struct index *ix, struct refusal *refusal);

/* Makes the index's mapping, settings and aliases durable. */
int catalogue_save(struct catalogue *c, const struct index *ix, struct refusal *refusal);

/* Resolves an expression of names, aliases, wildcards and commas; refuses missing names. Wildcards
 * skip closed indices, except in catalogue_resolve_all. catalogue_resolve_open refuses a closed
 * index that is named. */
int catalogue_resolve(const struct catalogue *c, const char *expression, struct indices *out,
                      struct refusal *refusal);
int catalogue_resolve_all(const struct catalogue *c, const char *expression, struct indices *out,
                          struct refusal *refusal);
int catalogue_resolve_open(const struct catalogue *c, const char *expression, struct indices *out,
                           struct refusal *refusal);

/* Returns the only index of a name, for reading a document. */
struct index *catalogue_one(const struct catalogue *c, const char *name, struct refusal *refusal);

/* Returns the index for writes to a name. Null with refusal->status 0 if the name does not
 * exist. */
struct index *catalogue_write_target(const struct catalogue *c, const char *name,
                                     struct refusal *refusal);

/* Checks the name of an index, or of an alias if alias is true. */
int name_check(const char *name, bool alias, struct refusal *refusal);

/* Returns a random string of 22 characters; the caller frees it. */
char *random_name(const struct clock *clock);
