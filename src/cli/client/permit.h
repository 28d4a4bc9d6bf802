/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person permits a pipeline that the guard stopped, where another process holds it: that one
 * is asked to go on, and what it does is shown as if it were done here.
 */
#ifndef ROWFERRY_CLI_PERMIT_H
#define ROWFERRY_CLI_PERMIT_H

#include <signal.h>

#include "output/progress_line.h"
#include "rowferry/daemon/session.h"

struct permit {
    bool deletes;
    bool rejections;
    const volatile sig_atomic_t *stop;
    struct progressline *progress;
};

/*
 * Where nothing is permitted, a holder that waits is asked to count again: rows may have been put
 * back.
 *
 * Asks the holder and waits until it is caught up. *held false where there is no holder any more:
 * then it is the caller, and nothing was done. On entry err is that of session_hold. ERR_HELD where
 * the guard has stopped nothing that the permission is for; ERR_STATE with the holder's reason.
 */
int permit_ask(struct session *s, const struct permit *p, struct pipeline_result *result,
               bool *held, struct err *err) MUST_CHECK;

#endif
