/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests a rebuild from the pipeline's holder and follows it in the state file. A holder that
 * cannot rebuild (a sync) leaves the request filed. The command then waits and becomes the holder
 * itself.
 */
#pragma once

#include <signal.h>

#include "output/progress_line.h"
#include "output/rebuild_report.h"
#include "rowferry/daemon/rebuild_arguments.h"
#include "rowferry/daemon/session.h"

struct rebuild_client {
    struct session *session; /* the pipeline, held by another process */
    const char *request;     /* REQUEST_REINDEX, ... */
    struct rebuild_terms terms;
    const volatile sig_atomic_t *stop;
    struct progress_line *progress;

    /* Results: */
    int64_t id;
    bool held;    /* this command is the holder now: nothing was done, and it must reply to the
                   * request */
    bool taken;   /* the holder is working on it */
    bool stopped; /* no longer followed; the holder continues if it has taken the request */
    struct rebuild_outcome rebuilt;
};

/* Returns ERR_STATE with the holder's reason if the request was refused. */
int rebuild_client(struct rebuild_client *k, struct err *err) MUST_CHECK;
