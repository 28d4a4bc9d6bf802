/* SPDX-License-Identifier: Apache-2.0 */
/* inotify on the state file. */
#include "rowferry/state/notice.h"

#include <sys/inotify.h>
#include <unistd.h>

#include "database.h"

#define EVENTS_BYTES 4096

int notice_open(const struct state *s)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd >= 0 && inotify_add_watch(fd, s->path, IN_MODIFY) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

bool notice_take(int fd)
{
    char events[EVENTS_BYTES];
    bool any = false;
    while (read(fd, events, sizeof(events)) > 0) {
        any = true;
    }
    return any;
}
