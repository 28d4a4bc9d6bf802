/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that a generation was built from: opaque here, a pipeline of the configuration for who
 * wrote them. No secret is in them.
 */
#ifndef ROWFERRY_STATE_GENERATION_CONFIG_H
#define ROWFERRY_STATE_GENERATION_CONFIG_H

#include "rowferry/base/err.h"
#include "rowferry/state/store.h"

/* In place of what was noted before; the same words of the same generation write nothing. */
int built_note(struct state *s, const char *generation, const char *configuration,
               struct err *err) MUST_CHECK;

/* *configuration null where nothing is known of that generation; the caller frees it. */
int built_look(struct state *s, const char *generation, char **configuration,
               struct err *err) MUST_CHECK;

#endif
