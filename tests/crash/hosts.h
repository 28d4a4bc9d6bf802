/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts of a test: network namespaces, each with one wire to a switch (wires.h), and no way to
 * anything else.
 *
 * The namespaces have no names and go with the last process that is in them.
 */
#ifndef ROWFERRY_TESTS_HOSTS_H
#define ROWFERRY_TESTS_HOSTS_H

#include "wires.h"

enum host {
    HOST_SWITCH, /* where the wires end; nobody works there */
    HOST_TESTER,
    HOST_AGENT,
    HOST_STANDBY,
    HOST_SOURCE,
    HOST_SERVICE,
    HOSTS
};

/* Makes them, and enters that of the tester; false, and why, where this machine does not allow it.
 * In the program's first process, before any thread. */
bool hosts_make(const char **why);

/* What the calling thread starts and opens from now on is there. */
void hosts_enter(enum host host);

/* "10.203.0.N"; borrowed. */
const char *hosts_address(enum host host);

/* Lays the wires, in the process that uses them; wires_stop. */
void hosts_connect(uint64_t seed);

/* Both directions between two of them. */
void hosts_say(enum host a, enum host b, const struct wires_rule *rule);

#endif
