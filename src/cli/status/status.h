/* SPDX-License-Identifier: Apache-2.0 */
/* What status has found out of one pipeline, and how it is told to people and to programs. */
#ifndef ROWFERRY_CLI_STATUS_H
#define ROWFERRY_CLI_STATUS_H

#include "rowferry/base/buf.h"
#include "rowferry/config/config.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/definition.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/history.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/rebuild.h"
#include "rowferry/state/reconcile.h"
#include "rowferry/state/resnapshot.h"
#include "rowferry/state/verification.h"

#define STATUS_RUNS 5

struct status_rebuild {
    bool underway;
    struct rebuild wish;
    struct checkpoint next;
    bool halted;
    struct halt halt;
    bool working; /* somebody has said at what, at some time */
    struct working work;
    char former[256]; /* that can be gone back to from where it stood; empty: none is known */
    int64_t left_us;
};

struct status {
    const struct pipeline_config *pipeline;
    int64_t now_us;
    bool known; /* to the state file */
    struct checkpoint checkpoint;
    int64_t dead_letters;
    int64_t paused_us; /* since then; 0: it is not */
    bool halted;       /* by the guard */
    struct halt halt;
    bool verified; /* by schedule, once at least */
    struct verification verification;
    struct reconcile reconcile; /* the last one; zero: none */
    bool copied;                /* again, in place, once at least */
    struct copied copy;
    struct lacking lacking; /* what documents of before an addition lack */
    struct status_rebuild rebuild;
    bool held;
    char holder[256];
    struct buf standbys; /* who stands by, as the source shows it */
    bool working;        /* and has said at what */
    struct working work;
    struct run runs[STATUS_RUNS]; /* the newest first */
    size_t run_count;
    int64_t pending;         /* entries of the change log, -1: unknown */
    const char *why_unknown; /* in one or two words */
};

enum status_state {
    STATUS_STANDS_BY, /* this host's; another one holds the pipeline */
    STATUS_PAUSED,
    STATUS_NEVER_SYNCED,
    STATUS_STOPPED, /* by the guard */
    STATUS_FAILED,  /* the last run, and nobody is at work since */
    STATUS_STALLED, /* the holder does not get on */
    STATUS_COPYING,
    STATUS_BEHIND,
    STATUS_EQUAL,
    STATUS_UNKNOWN, /* the source cannot be asked, or has no log */
};

/* What the state file knows; pending stays the caller's to ask. To be released in every case. */
int status_look(struct status *s, const char *path, struct err *err) MUST_CHECK;
void status_release(struct status *s);

enum status_state status_state(const struct status *s);

/* The last one that says something of what is live; null: there is none. */
const struct run *status_last_run(const struct status *s);

/* When all that was committed in the table had reached the index; 0: not yet or not known. */
int64_t status_equal_us(const struct status *s);

/* brief: what comes first alone. */
void status_push_text(struct buf *out, const struct status *s, bool brief, bool colours);

/* ", 7 missing"; nothing where there are none. */
void status_push_some(struct buf *out, int64_t count, const char *what);

/* What a comparison found: one line, one object. */
void status_push_verification(struct buf *out, const struct verification *v);
void status_push_json_verification(struct buf *out, const struct verification *v);

/* What is out of the ordinary, where there is any: an old transaction, a copy, what documents lack;
 * the first with the stall and the holder's lag as JSON members. */
void status_push_watermark(struct buf *out, const struct status *s);
void status_push_copied(struct buf *out, const struct status *s);
void status_push_lacking(struct buf *out, const struct status *s);
void status_push_json_health(struct buf *out, const struct status *s);

/* What the state file knows of a rebuild; its lines, if there are any; its members. */
int status_look_rebuild(struct status *s, struct state *state, struct err *err) MUST_CHECK;
void status_push_rebuild(struct buf *out, const struct status *s);
void status_push_json_rebuild(struct buf *out, const struct status *s);

/* Who holds the pipeline and what it is at, who stands by: lines, members. */
void status_push_holder(struct buf *out, const struct status *s);
void status_push_json_holder(struct buf *out, const struct status *s);

/* The members of an object. */
void status_push_json(struct buf *out, const struct status *s);

#endif
