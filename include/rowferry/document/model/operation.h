/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nouns of the walk: an operation is an upsert or a delete of one document; its outcome is
 * what the service said of it.
 */
#ifndef ROWFERRY_DOCUMENT_OPERATION_H
#define ROWFERRY_DOCUMENT_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum operation_kind { OPERATION_UPSERT, OPERATION_DELETE };

/* In place of a version: the upsert is a `create`, which takes none. */
#define OPERATION_CREATES 0

enum outcome {
    OUTCOME_UNKNOWN,  /* no answer that can be believed: send again, versions make it harmless */
    OUTCOME_DONE,     /* in the index, or already there from an earlier attempt */
    OUTCOME_RETRY,    /* not now: send the same bytes again later */
    OUTCOME_OUTRUN,   /* a higher version is there: read the row again, send with a newer tick */
    OUTCOME_REJECTED, /* never as it is: a dead letter */
    OUTCOME_STOP,     /* nothing of this kind will pass: stop the pipeline, no dead letter */
};

struct operation {
    enum operation_kind kind;
    enum outcome outcome;
    unsigned attempts;  /* how often it was sent */
    int http_status;    /* of the item; 0 before an answer */
    int64_t version;    /* the tick of the read that it came from, or OPERATION_CREATES */
    int64_t seen;       /* OUTRUN: the version that the service holds */
    uint64_t page;      /* the engine's number of the page that it belongs to */
    size_t offset, len; /* action line and document in the batch's bytes */
    size_t key_offset;  /* the key's text in the batch's keys */
    size_t key_len;
    size_t reason_offset; /* "type: reason" in the batch's reasons; reason_len 0 = none */
    size_t reason_len;
    size_t type_len;  /* of the type in it */
    uint64_t passed;  /* engine/guard/refused.h: what the index had taken before it was refused, */
    unsigned refused; /* how often in a row it was refused by a status of its own, */
    bool witnessed;   /* and whether its witness passed the last time */
    bool witness;     /* it is one itself, and no change of a row */
    bool answered;    /* an item of the present answer is of it */
};

/* "upsert", "delete" */
const char *operation_kind_name(enum operation_kind kind);

#endif
