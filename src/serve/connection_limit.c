/* SPDX-License-Identifier: Apache-2.0 */
/* A list in the order of arrival. */
#include "connection_limit.h"

#include <string.h>

void connection_limit_leave(struct connection_limit *d, int fd)
{
    size_t i = 0;
    while (i < d->count && d->guests[i] != fd) {
        i++;
    }
    if (i < d->count) {
        d->count--;
        memmove(&d->guests[i], &d->guests[i + 1], (d->count - i) * sizeof(d->guests[0]));
    }
}

int connection_limit_enter(struct connection_limit *d, int fd)
{
    int gone = -1;
    if (d->count == CONNECTION_LIMIT_MAX) {
        gone = d->guests[0];
        connection_limit_leave(d, gone);
    }
    d->guests[d->count++] = fd;
    return gone;
}
