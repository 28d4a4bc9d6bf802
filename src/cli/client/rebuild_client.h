/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rebuild asked of the pipeline's holder and followed in the state file. A holder that cannot
 * carry it out (a sync) leaves it filed: then the command waits, and becomes the holder itself.
 */
#ifndef ROWFERRY_CLI_REBUILD_CLIENT_H
#define ROWFERRY_CLI_REBUILD_CLIENT_H

#include <signal.h>

#include "output/progress_line.h"
#include "output/rebuild_report.h"
#include "rowferry/daemon/rebuild_arguments.h"
#include "rowferry/daemon/session.h"

struct rebuild_ask {
    struct session *session; /* whose pipeline another process holds */
    const char *request;     /* REQUEST_REINDEX, ... */
    struct rebuild_terms terms;
    const volatile sig_atomic_t *stop;
    struct progressline *progress;

    /* what came of it: */
    int64_t id;
    bool held;    /* by this one now: nothing was done, and the request is to be answered */
    bool taken;   /* the holder is at it */
    bool stopped; /* followed no longer: the holder goes on where it has taken it */
    struct rebuilt rebuilt;
};

/* ERR_STATE with the holder's reason where it was refused. */
int rebuild_ask(struct rebuild_ask *k, struct err *err) MUST_CHECK;

#endif
