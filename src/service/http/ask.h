/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that have to answer 200 with a JSON object, and what stands behind a name.
 */
#ifndef ROWFERRY_SERVICE_ASK_H
#define ROWFERRY_SERVICE_ASK_H

#include "http/body.h"

#define INDEX_NAME_MAX_BYTES 255
#define ASK_MAX_BYTES ((size_t)4 << 20) /* of a request's body */
#define NO_BODY span_make(NULL, 0)

/* "/<name><rest>" into path, which is initialised here. */
void ask_path(struct buf *path, const char *name, const char *rest);

/* *tree (null = not wanted) is the caller's, and null after a failure. */
int ask(struct service *s, const char *method, const char *path, struct span body,
        enum body_use use, struct json_object **tree, struct err *err) MUST_CHECK;

/* The same for "/<name><rest>". */
int ask_of(struct service *s, const char *method, const char *name, const char *rest,
           struct span body, enum body_use use, struct json_object **tree,
           struct err *err) MUST_CHECK;

/* What stands behind a name: {"concrete": {"aliases", "mappings", "settings"}, ..}; *tree null
 * where there is nothing. */
int ask_description(struct service *s, const char *name, struct json_object **tree,
                    struct err *err) MUST_CHECK;

/* The same of an answer that is there, to a GET of path. */
int ask_read_description(struct http_answer *answer, const char *path, struct json_object **tree,
                         struct err *err) MUST_CHECK;

#endif
