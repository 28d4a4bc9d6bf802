/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP to the service: one libcurl multi handle, its easy handles reused, one thread.
 *
 * TLS is always verified, redirects are never followed, credentials travel only in the header of
 * requests to the configured base URL. Answers are capped. `{base_url}` is used as given; of
 * several the next one is taken when one cannot be reached or lets a request time out. A proxy is
 * used where one is configured, those of the environment are not. A credential that is refused
 * (401) is read again from its origin, and where another one stands there the request is sent once
 * more. Error classes: no connection, time-out, reset, 408, 429, 502, 503, 504 are ERR_TRANSIENT;
 * TLS that cannot be verified, 401, 403 and every other 4xx and 5xx are ERR_REJECTED. The message
 * has method, path, status, error type and reason; the detail the first KiB of the body. A
 * configured secret that a refusal echoes is masked before anybody sees it.
 */
#ifndef ROWFERRY_SERVICE_HTTP_H
#define ROWFERRY_SERVICE_HTTP_H

#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/service/http/options.h"

struct service; /* opaque: connections, product, bulk requests in flight */

/* Connects to nothing yet. */
int service_open(struct service **out, const struct service_options *options,
                 struct err *err) MUST_CHECK;
void service_close(struct service *s); /* null is allowed; ends requests in flight */

struct http_answer {
    int status;
    bool json;               /* by its Content-Type */
    int64_t date_s;          /* of its Date, since 1970; 0: it has none (the products send none) */
    char product_header[64]; /* X-elastic-product or X-OpenSearch-Version, else empty */
    const char *origin;      /* "host:port" that gave it; borrowed from the service */
    struct buf body;         /* at most 8 MiB */
};

/*
 * One request, waited for. path begins with '/' and is already encoded (http_push_segment); body
 * null = none. Fails (class as above) only where no whole answer arrived; any status is an answer.
 */
int http_request(struct service *s, const char *method, const char *path, struct span body,
                 struct http_answer *answer, struct err *err) MUST_CHECK;
void http_answer_release(struct http_answer *answer);

/* Turns an answer into an error as described above; returns its class. */
int http_refuse(const struct http_answer *answer, const char *method, const char *path,
                struct err *err);

/* Appends a path segment, percent-encoded. */
void http_push_segment(struct buf *out, const char *text, size_t len);

#endif
