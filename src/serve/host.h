/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom a request calls by the name in Host. Pure.
 *
 * A page of another origin can make its own name point at 127.0.0.1 and read what is served there;
 * its requests bear that name. Addresses cannot be made to point elsewhere.
 */
#ifndef ROWFERRY_SERVE_HOST_H
#define ROWFERRY_SERVE_HOST_H

#include <stdbool.h>

/* host: of the request, null where it names none; own: "host:port" of the configuration. */
bool host_is_ours(const char *host, const char *own);

#endif
