/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP client for the service: one libcurl multi handle with reused easy handles, one thread.
 *
 * TLS is always verified and redirects are never followed. Credentials travel only in the header of
 * requests to the configured base URL. `{base_url}` is used as given. With several URLs, the client
 * moves to the next one if a URL cannot be reached or a request times out. Only a configured proxy
 * is used, never one from the environment. Response size is limited. After a 401 the credential is
 * read again from its origin; if it has changed, the request is sent once more.
 *
 * Error classes: no connection, timeout, reset, 408, 429, 502, 503 and 504 are ERR_TRANSIENT. TLS
 * that cannot be verified, 401, 403 and every other 4xx and 5xx are ERR_REJECTED. The message has
 * method, path, host, status, error type and reason; the detail has the first KiB of the body. Of
 * an HTML page, such as a proxy's, the message has the title only. If a response echoes a
 * configured secret, the secret is masked.
 */
#pragma once

#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/service/http/options.h"

struct service; /* opaque: connections, product, bulk requests in flight */

/* Creates the service handle without connecting. */
int http_service_open(struct service **out, const struct service_options *options,
                      struct err *err) MUST_CHECK;
void http_service_close(struct service *s); /* accepts null; aborts requests in flight */

struct http_answer {
    int status;
    bool json;      /* according to Content-Type */
    int64_t date_s; /* Date header, seconds since 1970; 0 if missing (the products send none) */
    char product_header[64]; /* X-elastic-product or X-OpenSearch-Version, or empty */
    bool dashboards;         /* Kibana or OpenSearch Dashboards answered, by its header */
    const char *origin;      /* "host:port" that answered; borrowed from the service */
    struct buf body;         /* at most 8 MiB */
};

/*
 * Sends one request and waits for the answer. path begins with '/' and is already percent-encoded
 * (text_percent). A null body means no body. Fails, with the classes above, only if no
 * complete answer arrives; any status is an answer.
 */
int http_request(struct service *s, const char *method, const char *path, struct span body,
                 struct http_answer *answer, struct err *err) MUST_CHECK;
void http_answer_release(struct http_answer *answer);

/* Fills err from an answer as described above and returns the error class. */
int http_refuse(const struct http_answer *answer, const char *method, const char *path,
                struct err *err);

/* Removes the rest of the name of a write alias (service/index/index.h) from a text for people: it
 * is the name of an index, and "-WRITE" with a token. */
void http_hide_alias(char *text);
