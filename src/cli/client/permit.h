/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permits operations that the guard refused, if another process holds the pipeline: asks the holder
 * to continue, and shows its work as if it were done here.
 */
#pragma once

#include <signal.h>

#include "output/progress_line.h"
#include "rowferry/daemon/session.h"

struct permit {
    bool deletes;
    bool rejections;
    const volatile sig_atomic_t *stop;
    struct progress_line *progress;
};

/*
 * Files the permission and waits until the holder has caught up. If nothing is permitted, asks a
 * holder that the guard or an error stopped to try again, because the cause may be gone.
 *
 * On entry, err is that of session_hold. *held becomes false if the holder has ended: the caller is
 * the holder then, and nothing was done. Returns ERR_HELD if the guard has not stopped anything
 * that the permission applies to, and ERR_STATE with the holder's reason.
 */
int permit_ask(struct session *s, const struct permit *p, struct pipeline_result *result,
               bool *held, struct err *err) MUST_CHECK;

/* If the guard or an error has stopped the pipeline of another process, lets that process try again
 * at once, and does not wait for it. Without a state file that this user may open, nothing happens:
 * the process tries within a minute anyway. */
void permit_try_again(const struct config *config, const struct pipeline_config *pipeline);
