/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts of a test: network namespaces, each connected to a switch by one wire (wires.h), and to
 * nothing else.
 *
 * The namespaces have no names and disappear with their last process.
 */
#pragma once

#include "wires.h"

enum host {
    HOST_SWITCH, /* the end of all wires; no program runs there */
    HOST_TESTER,
    HOST_AGENT,
    HOST_STANDBY,
    HOST_SOURCE,
    HOST_SERVICE,
    HOSTS
};

/* Creates the hosts and enters the tester's. Returns false with a reason if the machine does not
 * permit it. Must run in the program's first process before any thread starts. */
bool hosts_make(const char **why);

/* Moves the calling thread to a host; applies to the processes and sockets it creates from now
 * on. */
void hosts_enter(enum host host);

/* Returns "10.203.0.N"; borrowed. */
const char *hosts_address(enum host host);

/* Connects the hosts. Must run in the process that uses the wires; wires_stop ends it. */
void hosts_connect(uint64_t seed);

/* Sets the rule for both directions between two hosts. */
void hosts_say(enum host a, enum host b, const struct wires_rule *rule);
