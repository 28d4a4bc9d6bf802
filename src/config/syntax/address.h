/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of server addresses: valid, and without secrets. Messages never quote the text, because it
 * may contain the secret that is refused.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/err.h"

/* PostgreSQL: a URI or key=value. A password in either form is ERR_CONFIG. */
int address_check_uri(const char *uri, struct err *err) MUST_CHECK;

/* A URL: http:// or https://, host, optional port and path. user:password@, a query and a fragment
 * are ERR_CONFIG. */
int address_check_url(const char *url, struct err *err) MUST_CHECK;

/* The service: such a URL, or a cloud id. */
int address_check_service(const char *text, struct err *err) MUST_CHECK;

/* Elastic Cloud shows a cloud id beside the addresses of a deployment: a name and, in base64, the
 * host, the part of Elasticsearch and that of Kibana. Returns the URL of Elasticsearch, which the
 * caller frees, or null if the text is no cloud id. */
char *address_of_cloud_id(const char *text);

/* The receiver of a hook: the same, with a query if it has one. */
int address_check_hook(const char *url, struct err *err) MUST_CHECK;

/* Returns true if a credential in a request to this URL could be read on the network: http:// and
 * not loopback. */
bool address_is_open(const char *url);

/* Returns true if other machines may reach this listening address, judged by its text. */
bool address_listens_open(const char *listen);

/* host:port, or [address]:port. */
int address_check_listen(const char *listen, struct err *err) MUST_CHECK;
/* A host name alone. */
int address_check_host(const char *name, struct err *err) MUST_CHECK;
