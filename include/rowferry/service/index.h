/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indices, aliases and generations. Only indices whose `_meta` says that they are ours are ever
 * changed or deleted.
 *
 * A generation is a physical index `<alias>-<yyyymmdd>-<number>`; its mapping's `_meta.rowferry`
 * names pipeline, program version, fingerprint and source. The alias points at the live one.
 */
#ifndef ROWFERRY_SERVICE_INDEX_H
#define ROWFERRY_SERVICE_INDEX_H

#include "rowferry/base/err.h"
#include "rowferry/service/http.h"

/* ERR_CONFIG where a name cannot be an index or alias (lower case, no \ / * ? " < > | space , # :,
 * no leading - _ +, not . or .., at most 255 bytes; wildcards and _all are refused here). */
int index_name_check(const char *name, struct err *err) MUST_CHECK;

enum alias_kind {
    ALIAS_ABSENT,   /* the name is free */
    ALIAS_ONE,      /* an alias of exactly one index */
    ALIAS_SEVERAL,  /* an alias of several indices */
    ALIAS_CONCRETE, /* not an alias: an index (or data stream) bears the name */
};

struct index_info {
    char name[256]; /* the concrete index */
    char uuid[64];
    char pipeline[128];   /* _meta.rowferry.pipeline; empty = not ours */
    char fingerprint[32]; /* _meta.rowferry.mapping */
    char source[128];     /* _meta.rowferry.source */
    char table[32];       /* _meta.rowferry.table */
    char creator[32];     /* _meta.rowferry.creator: the run that created it */
};

/* What the name stands for; *out is the concrete index for ALIAS_ONE and ALIAS_CONCRETE. */
int index_resolve(struct service *s, const char *name, enum alias_kind *kind,
                  struct index_info *out, struct err *err) MUST_CHECK;

/* A concrete index by name; *found false where there is none. */
int index_look(struct service *s, const char *name, bool *found, struct index_info *out,
               struct err *err) MUST_CHECK;

/*
 * Creates a generation. mappings: the object with `_meta`; settings: the configured object or null.
 * While it fills: refresh_interval -1; gc_deletes 1h unless configured. ERR_REJECTED with the
 * body's beginning where the service refuses the mapping.
 */
int index_create(struct service *s, const char *name, const char *mappings, const char *settings,
                 struct err *err) MUST_CHECK;

/* Puts the configured refresh interval back (or the default) and refreshes. */
int index_finish(struct service *s, const char *name, const char *settings,
                 struct err *err) MUST_CHECK;

/* One atomic _aliases call: alias from `from` (null = none; must_exist) to `to`. */
int index_swap(struct service *s, const char *alias, const char *from, const char *to,
               struct err *err) MUST_CHECK;

int index_refresh(struct service *s, const char *name, struct err *err) MUST_CHECK;
int index_count(struct service *s, const char *name, int64_t *count, struct err *err) MUST_CHECK;

/* Deletes a generation; refused (ERR_INTERNAL) unless its _meta names this pipeline. */
int index_delete(struct service *s, const char *name, const char *pipeline,
                 struct err *err) MUST_CHECK;

#endif
