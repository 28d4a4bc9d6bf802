/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches of an application, from a file with one search body per line, or from the search slow
 * log of OpenSearch or Elasticsearch, as text or as JSON; and the fields that a search uses. Pure.
 *
 * Sources of the formats: OpenSearch manual, "Logs: slow logs"; Elasticsearch 7.17 and 8.19
 * reference, "Slow log".
 */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/base/text.h"

#define QUERYLOG_BYTES ((size_t)64 << 20)     /* maximum of a file */
#define QUERYLOG_LINE_BYTES ((size_t)1 << 20) /* maximum of a line */
#define QUERYLOG_MOST 1000                    /* different searches that are kept */

struct querylog_search {
    char *body;  /* one line; without paging, and without what belongs to another index */
    size_t line; /* the first one, from 1 */
};

struct querylog {
    struct querylog_search *items; /* each search once */
    size_t count;
    size_t searches; /* lines that hold a search */
    size_t left_out; /* lines with a search that was not kept */
};

/* Reads a file. `name` is for messages. ERR_CONFIG names file, line and key. The caller releases
 * *out, also after an error. */
int querylog_read(struct querylog *out, const char *name, struct span text,
                  struct err *err) MUST_CHECK;
void querylog_release(struct querylog *q);

enum field_use {
    USE_FILTER,    /* exact values or a range */
    USE_MATCH,     /* words, or whether there is a value */
    USE_SORT,      /* order, or one hit per value */
    USE_AGGREGATE, /* also a score from a value */
    USE_SEMANTIC,  /* vectors, or a text that a model understands; "" for a combination of searches
                    */
};

/* Calls `each` for each use of a field by a search body, not for patterns and for fields that the
 * body itself defines. The name is borrowed during the call. */
typedef void (*querylog_each)(void *context, enum field_use use, const char *field);
void querylog_fields(const char *body, querylog_each each, void *context);
