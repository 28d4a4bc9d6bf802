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
    BODY_ROOT,    /* GET /, and the name of an account */
    BODY_SHORT,   /* acknowledgements, counts, health, privileges */
    BODY_ERROR,   /* refusals of any request */
    BODY_CLUSTER, /* settings, disks of all nodes, segments, the generations of an alias */
    BODY_HITS,    /* the ids of a search */
    BODY_TOKENS,  /* _analyze */
    BODY_INDEX,   /* indices with their mappings and settings, and index templates */
};

/* Parses the body. Returns null if it is not JSON or exceeds the limits. The caller releases the
 * tree (json_object_put). */
struct json_object *body_parse(const struct buf *body, enum body_use use);

/* Parses the body of an answer. *out is null if it is not JSON; ERR_REJECTED if it exceeds the
 * limits. */
int body_take(struct json_object **out, const struct http_answer *answer, enum body_use use,
              const char *method, const char *path, struct err *err) MUST_CHECK;

/* Parses an answer that must be a JSON object. ERR_TRANSIENT if it is anything else, such as a
 * proxy's error page. */
int body_expect(struct json_object **out, const struct http_answer *answer, enum body_use use,
                const char *method, const char *path, struct err *err) MUST_CHECK;

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
