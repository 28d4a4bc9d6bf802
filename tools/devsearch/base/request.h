/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parsed request: method, decoded path segments, query parameters, body.
 */
#pragma once

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

/* Parses the target ("/a/b?c=d"). Returns false if it has too many segments or an invalid
 * escape. */
bool request_parse(struct request *q, const char *method, const char *target);
void request_release(struct request *q);

/* Returns the value of a query parameter, or null. */
const char *request_parameter(const struct request *q, const char *name);

/* Returns true if the parameter is present and not "false". */
bool request_flag(const struct request *q, const char *name);

/* Parses the body. Returns null with a refusal if it is missing or invalid. The caller releases the
 * tree (json_object_put). */
struct json_object *request_json(const struct request *q, struct refusal *refusal);
