/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operation is an upsert or a delete of one document. Its outcome is the service's result for
 * it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum operation_kind { OPERATION_UPSERT, OPERATION_DELETE };

/* Used instead of a version: the upsert is a `create`, which has no version. */
#define OPERATION_CREATES 0

enum outcome {
    OUTCOME_UNKNOWN,  /* no reliable answer: send again, which versions make harmless */
    OUTCOME_DONE,     /* in the index, possibly by an earlier attempt */
    OUTCOME_RETRY,    /* not accepted now: send the same bytes again later */
    OUTCOME_CONFLICT, /* conflict: the index has a higher version; read and send the row again */
    OUTCOME_REJECTED, /* never acceptable as it is: dead letter */
    OUTCOME_FATAL,    /* fatal: no operation of this kind can succeed; stop, no dead letter */
};

struct operation {
    enum operation_kind kind;
    enum outcome outcome;
    unsigned attempts;  /* how often it was sent */
    int http_status;    /* of the item; 0 before an answer */
    int64_t version;    /* version of the read that produced it, or OPERATION_CREATES */
    int64_t seen;       /* CONFLICT: the version in the index */
    uint64_t page;      /* the engine's number of its page */
    size_t offset, len; /* action line and document in the batch's bytes */
    size_t key_offset;  /* the key's text in the batch's keys */
    size_t key_len;
    size_t reason_offset; /* "type: reason" in the batch's reasons; reason_len 0 = none */
    size_t reason_len;
    size_t type_len;  /* of the type within the reason */
    uint64_t passed;  /* accepted operations before its refusal (engine/guard/refused.h) */
    unsigned refused; /* consecutive refusals with a status of its own */
    bool witnessed;   /* its witness was accepted the last time */
    bool witness;     /* is itself a witness, not a change of a row */
    bool answered;    /* the current answer has an item for it */
};

/* Names the kind for people, logs and the state file. */
static inline const char *operation_kind_name(enum operation_kind kind)
{
    return kind == OPERATION_DELETE ? "delete" : "upsert";
}
