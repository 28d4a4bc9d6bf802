/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indices, aliases and generations. Only indices whose `_meta` says that they are ours are ever
 * changed or deleted.
 *
 * A generation is a physical index `<alias>-<yyyymmdd>-<number>`; its mapping's `_meta.rowferry`
 * names pipeline, program version, fingerprint and source. The alias points at the live one.
 *
 * A generation is written by a private alias of its own, `<generation>-WRITE-<creator>`, never by
 * its own name. An alias may have upper case letters, an index may not (MetadataCreateIndexService
 * of both products: validateIndexOrAliasName is for both, "must be lowercase" for indices alone;
 * tried on OpenSearch 2.19.4 and 3.4.0, Elasticsearch 8.19.21 and 9.5.3). So a bulk request that
 * arrives after its generation was deleted, sent by a process that was killed meanwhile, meets
 * "invalid_index_name_exception" for each item, where the generation's own name would have made a
 * plain index that nobody deletes: both products create what is missing, for deletes with an
 * external version too, and require_alias is not asked of deletes. The creator in it keeps such a
 * request from another index that got the same name since.
 */
#ifndef ROWFERRY_SERVICE_INDEX_H
#define ROWFERRY_SERVICE_INDEX_H

#include <stdint.h>

#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"

/* ERR_CONFIG where a name cannot be an index or alias (lower case, no \ / * ? " < > | space , # :,
 * no leading - _ +, not . or .., at most 255 bytes; wildcards and _all are refused here). */
int index_name_check(const char *name, struct err *err) MUST_CHECK;

/* The same of an alias, whose generations and their write aliases have longer names. */
#define INDEX_ALIAS_MAX_BYTES 200
int index_alias_check(const char *name, struct err *err) MUST_CHECK;

/* A number among configured settings (an object, null = none) in any spelling: of "index.x" also
 * {"x"} and {"index": {"x"}}. */
int64_t index_setting(const char *settings, const char *name, int64_t fallback);

enum alias_kind {
    ALIAS_ABSENT,   /* the name is free */
    ALIAS_ONE,      /* an alias of exactly one index */
    ALIAS_SEVERAL,  /* an alias of several indices */
    ALIAS_CONCRETE, /* not an alias: an index bears the name */
    ALIAS_STREAM,   /* a data stream bears the name */
};

struct index_info {
    char name[256]; /* the concrete index */
    char uuid[64];
    char pipeline[128];   /* _meta.rowferry.pipeline; empty = not ours */
    char fingerprint[32]; /* _meta.rowferry.mapping */
    char source[128];     /* _meta.rowferry.source */
    char table[32];       /* _meta.rowferry.table */
    char creator[32];     /* _meta.rowferry.creator: the run that created it */
    bool closed;          /* neither read nor written (also a clone of a closed index) */
    bool write_blocked;   /* blocks.write, read_only or read_only_allow_delete */
    int64_t number;       /* the last part of a generation's name; of index_list alone */
    int64_t left_clock;   /* as index_leave was told when it was live last; 0: never */
};

/* What the name stands for; *out is the concrete index for ALIAS_ONE and ALIAS_CONCRETE, and for
 * ALIAS_STREAM the stream (service/index/stream.h). */
int index_resolve(struct service *s, const char *name, enum alias_kind *kind,
                  struct index_info *out, struct err *err) MUST_CHECK;

/* A concrete index by name; *found false where there is none. */
int index_look(struct service *s, const char *name, bool *found, struct index_info *out,
               struct err *err) MUST_CHECK;

/*
 * Creates a generation. mappings: the object with `_meta`; settings: the configured object or null.
 * While it fills: refresh_interval -1, no copies; gc_deletes 1h unless configured. ERR_REJECTED
 * with the body's beginning where the service refuses the mapping.
 */
int index_create(struct service *s, const char *name, const char *mappings, const char *settings,
                 struct err *err) MUST_CHECK;

/*
 * Expects that a generation just created bears no alias but its write alias: an index template may
 * have given it some, and a half-filled index would be searched by them. Otherwise ERR_REJECTED,
 * which names alias and template (if the template may be seen), and the index is deleted. Nothing
 * if there is no such index.
 */
int index_expect_hidden(struct service *s, const char *name, const char *pipeline,
                        struct err *err) MUST_CHECK;

/* Puts refresh_interval and the number of copies back as configured (or to the service's default)
 * and refreshes; index_ready tells when the copies are there. Does no harm twice. */
int index_finish(struct service *s, const char *name, const char *settings,
                 struct err *err) MUST_CHECK;

/* One atomic _aliases call: alias from `from` (null = none; must_exist) to `to`. */
int index_swap(struct service *s, const char *alias, const char *from, const char *to,
               struct err *err) MUST_CHECK;

/*
 * The name of an index becomes the alias of a generation: the index `alias` is write-blocked and
 * cloned to `kept` (null: it is not kept), then one _aliases call removes it and points the alias
 * at `to`. *kept_it: `kept` is there, and takes writes. What fails leaves `alias` as it was, its
 * block taken off and the clone deleted; where the service is out of reach both may stay (the hint
 * says so), and the next call goes on with them. ADOPT_CANNOT_KEEP: nothing was changed, because
 * the service does not clone (err has its words).
 */
#define ADOPT_CANNOT_KEEP 1
int index_swap_adopting(struct service *s, const char *alias, const char *kept, const char *to,
                        bool *kept_it, struct err *err) MUST_CHECK;

/* What a call of it that ended between has left: the write block of the index that bears the
 * alias's name, which had none before, and its clone. Nothing where that is no index's name. */
int index_adopt_undo(struct service *s, const char *alias, const char *kept,
                     struct err *err) MUST_CHECK;

/*
 * Waits until all copies of all shards are there, two seconds at most whatever the timeout: the
 * caller asks again. A missing primary is ERR_TRANSIENT. INDEX_UNSEEN (and *green): the credential
 * may not look.
 */
#define INDEX_UNSEEN 1
int index_ready(struct service *s, const char *name, int64_t timeout_ms, bool *green,
                struct err *err) MUST_CHECK;

/*
 * The generations of the alias that this pipeline built, closed ones too, by day and number, the
 * newest last; of more than max the newest. The days are of the years 2000 to 2999.
 */
int index_list(struct service *s, const char *alias, const char *pipeline, struct index_info *out,
               size_t max, size_t *count, struct err *err) MUST_CHECK;

/* Whether the name is `<alias>-<8 digits>-<number>`, no alias with a longer name meant. */
bool index_name_of_alias(const char *name, const char *alias, int64_t *number);

/*
 * What the pipeline leaves to a generation that it does not write any more, in `_meta` beside all
 * else: how far it is. Refused (ERR_INTERNAL) unless `_meta` names the pipeline. index_left
 * appends the position; *found false where there is none, or no such index.
 */
int index_leave(struct service *s, const char *name, const char *pipeline, const char *position,
                int64_t clock, struct err *err) MUST_CHECK;
int index_left(struct service *s, const char *name, struct buf *position, int64_t *clock,
               bool *found, struct err *err) MUST_CHECK;

/* Appends the index's mapping: the "mappings" object as the service tells it. ERR_REJECTED where
 * there is no such index. */
int index_mapping(struct service *s, const char *name, struct buf *json,
                  struct err *err) MUST_CHECK;

/*
 * Adds properties ("properties" object) to the mapping of a generation; the members of meta (an
 * object, null = none) go over those of `_meta.rowferry`, whose others stay. Refused (ERR_INTERNAL)
 * unless `_meta` names a pipeline; ERR_REJECTED where a change is none that is possible in place.
 */
int index_extend(struct service *s, const char *name, const char *properties, const char *meta,
                 struct err *err) MUST_CHECK;

int index_refresh(struct service *s, const char *name, struct err *err) MUST_CHECK;
int index_count(struct service *s, const char *name, int64_t *count, struct err *err) MUST_CHECK;

/* Its write alias; creator is that of its _meta. */
#define INDEX_WRITE_ALIAS_BYTES 320
void index_write_alias(char out[INDEX_WRITE_ALIAS_BYTES], const char *name, const char *creator);

struct generation {
    const char *name;
    const char *uuid;
    const char *pipeline;
};

/*
 * Tells the write alias of a generation, and gives it where it lacks (just created, built by an
 * older version, restored without aliases) or is not plain. ERR_STATE where the index is another
 * one by its uuid, or where the alias points at another index, too or alone: nothing is changed
 * then. ERR_INTERNAL unless its _meta names this pipeline.
 */
int index_open_writes(struct service *s, const struct generation *generation,
                      char alias[INDEX_WRITE_ALIAS_BYTES], struct err *err) MUST_CHECK;

/* The same, and nothing is changed: *given says whether it has it. */
int index_look_writes(struct service *s, const struct generation *generation,
                      char alias[INDEX_WRITE_ALIAS_BYTES], bool *given, struct err *err) MUST_CHECK;

/* Deletes a generation; refused (ERR_INTERNAL) unless its _meta names this pipeline. */
int index_delete(struct service *s, const char *name, const char *pipeline,
                 struct err *err) MUST_CHECK;

#endif
