/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command line options of devsearch.
 */
#pragma once

#include "base/answer.h"
#include "rowferry/base/err.h"

struct options {
    char *host;
    int port; /* 0: any free port */
    char *data;
    char *api_key;
    char *bearer;
    char *user;
    char *password;
    char *tls_cert; /* PEM text */
    char *tls_key;
    char *port_file;
    enum product product;
    size_t max_content_length;
    bool faults;
    bool help;
    bool version;
};

int options_parse(struct options *o, int argc, char **argv, struct err *err);
void options_release(struct options *o);
const char *options_help(void);
