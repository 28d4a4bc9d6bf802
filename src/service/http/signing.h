/* SPDX-License-Identifier: Apache-2.0 */
/* Header lines of a single request, because they contain its signature (sigv4.h). */
#pragma once

#include "http/service.h"

/* Fills slot->signed_headers with the common headers and the signature for slot->url. Returns false
 * if out of memory. */
bool signing_add(struct slot *slot, const struct curl_slist *headers, const struct span *body);

/* Wipes and frees the lines after the request. */
void signing_drop(struct slot *slot);
