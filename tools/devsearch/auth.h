/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authentication by API key, bearer token or user and password; compares in constant time.
 */
#pragma once

#include "base/options.h"

/* Returns true if a credential is required. */
bool auth_wanted(const struct options *o);

/* Returns true if the Authorization header (may be null) is accepted. */
bool auth_good(const struct options *o, const char *header);
