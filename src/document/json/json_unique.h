/* SPDX-License-Identifier: Apache-2.0 */
/* Names that stand twice in an object, which both services refuse: the last value wins, as in a
 * jsonb. */
#ifndef ROWFERRY_DOCUMENT_JSON_UNIQUE_H
#define ROWFERRY_DOCUMENT_JSON_UNIQUE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Takes the earlier of members of the same name out of `text`, valid JSON without blanks, in place;
 * *len becomes what is left. False where the machine has no memory. Nothing is allocated below 64
 * members in the open objects; above, three words a member.
 */
bool json_unique(char *text, size_t *len);

#endif
