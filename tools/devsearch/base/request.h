/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request, taken apart: method, decoded path segments, query parameters, body.
 */
#ifndef DEVSEARCH_REQUEST_H
#define DEVSEARCH_REQUEST_H

#include "base/answer.h"

struct json_object;

enum method { GET = 1, POST = 2, PUT = 4, DELETE = 8, HEAD = 16 };

#define REQUEST_SEGMENTS 8

struct parameter {
    char *name;
    char *value;
};

struct request {
    enum method method;
    const char *method_name;
    char *path;                             /* as sent, without the query */
    char *segments[REQUEST_SEGMENTS];       /* decoded, NUL-terminated */
    size_t segment_bytes[REQUEST_SEGMENTS]; /* ids may hold NUL */
    size_t segment_count;
    struct parameter *parameters;
    size_t parameter_count;
    struct span body;
};

/* Takes the target ("/a/b?c=d") apart; false where it has too many segments or a bad escape. */
bool request_parse(struct request *q, const char *method, const char *target);
void request_release(struct request *q);

/* The value of a query parameter, or null. */
const char *request_parameter(const struct request *q, const char *name);

/* Present and not "false". */
bool request_flag(const struct request *q, const char *name);

/* The body as a tree: null and a refusal where it is missing or broken. Put it after use. */
struct json_object *request_json(const struct request *q, struct refusal *refusal);

#endif
