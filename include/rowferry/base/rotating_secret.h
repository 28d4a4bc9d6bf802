/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A secret that may change while it is in use: a rotated key, a token that expires.
 *
 * One struct renewal is shared by all users of the secret, in any thread. If a server refuses the
 * current text, call rotating_secret_replace. It reads the secret from its origin again only if the
 * refused text is still the current one. So if many threads are refused at the same time, only one
 * reads. A fresh secret is read each time it is taken, because it may have expired. Returned texts
 * are copies, which the caller wipes and frees.
 */
#pragma once

#include <stdbool.h>

struct rotating_secret; /* opaque, reference-counted */

/* Reads the secret from its origin. Returns a text that the caller frees, or null if it is not
 * available now. */
typedef char *(*rotating_secret_read)(const void *origin);

/* Creates a secret. Takes ownership of `origin`, which `drop` frees; copies `value`. */
struct rotating_secret *rotating_secret_new(const char *value, rotating_secret_read read,
                                            void *origin, void (*drop)(void *origin));
/* From now on it is a fresh secret. */
void rotating_secret_set_fresh(struct rotating_secret *r);

/* Adds a reference and returns r. r may be null. */
struct rotating_secret *rotating_secret_hold(struct rotating_secret *r);
void rotating_secret_drop(struct rotating_secret *r);

/* Returns a copy of the current text; of a fresh secret the former one, if it cannot be read. If r
 * is null, returns a copy of `fallback`, or null if that
 * is null too. */
char *rotating_secret_take(struct rotating_secret *r, const char *fallback);

/* Replaces *refused, which a server has refused, with a different current text. Returns false if
 * there is none or r is null. */
bool rotating_secret_replace(struct rotating_secret *r, char **refused);
