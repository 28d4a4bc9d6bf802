/* SPDX-License-Identifier: Apache-2.0 */
/* resync: rows of these keys read again and sent, now. */
#include <string.h>

#include "ask.h"
#include "rowferry/engine/requests.h"

int command_resync(const struct arguments *a, struct err *err)
{
    struct ask ask;
    int rc = ask_open(&ask, a, "resync", REQUEST_RESYNC, err);
    for (size_t i = 0; rc == 0 && i < a->operand_count; i++) {
        ask_push(&ask, span_make(a->operands[i], strlen(a->operands[i])));
    }
    if (rc == 0) {
        rc = ask_run(&ask, err);
    }
    ask_release(&ask);
    return rc;
}
