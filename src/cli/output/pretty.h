/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON with line breaks and blanks for people. Texts and numbers keep their bytes. Pure.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

/* Appends the value, indented by two blanks a level. `json` is one complete value on one line, as
 * it is sent. */
void pretty_push(struct buf *out, struct span json);
