/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts: the first asks to finish what is in flight, the second ends the process at once.
 */
#ifndef ROWFERRY_BASE_STOP_H
#define ROWFERRY_BASE_STOP_H

#include <signal.h>
#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP set the flag, whatever thread they reach. */
const volatile sig_atomic_t *stop_watch(void);

/* Sets the flag, for a command that takes its signals by itself. */
void stop_ask(void);

/* Returns true if the flag is set. */
bool stop_asked(void);

#endif
