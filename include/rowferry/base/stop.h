/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: the first one asks the process to finish its work in flight, the second ends it at once.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Installs the handlers: SIGINT, SIGTERM and SIGHUP set the flag, in whatever thread they arrive.
 * Returns the flag. */
const volatile sig_atomic_t *stop_watch(void);

/* Sets the flag; for a command that handles signals itself. */
void stop_ask(void);

/* Returns true if the flag is set. */
bool stop_asked(void);

/* The same for a flag that another thread may set; null is never set. */
static inline bool stop_is_set(const volatile sig_atomic_t *stop)
{
    return stop != NULL && __atomic_load_n(stop, __ATOMIC_RELAXED) != 0;
}
