/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes back to the client: a good answer, or a refusal in the service's own shape.
 *
 * A refusal is the error object of the protocol: type, reason, further members and a cause. The
 * same object stands in a whole answer ({"error":{..},"status":N}) and in one item of a bulk.
 */
#ifndef DEVSEARCH_ANSWER_H
#define DEVSEARCH_ANSWER_H

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

#include <stdint.h>

enum product { OPENSEARCH, ELASTICSEARCH };

#define ANSWER_MAX_BYTES ((size_t)256 << 20)

struct answer {
    int status;
    const char *content_type; /* null: the product's JSON */
    struct buf body;
};

struct refusal {
    int status;
    const char *type; /* a string literal */
    struct buf reason;
    struct buf members; /* further members, each with a comma before it */
    struct buf cause;   /* the caused_by object, or empty */
    struct buf root;    /* the root cause where it is not the refusal itself */
};

void refusal_init(struct refusal *r);
void refusal_release(struct refusal *r);

/* Fills type and reason (printf) afresh; returns -1. */
int refuse(struct refusal *r, int status, const char *type, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with a reason that is already text of any length. */
int refuse_text(struct refusal *r, int status, const char *type, struct span reason);

/* 400 in devsearch's own words: what the stand-in does not know. */
int refuse_unknown(struct refusal *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a text member to the error object. */
void refusal_member(struct refusal *r, const char *name, const char *value);

/* Puts a caused_by object of type and reason (printf). */
void refusal_cause(struct refusal *r, const char *type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Makes the cause the root cause as well: the server names its own exceptions that way. */
void refusal_root_is_cause(struct refusal *r);

/* Appends the error object; with_root also its root_cause. */
void refusal_render(const struct refusal *r, struct buf *out, bool with_root);

/* Makes it the whole answer. */
void answer_refuse(struct answer *a, const struct refusal *r);

/* {"error":"text","status":N}: what the routing layer says. */
void answer_plain_error(struct answer *a, int status, const char *text);

/* Appends a JSON string from bytes that may hold anything. */
void push_json(struct buf *out, struct span bytes);
void push_json_text(struct buf *out, const char *text);

/* no such index [name], with its members; kind: index_or_alias or index_expression. */
int refuse_no_index(struct refusal *r, const char *name, const char *kind);

#endif
