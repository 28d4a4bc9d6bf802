/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of `status` on one pipeline, and their output as text and as JSON. */
#pragma once

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

struct status_guard {
    bool halted; /* the guard has stopped the pipeline, or the rebuild */
    struct guard_stop halt;
};

struct status_rebuild {
    bool underway;
    struct rebuild wish;
    struct checkpoint next;
    struct status_guard guard;
    bool working; /* its progress has been recorded */
    struct live_progress work;
    char former[256]; /* generation to which a rollback can continue from its position; empty if
                       * unknown */
    bool former_gone; /* it was deleted in the service */
    int64_t left_us;
    bool file_differs; /* see session_look_returned */
};

enum status_hold {
    STATUS_UNHELD,
    STATUS_HELD,
    STATUS_WORKING, /* held, and the holder has recorded its progress */
};

/* The processes of the pipeline. */
struct status_holder {
    enum status_hold hold;
    char name[256];
    struct buf standbys;       /* standby processes, as the source shows them */
    struct live_progress work; /* the last one recorded, even if no process works now */
};

/* What was made beside the changes: comparisons and re-snapshots. */
struct status_upkeep {
    bool verified; /* at least one scheduled comparison has ended */
    struct verification verification;
    struct reconcile reconcile; /* the last one; zero if none */
    bool copied;                /* at least one re-snapshot in place was made */
    struct resnapshot copy;
    struct lacking lacking; /* fields that documents from before an addition lack */
};

struct status {
    const struct pipeline_config *pipeline;
    int64_t now_us;
    bool known; /* the state file exists */
    struct checkpoint checkpoint;
    int64_t dead_letters;
    int64_t paused_us; /* time of the pause; 0 if not paused */
    struct status_guard guard;
    struct status_upkeep upkeep;
    struct status_rebuild rebuild;
    struct status_holder holder;
    struct run runs[STATUS_RUNS]; /* newest first */
    size_t run_count;
    char lost[512];          /* why the live index is not what searches see; empty: not known */
    struct err capture;      /* why the capture is broken; ERR_NONE: it is not, or unknown */
    struct err source;       /* why the source cannot be asked; ERR_NONE: it can, or was not */
    bool examined;           /* this process has examined the state file when it opened it */
    int64_t pending;         /* entries of the change log; -1 if unknown */
    const char *why_unknown; /* one or two words */
};

enum status_state {
    STATUS_STANDS_BY, /* on standby; another process holds the pipeline */
    STATUS_PAUSED,
    STATUS_NEVER_SYNCED,
    STATUS_STOPPED,        /* by the guard */
    STATUS_CAPTURE_BROKEN, /* the change log cannot be read, or has missed changes */
    STATUS_FAILED,         /* the last run failed, and no process is working */
    STATUS_STALLED,        /* the holder makes no progress */
    STATUS_LOST,           /* the live index is gone, or the alias points elsewhere */
    STATUS_COPYING,        /* this and the next ones: it works, as far as known */
    STATUS_BEHIND,
    STATUS_EQUAL,
    STATUS_UNKNOWN, /* the source cannot be queried or has no log */
};

/* Reads what the state file records. The caller sets `pending` and releases *s even after an
 * error. */
int status_look(struct status *s, const char *path, struct err *err) MUST_CHECK;
void status_release(struct status *s);

enum status_state status_state(const struct status *s);

/* Returns the last run that concerns the live index; null if none. */
const struct run *status_last_run(const struct status *s);

/* Returns true if index and committed table are equal, as far as the state file and the change log
 * show. */
bool status_is_equal_now(const struct status *s);

/* Returns the time at which the index last equaled the committed table; 0 if unknown or never. */
int64_t status_equal_us(const struct status *s);

/* Appends the text; `brief` limits it to the first lines. */
void status_push_text(struct buf *out, const struct status *s, bool brief, bool colours);

/* Appends the indented name that begins a line. */
void status_push_line(struct buf *out, const char *name);

/* Appends ", 7 missing"; nothing if count is 0. */
void status_push_some(struct buf *out, int64_t count, const char *what);

/* Appends the result of the last comparison, if any, as one line and as the member "verified". */
void status_push_verification(struct buf *out, const struct status *s);
void status_push_json_verification(struct buf *out, const struct status *s);

/* Appends unusual conditions, if any: an old transaction, a re-snapshot, fields that documents
 * lack. The last function appends watermark, stall and the holder's lag as JSON members. */
void status_push_watermark(struct buf *out, const struct status *s);
void status_push_copied(struct buf *out, const struct status *s);
void status_push_lacking(struct buf *out, const struct status *s);
void status_push_json_health(struct buf *out, const struct status *s);
/* Appends the member "stall"; null if w is null or nothing is stalled. */
void status_push_json_stall(struct buf *out, const struct live_progress *w);

/* Reads a rebuild from the state file. Appends its lines, if any, or its members. */
int status_look_rebuild(struct status *s, struct state *state, struct err *err) MUST_CHECK;
void status_push_rebuild(struct buf *out, const struct status *s);
void status_push_json_rebuild(struct buf *out, const struct status *s);

/* Appends the lock holder, its progress and the standbys, as lines or as members. */
void status_push_holder(struct buf *out, const struct status *s);
void status_push_json_holder(struct buf *out, const struct status *s);

/* Appends the members of an object. */
void status_push_json(struct buf *out, const struct status *s);
