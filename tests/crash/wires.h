/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wires between hosts of a test: a switch that does with each frame what the test says, and
 * counts what it did.
 *
 * It knows a host by the last byte of its address (02:00:00:00:00:0N). One thread, started and
 * stopped by the test; what comes while there is none waits in the sockets, or is lost.
 */
#ifndef ROWFERRY_TESTS_WIRES_H
#define ROWFERRY_TESTS_WIRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRES_PORTS 8

/* What became of frames. */
enum wires_deed {
    WIRES_LOST,
    WIRES_DELAYED,
    WIRES_OVERTAKEN,
    WIRES_DOUBLED,
    WIRES_CUT,
    WIRES_DEEDS
};

/* Of one direction between two hosts. Shares are out of a thousand frames. */
struct wires_rule {
    bool cut; /* nothing passes, and nobody is told */
    int lost;
    int doubled;
    int held;         /* so long that those behind overtake them */
    int64_t delay_ms; /* of every frame */
};

/* sockets: packet sockets that do not block, each at the switch's end of the wire to host i;
 * borrowed. A negative one is no wire. */
void wires_start(const int sockets[WIRES_PORTS], uint64_t seed);
void wires_stop(void);

/* From now on, for frames of `from` to `to`. */
void wires_say(int from, int to, const struct wires_rule *rule);

/* Frames since the start. */
int64_t wires_count(enum wires_deed deed);

#endif
