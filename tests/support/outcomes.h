/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The glossary's names of outcomes, for messages of failed tests.
 */
#pragma once

#include "rowferry/document/model/operation.h"

static inline const char *outcome_name(enum outcome outcome)
{
    static const char *const names[] = {
        [OUTCOME_UNKNOWN] = "unknown",   [OUTCOME_DONE] = "done",         [OUTCOME_RETRY] = "retry",
        [OUTCOME_CONFLICT] = "conflict", [OUTCOME_REJECTED] = "rejected", [OUTCOME_FATAL] = "fatal",
    };
    return names[outcome];
}
