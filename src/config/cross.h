/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that involve several options.
 */
#pragma once

#include "read.h"

int cross_check(const struct config_reader *r) MUST_CHECK;
