/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the room's modules share: the connections, the slots of requests, the product.
 *
 * A slot is one libcurl easy handle and what a request of it needs; it is used again for the next
 * request. Slot 0 is http_request's; the others carry bulks.
 */
#ifndef ROWFERRY_SERVICE_SERVICE_H
#define ROWFERRY_SERVICE_SERVICE_H

#include <curl/curl.h>

#include "rowferry/document/bulk/batch.h"
#include "rowferry/service/http/http.h"
#include "rowferry/service/http/product.h"

#define HTTP_BODY_MAX_BYTES ((size_t)8 << 20)
#define BULK_BODY_MAX_BYTES ((size_t)64 << 10) /* of a bulk's answer that is not 200 */
#define HTTP_PATH_MAX_BYTES ((size_t)4096)     /* both products refuse a longer request line */

/* Those of an answer that tell a product; ends with null. */
extern const char *const product_headers[];

struct base_url {
    char *url;    /* without a slash at the end */
    char *origin; /* "host:port", for messages */
    char *host;   /* as the Host header has it, and */
    char *prefix; /* what stands before the path: both are signed */
};

/* Takes the body of an answer while it arrives, in place of the answer's buffer. */
struct body_reader {
    void *context; /* null: none yet */
    bool (*feed)(void *context, const char *bytes,
                 size_t len); /* false: further bytes are ignored */
    void (*free)(void *context);
};

struct slot {
    struct service *service;
    CURL *easy;
    char failure[CURL_ERROR_SIZE]; /* libcurl's words for it */
    struct buf path;
    struct buf url;
    const char *method;
    size_t base;                       /* the base URL in use */
    unsigned credential;               /* which one it was sent with: service.credential then */
    struct curl_slist *signed_headers; /* of this request alone; null: not signed */
    struct http_answer answer;
    bool head_whole; /* the blank line after the final head (not 1xx) has come */
    bool overflow;   /* the answer's body was larger than its maximum */
    bool finished;
    CURLcode result;
    struct batch *batch;       /* of a bulk */
    struct body_reader reader; /* takes the body of a bulk's 200 */
    struct slot *next;         /* in the queue of bulks that ended */
};

struct service {
    struct service_options options; /* its secrets are our own: */
    char *secrets[SERVICE_SECRETS];
    unsigned credential; /* grows with each that is read again */
    CURLM *multi;
    struct base_url *bases;
    size_t base_count;
    size_t base; /* where the next request goes */
    struct curl_slist *json_headers;
    struct curl_slist *bulk_headers;
    struct slot *slots;
    size_t slot_count;
    size_t in_flight;         /* bulks that were sent and not taken back */
    struct slot *first_ended; /* bulks that ended and wait to be taken, oldest first */
    struct slot *last_ended;
    struct slot glance;          /* glance.h's request */
    bool glances;                /* it is under way, */
    char glance_name[256];       /* of this name */
    struct product_info product; /* PRODUCT_UNKNOWN until product_detect */
};

#endif
