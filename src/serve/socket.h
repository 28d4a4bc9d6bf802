/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listening socket.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/serve/serve.h"

/* Opens it for "host:port" or "[address]:port". *address is the bound address, numeric only.
 * *loopback is true if only this machine can connect. The caller closes *fd. */
int socket_listen(const char *listen, int *fd, char address[SERVE_ADDRESS_BYTES], bool *loopback,
                  struct err *err) MUST_CHECK;
