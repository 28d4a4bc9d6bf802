/* SPDX-License-Identifier: Apache-2.0 */
/* The names of kinds, as people, logs and the state file read them. */
#include "rowferry/document/model/operation.h"

const char *operation_kind_name(enum operation_kind kind)
{
    return kind == OPERATION_DELETE ? "delete" : "upsert";
}
