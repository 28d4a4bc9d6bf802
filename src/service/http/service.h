/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared state of the service modules: connections, request slots and the product.
 *
 * A slot is a libcurl easy handle and the data of its request; it is reused. Slot 0 belongs to
 * http_request, the others carry bulk requests.
 */
#pragma once

#include <curl/curl.h>

#include "rowferry/document/bulk/batch.h"
#include "rowferry/service/http/http.h"
#include "rowferry/service/http/product.h"

#define HTTP_BODY_MAX_BYTES ((size_t)8 << 20)
#define BULK_BODY_MAX_BYTES ((size_t)64 << 10) /* bulk answer without status 200 */
#define HTTP_PATH_MAX_BYTES ((size_t)4096)     /* both products refuse a longer request line */

/* Response headers that identify a product; the list ends with null. */
extern const char *const product_headers[];

struct base_url {
    char *url;    /* without a trailing slash */
    char *origin; /* "host:port", for messages */
    char *host;   /* value of the Host header, signed */
    char *prefix; /* path of the base URL, signed */
};

struct answer;

/* Takes the body of an answer while it arrives, in place of the answer's buffer. */
struct body_reader {
    struct answer *answer; /* service/bulk/answer.h; null: none yet */
    bool (*feed)(struct answer *a, const char *bytes,
                 size_t len); /* false: further bytes are ignored */
    void (*free)(struct answer *a);
};

struct slot {
    struct service *service;
    CURL *easy;
    char failure[CURL_ERROR_SIZE]; /* libcurl's error message */
    struct buf path;
    struct buf url;
    const char *method;
    size_t base;                       /* index of the base URL in use */
    unsigned credential;               /* service.credential at the time of sending */
    struct curl_slist *signed_headers; /* headers of this request only; null: not signed */
    struct http_answer answer;
    bool head_whole; /* the blank line after the final head (not 1xx) was received */
    bool overflow;   /* the answer's body exceeded its maximum */
    bool finished;
    CURLcode result;
    struct batch *batch;       /* bulk request only */
    struct body_reader reader; /* parser of the bulk answer */
    struct slot *next;         /* next in the queue of finished bulk requests */
};

struct service {
    struct service_options options; /* use the secrets below instead of its credentials */
    char *secrets[SERVICE_SECRETS];
    unsigned credential; /* incremented when a credential is read again */
    CURLM *multi;
    bool reached;     /* a server has answered at least once */
    bool scheme_kept; /* the other scheme was tried and did not work either */
    struct base_url *bases;
    size_t base_count;
    size_t base; /* base URL of the next request */
    struct curl_slist *json_headers;
    struct curl_slist *bulk_headers;
    struct slot *slots;
    size_t slot_count;
    size_t in_flight;         /* bulk requests sent and not yet taken */
    struct slot *first_ended; /* finished bulk requests, oldest first */
    struct slot *last_ended;
    struct slot poll;            /* request of alias_poll.h */
    bool polling;                /* true while that request is pending */
    char poll_name[256];         /* its name */
    struct product_info product; /* PRODUCT_UNKNOWN until product_detect */
};
