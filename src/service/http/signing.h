/* SPDX-License-Identifier: Apache-2.0 */
/* Header lines that belong to one request, because they sign it (sigv4.h). */
#ifndef ROWFERRY_SERVICE_SIGNING_H
#define ROWFERRY_SERVICE_SIGNING_H

#include "http/service.h"

/* Puts the lines of all requests and the request's own into slot->signed_headers; slot->url is what
 * goes. False without memory. */
bool signing_add(struct slot *slot, const struct curl_slist *headers, const struct span *body);

/* Wipes and frees them, when the request is over. */
void signing_drop(struct slot *slot);

#endif
