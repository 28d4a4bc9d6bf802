/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection diagnosis for the check command: resolves the name of a base URL, connects to its port
 * and verifies its certificate. Sends no request. A certificate that cannot be verified is not
 * described.
 */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/service/http/options.h"

/* The step that failed. */
enum reach_step { REACH_NAME, REACH_PORT, REACH_TLS, REACH_WHOLE };

struct reach {
    enum reach_step step; /* REACH_WHOLE if no step failed */
    char host[256];
    char port[8];
    bool secure;       /* true for https */
    bool local;        /* true if the address is a loopback address */
    char address[64];  /* first address of the name */
    size_t addresses;  /* number of addresses */
    char subject[256]; /* subject of the certificate; empty if none was received */
    char issuer[256];
    int64_t expires_s; /* seconds since 1970; 0 if unknown */
};

/* Returns 0 if all steps succeeded, otherwise the error class of the failed step. */
int reach_look(const struct service_options *options, const char *url, struct reach *out,
               struct err *err) MUST_CHECK;
