/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets of the service: builds the header lines that carry them, and keeps them out of all
 * output.
 */
#pragma once

#include "http/service.h"

/* Copies the current values to s->secrets. */
void secret_take_all(struct service *s);
void secret_drop_all(struct service *s);

/* Adds a header line. Returns false if out of memory. */
bool secret_push_line(struct curl_slist **list, const char *line);

/* Adds the Authorization line of an API key or bearer token. Returns false if out of memory. User
 * and password are options of libcurl; signatures are made per request. */
bool secret_push_authorization(struct curl_slist **list, const struct service *s);

/* Fills slot->signed_headers with the common headers and the signature (sigv4.h) for slot->url.
 * Returns false if out of memory. */
bool secret_sign(struct slot *slot, const struct curl_slist *headers, const struct span *body);

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
void secret_mask(const struct service *s, char *bytes, size_t len);
