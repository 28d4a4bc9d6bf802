/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Amazon's Signature Version 4 of one request.
 *
 * libcurl signs too, but up to the version of Debian 12 and beyond it signs path and query as they
 * are sent. The service signs the path encoded once more and the query encoded and sorted, so that
 * a request with a comma, a star or two parameters would be refused; and it leaves out
 * x-amz-content-sha256, which the serverless service wants.
 */
#ifndef ROWFERRY_SERVICE_SIGV4_H
#define ROWFERRY_SERVICE_SIGV4_H

#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

struct sigv4 {
    const char *region, *service;
    const char *key_id, *secret_key;
    const char *token; /* of a session; null: none */
};

/* What is signed; texts as they are sent. */
struct sigv4_request {
    const char *method;
    struct span host;  /* as the Host header has it */
    struct span path;  /* from the first slash to the question mark */
    struct span query; /* behind it, may be empty */
    struct span body;
    int64_t time_s;
};

#define SIGV4_LINES 4

/* The header lines of the request: x-amz-date, x-amz-content-sha256, Authorization and, with a
 * token, x-amz-security-token; the rest are null. Wiped and freed by the caller. */
void sigv4_sign(const struct sigv4 *key, const struct sigv4_request *request,
                char *lines[SIGV4_LINES]);

#endif
