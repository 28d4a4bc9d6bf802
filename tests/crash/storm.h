/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault injection between a program and its service: half of the bulk requests meet a fault, and
 * all are slow.
 *
 * There are two paths to the service. One process uses one path, the next process the other, while
 * late requests of the first one still arrive. A path is used again after all of them have arrived.
 * So all requests on a path belong to one process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum storm_class {
    STORM_429,     /* the whole request is refused */
    STORM_503,     /* the whole request is refused */
    STORM_CUT,     /* the connection ends in the middle of the request */
    STORM_SILENT,  /* carried out, but the connection ends without an answer */
    STORM_HALF,    /* carried out, but the connection ends within the answer */
    STORM_ANOTHER, /* the answer of another request is returned */
    STORM_LATE,    /* the request reaches the service late */
    STORM_CLASSES
};

extern const char *const storm_names[STORM_CLASSES];

struct storm; /* opaque */

/* Creates the proxies to the service at this port, which supports fault injection. */
struct storm *storm_new(int service_port);
/* Ends every connection. */
void storm_free(struct storm *s);

/* Waits until both paths are empty and turns the faults off. Returns the port to use. */
int storm_calm(struct storm *s);

/* Waits until the other path is empty and selects it, with faults. Returns the port to use. */
int storm_next(struct storm *s);

/* For the path that was selected last: bulk requests since then, those without an answer, and the
 * classes of faults that occurred (bits). */
size_t storm_bulks(const struct storm *s);
size_t storm_unanswered(const struct storm *s);
unsigned storm_met(const struct storm *s);
