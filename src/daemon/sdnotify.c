/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the protocol of sd_notify(3) without libsystemd: it is a single datagram. */
#include "rowferry/daemon/sdnotify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A name that begins with @ is an abstract socket: no file, and no NUL at its end. */
static socklen_t sdnotify_address_of(const char *path, struct sockaddr_un *address)
{
    size_t len = strlen(path);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if ((path[0] != '/' && path[0] != '@') || len < 2 || len >= sizeof(address->sun_path)) {
        return 0;
    }
    memcpy(address->sun_path, path, len);
    if (path[0] == '@') {
        address->sun_path[0] = '\0';
    }
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

void sdnotify_send(const char *text)
{
    struct sockaddr_un address;
    const char *path = getenv("NOTIFY_SOCKET");
    socklen_t len = path != NULL ? sdnotify_address_of(path, &address) : 0;
    int fd = len > 0 ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    if (fd >= 0) {
        ssize_t ignored = sendto(fd, text, strlen(text), MSG_NOSIGNAL,
                                 (const struct sockaddr *)(const void *)&address, len);
        (void)ignored;
        close(fd);
    }
}

int64_t sdnotify_watchdog_ms(void)
{
    const char *period = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");
    if (period == NULL || (pid != NULL && strtoll(pid, NULL, 10) != getpid())) {
        return 0;
    }
    return strtoll(period, NULL, 10) / 2000; /* twice as often as required */
}
