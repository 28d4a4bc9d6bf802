/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wires between the hosts of a test: a switch that applies the test's rule to each frame and
 * counts what it did.
 *
 * It identifies a host by the last byte of its MAC address (02:00:00:00:00:0N). It runs in one
 * thread, which the test starts and stops. Frames that arrive without it wait in the sockets or are
 * lost.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRES_PORTS 8

/* What happened to frames. */
enum wires_deed {
    WIRES_LOST,
    WIRES_DELAYED,
    WIRES_OVERTAKEN,
    WIRES_DOUBLED,
    WIRES_CUT,
    WIRES_DEEDS
};

/* Rule for one direction between two hosts. Shares are per thousand frames. */
struct wires_rule {
    bool cut; /* drop all frames silently */
    int lost;
    int doubled;
    int held;         /* delayed until later frames overtake them */
    int64_t delay_ms; /* of every frame */
};

/* sockets: non-blocking packet sockets, each at the switch's end of the wire to host i; borrowed.
 * A negative one means that there is no such wire. */
void wires_start(const int sockets[WIRES_PORTS], uint64_t seed);
void wires_stop(void);

/* Sets the rule for frames from `from` to `to`. */
void wires_say(int from, int to, const struct wires_rule *rule);

/* Returns the number of frames since the start. */
int64_t wires_count(enum wires_deed deed);
