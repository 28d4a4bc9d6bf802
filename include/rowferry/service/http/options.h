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
    SERVICE_API_KEY,  /* opaque, sent as "Authorization: ApiKey ..." */
    SERVICE_BEARER,   /* sent as "Authorization: Bearer ..." */
    SERVICE_PASSWORD, /* of basic authentication, with `user` */
    SERVICE_AWS_KEY_ID,
    SERVICE_AWS_SECRET_KEY,
    SERVICE_AWS_TOKEN, /* session token; may be missing */
    SERVICE_SECRETS,
};

struct service_credential {
    const char *value;              /* null: not configured */
    struct rotating_secret *origin; /* read again after a 401; null if the value is fixed */
};

struct service_options {
    const char *const *urls; /* base URLs without credentials, path prefix included */
    size_t url_count;
    const char *user; /* basic authentication; may be null */
    struct service_credential credentials[SERVICE_SECRETS];
    const char *aws_region; /* requests are signed (sigv4.h) unless null */
    const char *aws_service;
    const char *proxy;       /* proxy URL, or null for none; the environment is ignored */
    const char *ca_file;     /* null selects the system's store */
    const char *client_cert; /* PEM files; may be null */
    const char *client_key;
    int64_t request_timeout_ms; /* limit for one request, body and answer */
    int64_t connect_timeout_ms;
    struct key_routing routing; /* for lookups by key */
    bool stream;                /* data stream: documents are found by search, not by id */
    bool refuse_admin;          /* an administrator's account (service/cluster/privilege.h) */
    unsigned in_flight;         /* maximum of concurrent bulk requests */
};
