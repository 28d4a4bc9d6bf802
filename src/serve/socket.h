/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket that is listened on.
 */
#ifndef ROWFERRY_SERVE_SOCKET_H
#define ROWFERRY_SERVE_SOCKET_H

#include <stdbool.h>

#include "rowferry/serve/serve.h"

/* listen: "host:port" or "[address]:port". *address: where it listens, numbers only; *loopback:
 * only this machine reaches it. The descriptor is the caller's. */
int socket_listen(const char *listen, int *fd, char address[SERVE_ADDRESS_BYTES], bool *loopback,
                  struct err *err) MUST_CHECK;

#endif
