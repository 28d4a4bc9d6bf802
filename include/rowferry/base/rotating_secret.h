/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A secret that changes while it is in use: a key that is rotated, a token that expires.
 *
 * One is shared by all that use the secret, in any thread. Whoever is refused with a text asks for
 * another one: it is read from its origin again only while the refused text is still in force, so
 * that of many who are refused at the same time one reads. Texts are copies, which the caller wipes
 * and frees.
 */
#ifndef ROWFERRY_BASE_ROTATING_SECRET_H
#define ROWFERRY_BASE_ROTATING_SECRET_H

#include <stdbool.h>

struct renewal; /* opaque, counted */

/* Reads the origin: a text that the caller frees, or null where it cannot be had now. */
typedef char *(*renewal_read)(const void *origin);

/* origin: owned from here on, freed with drop. value: copied. */
struct renewal *renewal_new(const char *value, renewal_read read, void *origin,
                            void (*drop)(void *origin));

/* One more user of it; null is allowed, and is returned. */
struct renewal *renewal_hold(struct renewal *r);
void renewal_drop(struct renewal *r);

/* The text in force; of null the fallback, of which null gives null. */
char *renewal_take(struct renewal *r, const char *fallback);

/* Puts another text in the place of one that a server has refused; false where there is none. A
 * null r has none. */
bool renewal_replace(struct renewal *r, char **refused);

#endif
