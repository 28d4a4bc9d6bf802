/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may come in: an API key or a user with a password, compared in constant time.
 */
#ifndef DEVSEARCH_AUTH_H
#define DEVSEARCH_AUTH_H

#include "base/options.h"

/* Whether any credential is asked for. */
bool auth_wanted(const struct options *o);

/* Whether the Authorization header (or null) opens the door. */
bool auth_good(const struct options *o, const char *header);

#endif
