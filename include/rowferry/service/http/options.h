/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the service room needs to be told. All texts are borrowed and outlive the service.
 */
#ifndef ROWFERRY_SERVICE_OPTIONS_H
#define ROWFERRY_SERVICE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/document/model/key.h"

struct renewal;

enum service_secret {
    SERVICE_API_KEY,
    SERVICE_BEARER,
    SERVICE_PASSWORD,
    SERVICE_AWS_KEY_ID,
    SERVICE_AWS_SECRET_KEY,
    SERVICE_AWS_TOKEN,
    SERVICE_SECRETS,
};

struct service_options {
    const char *const *urls; /* base URLs without credential, path prefix included */
    size_t url_count;
    const char *api_key; /* opaque, sent as "Authorization: ApiKey ..."; null = none */
    const char *user;    /* basic authentication; null = none */
    const char *password;
    const char *bearer;
    const char *aws_region; /* requests are signed (sigv4.h); null = not */
    const char *aws_service;
    const char *aws_key_id;
    const char *aws_secret_key;
    const char *aws_token;                     /* of a session; null = none */
    struct renewal *renewals[SERVICE_SECRETS]; /* of the texts above, for one that is refused; null:
                                                  there is no other */
    const char *proxy;       /* a URL; null: none, whatever the environment says */
    const char *ca_file;     /* null: the system's store */
    const char *client_cert; /* PEM files; null = none */
    const char *client_key;
    int64_t request_timeout_ms; /* of one request, body and answer */
    int64_t connect_timeout_ms;
    struct key_routing routing; /* of documents that are asked for by their ids */
    bool stream;        /* they are a data stream's, which no id is looked up in: searched */
    unsigned in_flight; /* bulk requests at a time, at most */
};

#endif
