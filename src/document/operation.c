/* SPDX-License-Identifier: Apache-2.0 */
/* The names of kinds and outcomes, as people, logs and the state file read them. */
#include "rowferry/document/operation.h"

const char *operation_kind_name(enum operation_kind kind)
{
    return kind == OPERATION_DELETE ? "delete" : "upsert";
}

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[] = {
        [OUTCOME_UNKNOWN] = "unknown", [OUTCOME_DONE] = "done",         [OUTCOME_RETRY] = "retry",
        [OUTCOME_OUTRUN] = "outrun",   [OUTCOME_REJECTED] = "rejected", [OUTCOME_STOP] = "stop",
    };
    return names[outcome];
}
