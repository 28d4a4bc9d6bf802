/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts: the first asks to finish what is in flight, the second ends the process at once.
 */
#ifndef ROWFERRY_CLI_STOP_H
#define ROWFERRY_CLI_STOP_H

#include <signal.h>

/* From here on SIGINT, SIGTERM and SIGHUP set the flag, whatever thread they reach. */
const volatile sig_atomic_t *stop_watch(void);

#endif
