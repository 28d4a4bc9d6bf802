/* SPDX-License-Identifier: Apache-2.0 */
/* A list in the order of arrival. */
#include "connection_limit.h"

#include <string.h>

void doorkeeper_leave(struct doorkeeper *d, int fd)
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

int doorkeeper_enter(struct doorkeeper *d, int fd)
{
    int gone = -1;
    if (d->count == DOORKEEPER_MOST) {
        gone = d->guests[0];
        doorkeeper_leave(d, gone);
    }
    d->guests[d->count++] = fd;
    return gone;
}
