/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks if the name in a request's Host header is one of this machine's. Pure.
 *
 * This prevents DNS rebinding: a page of another origin can make its own name point at 127.0.0.1
 * and read what is served there, but its requests carry that name. Numeric addresses cannot be
 * redirected.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define HOST_BYTES 256

/* Extracts the name or address of "host:port", without brackets. Returns false if it is too long
 * for a name. */
bool host_name(const char *text, char out[HOST_BYTES]);

/* Returns true if `host`, from the request, is local; null means that the request has none. `names`
 * lists the accepted names ("name" or "name:port") besides addresses and localhost. */
bool host_is_ours(const char *host, const char *const *names, size_t count);
