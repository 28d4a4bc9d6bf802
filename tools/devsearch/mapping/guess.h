/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of unknown fields in a dynamic mapping: simple types only.
 */
#pragma once

#include "base/reader.h"

struct json_object;

/* Reads the next value and adds its type at the dotted path of {"properties": ..}. A value without
 * a type (null, []) adds nothing. Returns -1 if the reader has a problem. */
int guess_add(struct json_object **additions, const char *path, struct reader *reader);
