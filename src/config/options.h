/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table: every option is declared here once, and all else is made of it: reading,
 * defaults, ranges, nearest names. A unit test holds the manual and the JSON Schema to it.
 */
#ifndef ROWFERRY_CONFIG_OPTIONS_H
#define ROWFERRY_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/err.h"

enum option_type {
    OPTION_TEXT,      /* char *: a string */
    OPTION_PATH,      /* char *: a path, relative to the file's directory */
    OPTION_FLAG,      /* bool */
    OPTION_COUNT,     /* int64_t: a whole number */
    OPTION_SIZE,      /* int64_t bytes: "5MiB" */
    OPTION_DURATION,  /* int64_t ms: "20ms" */
    OPTION_SHARE,     /* double: 0 to 1 */
    OPTION_CHOICE,    /* int: the index in choices */
    OPTION_SECRET,    /* struct secret */
    OPTION_JSON,      /* char *: an object of the service's own, one line */
    OPTION_LIST,      /* char ** and size_t behind it: strings */
    OPTION_TEXTS,     /* the same; one string may stand without the list */
    OPTION_FIELDS,    /* struct field * and size_t behind it: property <- column or null */
    OPTION_DEPENDS,   /* struct dependency * and size_t behind it: tables and their keys */
    OPTION_QUERIES,   /* struct trial_query * and size_t behind it: searches and their hits */
    OPTION_PIPELINES, /* the pipelines */
    OPTION_UNREAD,    /* accepted, read by nothing in this version */
};

enum option_scope {
    SCOPE_FILE,     /* top level; offset in struct config */
    SCOPE_PIPELINE, /* in a pipeline; offset in struct pipeline_config */
    SCOPE_BOTH,     /* top level for all pipelines, or in one; offset in struct pipeline_config */
};

struct option {
    const char *path; /* "limits.batch_bytes"; null ends the table */
    enum option_scope scope;
    enum option_type type;
    size_t offset;
    bool required;
    const char *fallback;     /* the default as the file would say it, null: none */
    const char *least, *most; /* COUNT, SIZE, DURATION, SHARE */
    const char *choices;      /* "a|b|!c": c is known, but not available in this version */
    int (*check)(const char *value, struct err *err); /* of texts and JSON; null: any */
    const char *help;
};

extern const struct option options[];

/* Whether an option of `scope` may stand at the top level (in_pipeline false) or in a pipeline. */
bool option_belongs(const struct option *o, bool in_pipeline);
const struct option *option_find(bool in_pipeline, const char *path);
/* Whether options stand below path. */
bool option_is_group(bool in_pipeline, const char *path);
/* The key right below group ("" = top) that is nearest to word; null where none is near. A copy. */
char *option_nearest(bool in_pipeline, const char *group, const char *word);

#endif
