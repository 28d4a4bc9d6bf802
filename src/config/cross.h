/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that involve several options.
 */
#ifndef ROWFERRY_CONFIG_CROSS_H
#define ROWFERRY_CONFIG_CROSS_H

#include "read.h"

int cross_check(const struct reader *r) MUST_CHECK;

#endif
