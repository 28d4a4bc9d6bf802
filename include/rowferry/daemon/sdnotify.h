/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the state of the process to the service manager (systemd) in datagrams to $NOTIFY_SOCKET,
 * if that is set. A datagram that cannot be sent is dropped, because no data depends on it.
 */
#pragma once

#include <stdint.h>

/* Sends "READY=1", "STATUS=...", "STOPPING=1", "RELOADING=1\nMONOTONIC_USEC=..." or
 * "WATCHDOG=1". Newlines separate several assignments. */
void sdnotify_send(const char *text);

/* Interval at which to send WATCHDOG=1, in ms; 0 if the manager does not expect it. */
int64_t sdnotify_watchdog_ms(void);
