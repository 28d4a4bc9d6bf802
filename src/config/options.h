/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table. Every option is declared here once; reading, defaults, ranges and the nearest
 * names are derived from it. A unit test compares the manual and the JSON Schema with it.
 */
#pragma once

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
    OPTION_LIST,      /* char ** followed by size_t: strings */
    OPTION_TEXTS,     /* the same; a single string may replace the list */
    OPTION_FIELDS,    /* struct field * followed by size_t: property <- column or null */
    OPTION_DEPENDS,   /* struct dependency * followed by size_t: tables and their keys */
    OPTION_QUERIES,   /* struct trial_query * followed by size_t: searches and their hits */
    OPTION_GRADES,    /* struct judgement * followed by size_t: ids and their grades */
    OPTION_PIPELINES, /* the pipelines */
    OPTION_UNREAD,    /* accepted, but ignored in this version */
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
    const char *fallback;     /* the default as written in the file; null if none */
    const char *least, *most; /* COUNT, SIZE, DURATION, SHARE */
    const char *choices;      /* "a|b|!c": c is known, but not available in this version */
    int (*check)(const char *value, struct err *err); /* for texts and JSON; null: any */
    const char *help;
};

extern const struct option options[];

/* Returns true if the option is allowed at the top level (in_pipeline false) or in a pipeline. */
bool options_belongs(const struct option *o, bool in_pipeline);
const struct option *options_find(bool in_pipeline, const char *path);
/* Returns true if there are options below `path`. */
bool options_is_group(bool in_pipeline, const char *path);
/* Returns a copy of the key directly below `group` ("" is the top) that is nearest to `word`; null
 * if none is near. */
char *options_nearest(bool in_pipeline, const char *group, const char *word);
