/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indices, aliases and generations. Only indices whose `_meta` marks them as ours are ever changed
 * or deleted.
 *
 * A generation is a physical index `<alias>-<yyyymmdd>-<number>`. The `_meta.rowferry` of its
 * mapping names pipeline, program version, fingerprint and source. The alias points at the live
 * generation.
 *
 * A generation is never written by its own name, only by a private alias
 * `<generation>-WRITE-<creator>`. An alias may contain upper case letters, an index may not
 * (MetadataCreateIndexService of both products: validateIndexOrAliasName is for both, "must be
 * lowercase" for indices alone; tried on OpenSearch 2.19.4 and 3.4.0, Elasticsearch 8.19.21 and
 * 9.5.3). A bulk request of a killed process may arrive after its generation was deleted. Addressed
 * by the generation's name, it would create a plain index that is never deleted: both products
 * create missing indices, also for deletes with an external version, and ignore require_alias for
 * deletes. With the write alias, each item fails with "invalid_index_name_exception". The creator
 * in the alias keeps such a request out of a newer index with the same name.
 */
#pragma once

#include <stdint.h>

#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"

/* Returns ERR_CONFIG if name is not a valid index or alias name: lower case, no \ / * ? " < > |
 * space , # :, no leading - _ +, not . or .., at most 255 bytes. Wildcards and _all are refused
 * here. */
int index_name_check(const char *name, struct err *err) MUST_CHECK;

/* Checks an alias. The limit is lower because generations and write aliases have longer names. */
#define INDEX_ALIAS_MAX_BYTES 200
int index_alias_check(const char *name, struct err *err) MUST_CHECK;

/* Returns a number from the configured settings (an object or null) in any spelling: "index.x" is
 * also found as {"x"} and {"index": {"x"}}. */
int64_t index_setting(const char *settings, const char *name, int64_t fallback);

enum alias_kind {
    ALIAS_ABSENT,   /* the name is free */
    ALIAS_ONE,      /* alias of exactly one index */
    ALIAS_SEVERAL,  /* alias of several indices */
    ALIAS_CONCRETE, /* name of an index, not an alias */
    ALIAS_STREAM,   /* name of a data stream */
};

struct index_info {
    char name[256]; /* concrete index */
    char uuid[64];
    char pipeline[128];          /* _meta.rowferry.pipeline; empty = not ours */
    char fingerprint[32];        /* _meta.rowferry.mapping */
    char source[128];            /* _meta.rowferry.source */
    char table[32];              /* _meta.rowferry.table */
    char creator[32];            /* _meta.rowferry.creator: the run that created it */
    char place[512];             /* _meta.rowferry.place: the server it is written from */
    const char *source_id_fault; /* see mapping_source_id_fault; static */
    const char *long_key_fault;  /* the same if ids are hashed */
    bool closed;                 /* neither read nor written (also a clone of a closed index) */
    const char *write_block;     /* the setting that blocks writes; static; null: none */
    int64_t number;              /* the last part of a generation's name; of index_list alone */
    int64_t left_clock;          /* as index_leave was told when it was live last; 0: never */
};

/* Resolves name. *out is the concrete index for ALIAS_ONE and ALIAS_CONCRETE, and the stream for
 * ALIAS_STREAM (service/index/stream.h). */
int index_resolve(struct service *s, const char *name, enum alias_kind *kind,
                  struct index_info *out, struct err *err) MUST_CHECK;

/* Resolves a name in the background: a slow answer delays neither bulk requests nor a shutdown. One
 * request at a time; it makes progress in every bulk_wait. */

/* Sends the request, unless one is already pending. */
int alias_poll_begin(struct service *s, const char *name, struct err *err) MUST_CHECK;

/* Returns ALIAS_POLL_NONE if no answer has arrived or nothing is pending, 0 with the results of
 * index_resolve, or a negative error class. Any other result than ALIAS_POLL_NONE ends the request.
 */
#define ALIAS_POLL_NONE 1
int alias_poll_end(struct service *s, enum alias_kind *kind, struct index_info *out,
                   struct err *err) MUST_CHECK;

/* Looks up a concrete index by name; *found is false if it does not exist. */
int index_look(struct service *s, const char *name, bool *found, struct index_info *out,
               struct err *err) MUST_CHECK;

/*
 * Creates a generation. mappings is the object with `_meta`; settings is the configured object or
 * null. For the initial load it gets refresh_interval -1 and no replicas, and gc_deletes 1h unless
 * configured. ERR_REJECTED with the beginning of the body if the service refuses the mapping.
 */
int index_create(struct service *s, const char *name, const char *mappings, const char *settings,
                 struct err *err) MUST_CHECK;

/*
 * Checks that a new generation has no alias except its write alias. An index template may have
 * added one, and searches by it would see a half-filled index. In that case the index is deleted
 * and the result is ERR_REJECTED; the error names the alias, and the template if it is visible.
 * Returns 0 if the index does not exist.
 */
int write_alias_expect_hidden(struct service *s, const char *name, const char *pipeline,
                              struct err *err) MUST_CHECK;

/* Restores refresh_interval and the number of replicas as configured (or to the service's default)
 * and refreshes. index_ready reports when the replicas are assigned. Idempotent. */
int index_finish(struct service *s, const char *name, const char *settings,
                 struct err *err) MUST_CHECK;

/* Moves the alias from `from` to `to` in one atomic _aliases call. `from` may be null; otherwise it
 * must have the alias (must_exist). */
int index_swap(struct service *s, const char *alias, const char *from, const char *to,
               struct err *err) MUST_CHECK;

/*
 * Turns the name of an existing index into the alias of a generation. The index `alias` is
 * write-blocked and cloned to `kept` (null: not kept). One _aliases call then removes the index and
 * points the alias at `to`. *kept_it is true if `kept` exists and accepts writes. On failure
 * `alias` is left as it was: its block is removed and the clone deleted. If the service is
 * unreachable, both may remain; the hint reports it and the next call continues with them.
 * ADOPT_CANNOT_KEEP means that nothing was changed because the service cannot clone (err has its
 * message).
 */
#define ADOPT_CANNOT_KEEP 1
int adopt_swap_alias(struct service *s, const char *alias, const char *kept, const char *to,
                     bool *kept_it, struct err *err) MUST_CHECK;

/* Undoes an interrupted adopt_swap_alias: removes its clone and its write block of the index
 * `alias`, which had no block before. Does nothing if `alias` is not an index. */
int adopt_undo_alias(struct service *s, const char *alias, const char *kept,
                     struct err *err) MUST_CHECK;

/*
 * Waits until all replicas of all shards are assigned, two seconds at most whatever the timeout;
 * the caller asks again. A missing primary is ERR_TRANSIENT. INDEX_UNSEEN (with *green set) means
 * that the credential may not read the state.
 */
#define INDEX_UNSEEN 1
int index_ready(struct service *s, const char *name, int64_t timeout_ms, bool *green,
                struct err *err) MUST_CHECK;

/*
 * Lists the generations of the alias that this pipeline built, closed ones included, by day and
 * number, newest last. If there are more than max, lists the newest. Days are of the years 2000 to
 * 2999.
 */
int index_list(struct service *s, const char *alias, const char *pipeline, struct index_info *out,
               size_t max, size_t *count, struct err *err) MUST_CHECK;

/* Returns true if name is `<alias>-<8 digits>-<number>`. Names of a longer alias do not match. */
bool index_name_of_alias(const char *name, const char *alias, int64_t *number);

/*
 * index_leave stores the pipeline's position in the `_meta` of a generation that it no longer
 * writes; other members of `_meta` are kept. It is refused (ERR_INTERNAL) unless `_meta` names the
 * pipeline. index_left appends the position; *found is false if the position or the index is
 * missing.
 */
int index_leave(struct service *s, const char *name, const char *pipeline, const char *position,
                int64_t clock, struct err *err) MUST_CHECK;
int index_left(struct service *s, const char *name, struct buf *position, int64_t *clock,
               bool *found, struct err *err) MUST_CHECK;

/* Appends the "mappings" object of the index as returned by the service. ERR_REJECTED if the index
 * does not exist. */
int index_mapping(struct service *s, const char *name, struct buf *json,
                  struct err *err) MUST_CHECK;

/*
 * Adds properties (the "properties" object) to the mapping of a generation. The members of meta (an
 * object or null) overwrite those of `_meta.rowferry`; its other members stay. Refused
 * (ERR_INTERNAL) unless `_meta` names a pipeline; ERR_REJECTED if a change is impossible in place.
 */
int index_extend(struct service *s, const char *name, const char *properties, const char *meta,
                 struct err *err) MUST_CHECK;

int index_refresh(struct service *s, const char *name, struct err *err) MUST_CHECK;
int index_count(struct service *s, const char *name, int64_t *count, struct err *err) MUST_CHECK;

/* Formats the write alias; creator is the creator in the index's _meta. */
#define INDEX_WRITE_ALIAS_BYTES 320
void write_alias_of(char out[INDEX_WRITE_ALIAS_BYTES], const char *name, const char *creator);

struct generation_id {
    const char *name;
    const char *uuid;
    const char *pipeline;
    const char *place; /* expected in _meta; null: any */
};

/*
 * Returns the write alias of a generation. Adds it if it is missing (new index, built by an older
 * version, restored without aliases) or not plain, and removes those of former creators, so that
 * their requests fail. ERR_TRANSIENT if the place changed meanwhile. ERR_STATE, with no change, if
 * the index has another uuid or the alias points at any other index. ERR_INTERNAL unless its _meta
 * names this pipeline.
 */
int write_alias_open(struct service *s, const struct generation_id *generation,
                     char alias[INDEX_WRITE_ALIAS_BYTES], struct err *err) MUST_CHECK;

/* Like write_alias_open, without changes: *given is true if the generation has its write alias. */
int write_alias_look(struct service *s, const struct generation_id *generation,
                     char alias[INDEX_WRITE_ALIAS_BYTES], bool *given, struct err *err) MUST_CHECK;

/* Deletes a generation; refused (ERR_INTERNAL) unless its _meta names this pipeline. */
int index_delete(struct service *s, const char *name, const char *pipeline,
                 struct err *err) MUST_CHECK;
