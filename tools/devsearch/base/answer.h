/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers to the client: a successful one, or a refusal in the service's format.
 *
 * A refusal is the protocol's error object: type, reason, further members and a cause. It is used
 * in a whole answer ({"error":{..},"status":N}) and in a bulk item.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

#include <stdint.h>

enum product { OPENSEARCH, ELASTICSEARCH };

#define ANSWER_MAX_BYTES ((size_t)256 << 20)

struct answer {
    int status;
    const char *content_type; /* null: the product's JSON type */
    struct buf body;
};

struct refusal {
    int status;
    const char *type; /* string literal */
    struct buf reason;
    struct buf members; /* further members, each with a leading comma */
    struct buf cause;   /* caused_by object, or empty */
    struct buf root;    /* root cause, if it differs from the refusal itself */
};

void refusal_init(struct refusal *r);
void refusal_release(struct refusal *r);

/* Resets the refusal to this status, type and formatted reason; returns -1. */
int refuse(struct refusal *r, int status, const char *type, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Like refuse, with a reason of any length. */
int refuse_text(struct refusal *r, int status, const char *type, struct span reason);

/* Refuses with 400 a request that devsearch does not support. */
int refuse_unknown(struct refusal *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a string member to the error object. */
void refusal_member(struct refusal *r, const char *name, const char *value);

/* Sets the caused_by object from a type and a formatted reason. */
void refusal_cause(struct refusal *r, const char *type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Makes the cause the root cause too, as the server does for its own exceptions. */
void refusal_root_is_cause(struct refusal *r);

/* Appends the error object, with its root_cause if with_root is true. */
void refusal_render(const struct refusal *r, struct buf *out, bool with_root);

/* Turns the refusal into the whole answer. */
void answer_refuse(struct answer *a, const struct refusal *r);

/* Answers {"error":"text","status":N}, as the routing layer does. */
void answer_plain_error(struct answer *a, int status, const char *text);

/* Appends arbitrary bytes as a JSON string. */
void push_json(struct buf *out, struct span bytes);
void push_json_text(struct buf *out, const char *text);

/* Refuses with "no such index [name]" and its members. kind: index_or_alias or index_expression. */
int refuse_no_index(struct refusal *r, const char *name, const char *kind);
