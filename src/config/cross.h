/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only several options together show to be wrong.
 */
#ifndef ROWFERRY_CONFIG_CROSS_H
#define ROWFERRY_CONFIG_CROSS_H

#include "read.h"

int cross_check(const struct reader *r) MUST_CHECK;

#endif
