/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to a base URL, step by step, for check: its name, its port, its certificate. No request
 * is sent, and a certificate that cannot be verified is not looked at.
 */
#ifndef ROWFERRY_SERVICE_REACH_H
#define ROWFERRY_SERVICE_REACH_H

#include "rowferry/base/err.h"
#include "rowferry/service/http/options.h"

/* The step that failed. */
enum reach_step { REACH_NAME, REACH_PORT, REACH_TLS, REACH_WHOLE };

struct reach {
    enum reach_step step; /* REACH_WHOLE: none */
    char host[256];
    char port[8];
    bool secure;       /* https */
    bool local;        /* the address is loopback's */
    char address[64];  /* the first one that the name leads to */
    size_t addresses;  /* how many there are */
    char subject[256]; /* of the certificate; empty where none was seen */
    char issuer[256];
    int64_t expires_s; /* since 1970; 0: not known */
};

/* 0 where it got through; else the class and words of the step that failed. */
int reach_look(const struct service_options *options, const char *url, struct reach *out,
               struct err *err) MUST_CHECK;

#endif
