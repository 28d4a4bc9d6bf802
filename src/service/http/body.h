/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small JSON bodies of answers as trees, and the error that a refusal carries.
 *
 * Each kind of answer has limits of its own, many times what such an answer needs: what a server
 * claims to be one, and is larger, never becomes a tree.
 */
#ifndef ROWFERRY_SERVICE_BODY_H
#define ROWFERRY_SERVICE_BODY_H

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

/* The body as a tree, or null if it is no JSON or over the limits; the caller puts it back
 * (json_object_put). */
struct json_object *body_parse(const struct buf *body, enum body_use use);

/* The same of an answer with any JSON or none (then *out is null); ERR_REJECTED if it is over the
 * limits. */
int body_take(struct json_object **out, const struct http_answer *answer, enum body_use use,
              const char *method, const char *path, struct err *err) MUST_CHECK;

/* The same of an answer that must be a JSON object: ERR_TRANSIENT if it is something else (a
 * proxy's page, for example). */
int body_expect(struct json_object **out, const struct http_answer *answer, enum body_use use,
                const char *method, const char *path, struct err *err) MUST_CHECK;

/* The list along a null-terminated list of names. *list is null if nothing stands there, which is
 * how services leave an empty one out; anything but a list is ERR_TRANSIENT. */
int body_list(struct json_object *tree, const char *const *names, struct json_object **list,
              struct err *err) MUST_CHECK;

/* Type and reason of an error body, borrowed from the tree; "" where unsaid. A bare text is a
 * reason without a type. */
struct body_error {
    const char *type;
    const char *reason;
};
struct body_error body_error(struct json_object *tree);

#endif
