/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Amazon's Signature Version 4 of one request.
 *
 * libcurl can sign too. But the version of Debian 12 and later ones sign path and query as they are
 * sent. The service signs the path encoded once more, and the query encoded and sorted. A request
 * with a comma, a star or two parameters would therefore be refused. libcurl also omits
 * x-amz-content-sha256, which the serverless service requires.
 */
#pragma once

#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

struct sigv4 {
    const char *region, *service;
    const char *key_id, *secret_key;
    const char *token; /* session token; may be null */
};

/* Signed parts of a request, as they are sent. */
struct sigv4_request {
    const char *method;
    struct span host;  /* value of the Host header */
    struct span path;  /* from the first slash to the question mark */
    struct span query; /* after the question mark, may be empty */
    struct span body;
    int64_t time_s;
};

#define SIGV4_LINES 4

/* Creates the header lines: x-amz-date, x-amz-content-sha256, Authorization and, with a token,
 * x-amz-security-token. Unused entries are null. The caller wipes and frees the lines. */
void sigv4_sign(const struct sigv4 *key, const struct sigv4_request *request,
                char *lines[SIGV4_LINES]);

/* Returns the token by which Amazon RDS and Aurora admit a role in place of a password: the address
 * "authority/?Action=connect..." signed for 15 minutes. key->service is "rds-db", and authority is
 * "host:port". The caller wipes and frees it. */
char *sigv4_login_token(const struct sigv4 *key, const char *authority, const char *user,
                        int64_t time_s);
