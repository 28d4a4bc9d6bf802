/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets of the service: the header lines that carry them, and keeping them out of everything
 * that a person may read.
 */
#ifndef ROWFERRY_SERVICE_SECRET_H
#define ROWFERRY_SERVICE_SECRET_H

#include <curl/curl.h>
#include <stdbool.h>

#include "http/service.h"

/* Takes copies of the secrets that are in force, and points the options at them. */
void secret_take_all(struct service *s);
void secret_drop_all(struct service *s);

/* Adds the Authorization line of an API key or bearer token; false without memory. (User and
 * password are libcurl's own options, signing is of each request.) */
bool secret_add_header(struct curl_slist **list, const struct service_options *options);

/*
 * After an answer that refuses the credential: whether another one is in force by now, because it
 * was read again or had been since the request was sent. Then it is worth sending again.
 */
bool secret_renewed(struct slot *slot);

/* Overwrites the lines before they are freed. */
void secret_free_headers(struct curl_slist *list);

/* Puts stars over every configured secret (of 4 bytes or more) in the bytes, in the form of basic
 * authentication too. */
void secret_mask(const struct service_options *options, char *bytes, size_t len);

#endif
