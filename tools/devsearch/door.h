/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is refused by the head of a request alone: what a page of the web sends, or makes a browser
 * send; a request line that is too long; a wrong credential.
 */
#ifndef DEVSEARCH_DOOR_H
#define DEVSEARCH_DOOR_H

#include "base/options.h"

/* The parts of a head that count; those that are absent are null. */
struct knock {
    const char *method;
    const char *target;
    const char *host;
    const char *origin;
    const char *authorization;
};

/* True with the refusal as the answer; false if the request may come in. */
bool door_refuses(const struct options *o, const struct knock *k, struct answer *a);

#endif
