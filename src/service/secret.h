/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets of the service: the header lines that carry them, and keeping them out of everything
 * that a person may read.
 */
#ifndef ROWFERRY_SERVICE_SECRET_H
#define ROWFERRY_SERVICE_SECRET_H

#include <curl/curl.h>
#include <stdbool.h>

#include "rowferry/service/options.h"

/* Adds the Authorization line of an API key or bearer token; false without memory. (User and
 * password are libcurl's own options.) */
bool secret_add_header(struct curl_slist **list, const struct service_options *options);

/* Overwrites the lines before they are freed. */
void secret_free_headers(struct curl_slist *list);

/* Puts stars over every configured secret (of 4 bytes or more) in the bytes, in the form of basic
 * authentication too. */
void secret_mask(const struct service_options *options, char *bytes, size_t len);

#endif
