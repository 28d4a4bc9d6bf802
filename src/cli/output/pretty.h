/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON with line breaks and blanks for people; its texts and numbers stay byte for byte. Pure.
 */
#ifndef ROWFERRY_CLI_PRETTY_H
#define ROWFERRY_CLI_PRETTY_H

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

/* Appends the value with two blanks a level. json: one whole value on one line, as it is sent. */
void pretty_push(struct buf *out, struct span json);

#endif
