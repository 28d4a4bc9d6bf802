/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad weather between a program and its service: half of the bulk requests are met by something,
 * and all take their time.
 *
 * There are two ways to the service. A process takes the one, the next process the other, while
 * what the first had sent when it was killed still arrives late; a way is taken again once nothing
 * of that is left on it. So whatever is on a way is of the process that was sent there.
 */
#ifndef ROWFERRY_TESTS_STORM_H
#define ROWFERRY_TESTS_STORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum storm_class {
    STORM_429,     /* the whole request is refused */
    STORM_503,     /* the same */
    STORM_CUT,     /* the connection ends in the middle of the request */
    STORM_SILENT,  /* it is carried out, and the connection ends without an answer */
    STORM_HALF,    /* the same in the middle of the answer */
    STORM_ANOTHER, /* the answer is that of another request */
    STORM_LATE,    /* the service sees it late */
    STORM_CLASSES
};

extern const char *const storm_names[STORM_CLASSES];

struct storm; /* opaque */

/* To the service at this port, which knows faults. */
struct storm *storm_new(int service_port);
/* Ends every connection. */
void storm_free(struct storm *s);

/* Fair weather on both ways, once nothing is on them any more; the port to go by. */
int storm_calm(struct storm *s);

/* The other way, in bad weather, once nothing is on it any more; the port to go by. */
int storm_next(struct storm *s);

/* On the way that was taken last: bulk requests that came since it was, those of them that have no
 * answer yet, and the classes that met them (bits). */
size_t storm_bulks(const struct storm *s);
size_t storm_unanswered(const struct storm *s);
unsigned storm_met(const struct storm *s);

#endif
