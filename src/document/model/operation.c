/* SPDX-License-Identifier: Apache-2.0 */
/* Names of operation kinds, for people, logs and the state file. */
#include "rowferry/document/model/operation.h"

const char *operation_kind_name(enum operation_kind kind)
{
    return kind == OPERATION_DELETE ? "delete" : "upsert";
}
