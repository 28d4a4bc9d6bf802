/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: the first one asks the process to finish its work in flight, the second ends it at once.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Installs the handlers: SIGINT, SIGTERM and SIGHUP set the flag, in whatever thread they arrive.
 * Returns the flag. */
const volatile sig_atomic_t *stop_watch(void);

/* Sets the flag; for a command that handles signals itself. */
void stop_ask(void);

/* Returns true if the flag is set. */
bool stop_asked(void);
