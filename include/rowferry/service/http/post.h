/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one JSON document to a receiver that is not the search service. */
#pragma once

#include <stdint.h>

#include "rowferry/base/err.h"
#include "rowferry/base/text.h"

/* Only a 2xx is a success; redirects are not followed, and the answer's body is dropped. No message
 * contains the URL's path, which may be a secret. Always ERR_TRANSIENT on failure. */
int post_json(const char *url, struct span body, int64_t timeout_ms, struct err *err) MUST_CHECK;
