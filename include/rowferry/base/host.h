/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the name in a request's Host is one of this machine. Pure.
 *
 * A page of another origin can make its own name point at 127.0.0.1 and read what is served there;
 * its requests bear that name. Addresses cannot be made to point elsewhere.
 */
#ifndef ROWFERRY_BASE_HOST_H
#define ROWFERRY_BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_BYTES 256

/* The name or address in "host:port", without brackets; false if it is too long for a name. */
bool host_name(const char *text, char out[HOST_BYTES]);

/* host: of the request, null if it names none. names: "name" or "name:port", by which the listener
 * may be called beside addresses and localhost. */
bool host_is_ours(const char *host, const char *const *names, size_t count);

#endif
