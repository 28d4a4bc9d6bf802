/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses small JSON answers into trees, and reads the error of a refusal.
 *
 * Each kind of answer has its own limits, far above normal sizes. An answer beyond its limits is
 * never parsed into a tree.
 */
#pragma once

#include <json-c/json.h>

#include "rowferry/document/json/json_tree.h"
#include "rowferry/service/http/http.h"

enum body_use {
    BODY_ROOT,         /* GET /, and the name of an account */
    BODY_SHORT,        /* health and clock */
    BODY_ACKNOWLEDGED, /* changes of indices, aliases and templates */
    BODY_SHARDS,       /* counts and refreshes */
    BODY_WRITTEN,      /* a document that was indexed */
    BODY_PRIVILEGES,   /* privileges by index */
    BODY_ERROR,        /* refusals of any request */
    BODY_CLUSTER,      /* settings, disks of all nodes, the generations of an alias */
    BODY_STATS,        /* sizes of an index */
    BODY_SEGMENTS,     /* segments of an index */
    BODY_IDS,          /* the ids of a search */
    BODY_HITS,         /* the ids of a search, and how many documents match */
    BODY_TOKENS,       /* _analyze */
    BODY_INDEX,        /* indices with their settings, and maybe mappings and aliases */
    BODY_MAPPING,      /* indices with their mappings */
    BODY_TEMPLATES,    /* index templates */
    BODY_SIMULATED,    /* what the templates would give a new index */
};

/* Parses the body. Returns null if it is not JSON or exceeds the limits. The caller releases the
 * tree (json_object_put). */
struct json_object *body_parse(const struct buf *body, enum body_use use);

/* Parses the body of an answer. *out is null if it is not JSON; ERR_REJECTED if it exceeds the
 * limits. */
int body_take(struct json_object **out, const struct http_answer *answer, enum body_use use,
              const char *method, const char *path, struct err *err) MUST_CHECK;

/* Parses an answer that must be a JSON object with the members of its kind. ERR_TRANSIENT if it is
 * anything else, such as a proxy's page or the answer of another program. So no caller draws a
 * conclusion about an index from it. */
int body_expect(struct json_object **out, const struct http_answer *answer, enum body_use use,
                const char *method, const char *path, struct err *err) MUST_CHECK;

/* Reports an answer that cannot be read, and why ("expected a JSON object"). Returns
 * ERR_TRANSIENT. */
int body_unreadable(const struct http_answer *answer, const char *method, const char *path,
                    const char *why, struct err *err);

/* Writes the request as messages show it: "POST /shop-1/_bulk of localhost:9200", without the query
 * and without the inner name of the index's write alias. origin may be null. Returns out. */
#define HTTP_PLACE_BYTES 512
const char *http_place(char out[HTTP_PLACE_BYTES], const char *method, const char *path,
                       const char *origin);

/* Returns true if the body is an HTML or XML page. */
bool http_is_page(const struct buf *body);

/* Appends the beginning of a body as a short line, escaped: of a page only its title. */
void http_push_excerpt(struct buf *out, const struct buf *body);

/* Copies a text of the answer, cut to size - 1 bytes without splitting a character. */
void body_copy(char *out, size_t size, const char *text);

/* Finds a list by a path of names, which ends with null. *list is null if the list is missing,
 * because services omit empty lists. Anything but a list is ERR_TRANSIENT. */
int body_list(struct json_object *tree, const char *const *names, struct json_object **list,
              struct err *err) MUST_CHECK;

/* Type and reason of an error body, borrowed from the tree; "" if missing. If the error is a plain
 * string, it is the reason. */
struct body_error {
    const char *type;
    const char *reason;
};
struct body_error body_error(struct json_object *tree);
