/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rotates libpq's lists of hosts ("a,b,c") to begin with another item.
 *
 * libpq tries hosts in their order and waits for each without limit, because its connect_timeout
 * does not apply to asynchronous connections. So we rotate the list if a host does not answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/buf.h"

/* Returns the number of items; 0 for null or an empty text. */
size_t hosts_count(const char *list);

/* Appends the list, beginning with item number `turn`; the items before it go to the end. */
void hosts_turn(struct buf *out, const char *list, size_t turn);

/* Returns true if one of the hosts is reached over a network. Local are: an empty host, a path (a
 * Unix socket), localhost, and addresses of the loopback. */
bool hosts_leave(const char *list);
