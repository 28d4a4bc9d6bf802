/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refuses requests by their head alone: requests of web pages or of browsers misled by them, long
 * request lines, invalid credentials.
 */
#pragma once

#include "base/options.h"

/* Relevant parts of the head; missing ones are null. */
struct knock {
    const char *method;
    const char *target;
    const char *host;
    const char *origin;
    const char *authorization;
};

/* Returns true with the refusal in the answer; false if the request is accepted. */
bool door_refuses(const struct options *o, const struct knock *k, struct answer *a);
