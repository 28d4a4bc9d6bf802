/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpq's lists of hosts ("a,b,c"), read from another one on.
 *
 * libpq tries them in their order, and without an answer from one it never comes to the next: its
 * connect_timeout does not hold where we poll.
 */
#ifndef ROWFERRY_SOURCE_HOSTS_H
#define ROWFERRY_SOURCE_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/buf.h"

/* How many items; of null or an empty text none. */
size_t hosts_count(const char *list);

/* Appends the list beginning with item number `turn`, those before it at its end. */
void hosts_turn(struct buf *out, const char *list, size_t turn);

/* Whether one of the hosts is reached over a network: neither empty nor a path (a socket of this
 * machine), nor localhost or an address of its loopback. */
bool hosts_leave(const char *list);

#endif
