/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets of the service: builds the header lines that carry them, and keeps them out of all
 * output.
 */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>

#include "http/service.h"

/* Copies the current secrets and points the options at the copies. */
void secret_take_all(struct service *s);
void secret_drop_all(struct service *s);

/* Adds the Authorization line of an API key or bearer token. Returns false if out of memory. User
 * and password are options of libcurl; signatures are made per request. */
bool secret_add_header(struct curl_slist **list, const struct service_options *options);

/*
 * Call after an answer that refuses the credential. Returns true if the request should be sent
 * again with a newer credential. The newer one was read just now, or by another request since this
 * one was sent.
 */
bool secret_renewed(struct slot *slot);

/* Overwrites the lines, then frees them. */
void secret_free_headers(struct curl_slist *list);

/* Replaces every configured secret of 4 bytes or more in bytes by stars, also in the form of basic
 * authentication. */
void secret_mask(const struct service_options *options, char *bytes, size_t len);
