/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a dynamic mapping makes of a field that it does not know: simple types only.
 */
#ifndef DEVSEARCH_GUESS_H
#define DEVSEARCH_GUESS_H

#include "base/reader.h"

struct json_object;

/* Reads the next value and adds its type at the dotted path of {"properties": ..}; a value that
 * says nothing (null, []) adds nothing. -1: the reader's problem. */
int guess_add(struct json_object **additions, const char *path, struct reader *reader);

#endif
