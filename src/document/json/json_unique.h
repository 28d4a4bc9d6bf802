/* SPDX-License-Identifier: Apache-2.0 */
/* Removes repeated names in an object, which both services refuse. The last value is kept, as in a
 * jsonb. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Removes, in place, all but the last of the members with the same name from `text`, which is valid
 * JSON without white space. Sets *len to the remaining length. Returns false if memory is
 * exhausted. Allocates only if the open objects have more than 64 members, then three words per
 * member.
 */
bool json_unique(char *text, size_t *len);
