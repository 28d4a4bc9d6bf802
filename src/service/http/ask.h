/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests whose answer must be a JSON object with status 200 or 201, and descriptions of a name.
 */
#pragma once

#include "http/body.h"

#define INDEX_NAME_MAX_BYTES 255
#define ASK_MAX_BYTES ((size_t)4 << 20) /* maximum of a request's body */
#define NO_BODY span_make(NULL, 0)
#define SERVICE_EXISTS "resource_already_exists_exception" /* error type: the name is taken */

/* Flags for the JSON of a request. */
#define ASK_PLAIN (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

/* Initialises path and writes "/<name><rest>" into it. */
void ask_path(struct buf *path, const char *name, const char *rest);

/* Sends a request. The caller owns *tree, which is null on failure; tree may be null. */
int ask(struct service *s, const char *method, const char *path, struct span body,
        enum body_use use, struct json_object **tree, struct err *err) MUST_CHECK;

/* Like ask, for the path "/<name><rest>". */
int ask_of(struct service *s, const char *method, const char *name, const char *rest,
           struct span body, enum body_use use, struct json_object **tree,
           struct err *err) MUST_CHECK;

/* Like ask_of, with PUT and a tree as the body (borrowed; null: no body). The answer is dropped. */
int ask_put(struct service *s, const char *name, const char *rest, struct json_object *body,
            struct err *err) MUST_CHECK;

/* Fetches what a name refers to: {"concrete": {"aliases", "mappings", "settings"}, ..}. *tree is
 * null if the name does not exist. */
int ask_description(struct service *s, const char *name, struct json_object **tree,
                    struct err *err) MUST_CHECK;

/* Like ask_description, for an answer already received to a GET of path. */
int ask_read_description(struct http_answer *answer, const char *path, struct json_object **tree,
                         struct err *err) MUST_CHECK;
