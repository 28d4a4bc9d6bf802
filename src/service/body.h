/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small JSON bodies of answers as trees, and the error that a refusal carries.
 */
#ifndef ROWFERRY_SERVICE_BODY_H
#define ROWFERRY_SERVICE_BODY_H

#include <json-c/json.h>

#include "rowferry/service/http.h"

/* The body as a tree, or null where it is no JSON; the caller puts it back (json_object_put). */
struct json_object *body_parse(const struct buf *body);

/* The same of an answer that must be a JSON object: ERR_TRANSIENT where it is something else (a
 * proxy's page, for example). */
int body_expect(struct json_object **out, const struct http_answer *answer, const char *method,
                const char *path, struct err *err) MUST_CHECK;

/* The member along the null-terminated list of keys, or null. */
struct json_object *body_member(struct json_object *tree, const char *const *keys);

/* The text of a member of an object, or "" where it is absent or no text; borrowed. */
const char *body_text(struct json_object *object, const char *key);

/* Type and reason of an error body, borrowed from the tree; "" where unsaid. A bare text is a
 * reason without a type. */
struct body_error {
    const char *type;
    const char *reason;
};
struct body_error body_error(struct json_object *tree);

#endif
