/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telling the service manager (systemd) how the process stands: a datagram to $NOTIFY_SOCKET, where
 * there is one. What cannot be sent is dropped: nobody's data depends on it.
 */
#ifndef ROWFERRY_DAEMON_SDNOTIFY_H
#define ROWFERRY_DAEMON_SDNOTIFY_H

#include <stdint.h>

/* "READY=1", "STATUS=...", "STOPPING=1", "RELOADING=1\nMONOTONIC_USEC=...", "WATCHDOG=1"; several
 * are parted by newlines. */
void sdnotify_send(const char *text);

/* How often the manager wants to hear WATCHDOG=1, in ms; 0: not at all. */
int64_t sdnotify_watchdog_ms(void);

#endif
