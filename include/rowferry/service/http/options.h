/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of the service client. All strings are borrowed and must outlive the service.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/document/model/key.h"

struct rotating_secret;

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
    const char *const *urls; /* base URLs without credentials, path prefix included */
    size_t url_count;
    const char *api_key; /* opaque, sent as "Authorization: ApiKey ..."; may be null */
    const char *user;    /* basic authentication; may be null */
    const char *password;
    const char *bearer;
    const char *aws_region; /* requests are signed (sigv4.h) unless null */
    const char *aws_service;
    const char *aws_key_id;
    const char *aws_secret_key;
    const char *aws_token; /* session token; may be null */
    struct rotating_secret
        *renewals[SERVICE_SECRETS]; /* origins of the secrets above, read again after a
                               401; an entry is null if the secret is fixed */
    const char *proxy;              /* proxy URL, or null for none; the environment is ignored */
    const char *ca_file;            /* null selects the system's store */
    const char *client_cert;        /* PEM files; may be null */
    const char *client_key;
    int64_t request_timeout_ms; /* limit for one request, body and answer */
    int64_t connect_timeout_ms;
    struct key_routing routing; /* routing for lookups by id */
    bool stream;                /* data stream: documents are found by search, not by id */
    unsigned in_flight;         /* maximum of concurrent bulk requests */
};
