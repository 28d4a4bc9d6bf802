/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stall detection: decides whether a pipeline with pending work makes progress, and if not, why and
 * since when. Pure: the caller gathers the facts once per loop turn and logs changes with
 * stall_log.
 *
 *   work pending, no progress for STALL_AFTER_US  ->  stalled; the cause is the first that matches,
 *                                                     in the order of the enum
 *   `stopped` (needs a person or disk space)      ->  stalled at once; so is a service with a block
 *                                                     on writes, or whose answer cannot be read
 *   progress, or nothing pending                  ->  not stalled
 *
 * Progress means operations settled or committed, or the index found up to date. Reads count only
 * while nothing is unsettled; otherwise a service that refuses everything would look busy. A
 * `stopped` pipeline recovers only with a commit or an up-to-date index, because everything may be
 * settled again before a commit that fails once more.
 *
 * A stall outlives the rounds of its owner (daemon/worker/pipeline_worker.h); counts may restart at
 * zero.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/state/live_progress.h"

#define STALL_AFTER_US INT64_C(30000000)
#define STALL_WHY_BYTES LIVE_PROGRESS_WHY_BYTES

enum stall_cause {
    STALL_NONE,
    STALL_STATE_FILE, /* the state file cannot be written */
    STALL_LOCK,       /* the lock was lost to another process or to our own dead session */
    STALL_GUARD,      /* a person must decide about deletes or rejections */
    STALL_REBUILD,    /* the live index is not writable until a rebuild has ended */
    STALL_STOPPED,    /* an error that a person has to correct; it is tried again now and then */
    STALL_SOURCE,     /* the source is unreachable */
    STALL_SERVICE,    /* the service is unreachable */
    STALL_REFUSED,    /* the service answers but accepts nothing */
    STALL_UNREADABLE, /* an answer of the service cannot be read */
    STALL_UNANSWERED, /* the service does not answer pending requests */
    STALL_SILENT,     /* the source does not answer a pending query */
    STALL_WATERMARK,  /* none of these, and an old transaction is open in the source */
    STALL_UNKNOWN,
    STALL_COUNT
};

/* Times are monotonic, 0 = not applicable. Texts are borrowed during the call. */
struct stall_facts {
    int64_t now_us;
    int64_t wall_us;
    uint64_t moved;  /* operations settled, committed or found equal; grows within a round */
    uint64_t firm;   /* the part of it that is committed or equal; grows too */
    uint64_t worked; /* changes read while nothing is unsettled; grows too */
    bool waits;      /* changes are unread or unsettled, or their number is unknown */
    bool paused;     /* paused by a person, which is not a stall */
    enum stall_cause stopped; /* STALL_STATE_FILE to STALL_STOPPED, or STALL_NONE */
    const char *why;          /* reason for `stopped` */
    const char *hint;         /* what to do about it; null or empty: the remedy of the cause */
    int64_t source_away_us, service_away_us;
    const char *source_why, *service_why;
    int service_status;    /* HTTP; 0: no response */
    bool service_lasting;  /* a block or an unreadable answer: stalled at once */
    int64_t unanswered_us; /* send time of the oldest unanswered request */
    int64_t silent_us;     /* time since which the source has returned no row of the open page */
    int64_t watermark_us;  /* start of the oldest open transaction */
    const char *watermark; /* description of that transaction */
};

struct stall {
    enum stall_cause cause;
    int64_t since_us; /* wall clock: last progress before the stall */
    char why[STALL_WHY_BYTES];
    char hint[256];
    /* private: */
    enum stall_cause before; /* last cause other than STALL_NONE */
    bool begun;
    int64_t moved_at_us; /* monotonic */
    uint64_t moved, firm, worked;
};

enum stall_news { STALL_SAME, STALL_BEGAN, STALL_CHANGED, STALL_ENDED };

/* Starts observing, or resumes after a time that was not observed (a pause, a step that waits for
 * its reply). That time does not count; an existing stall persists. */
void stall_begin(struct stall *s, int64_t now_us);

enum stall_news stall_judge(struct stall *s, const struct stall_facts *f);

/* Writes why a server does not work, which may become a stall; "" if both do. */
void stall_explain_away(const struct stall_facts *f, char why[STALL_WHY_BYTES]);

/* Returns the cause as one word for metrics and JSON, such as "service_refuses"; "" for
 * STALL_NONE. */
const char *stall_name(enum stall_cause cause);

/* Appends the remedy for the stall that is shown; nothing if there is none. */
void stall_push_remedy(struct buf *out, const struct live_progress *w, const char *pipeline);

/* Copies the stall into the struct that the state file and the status snapshot show. */
void stall_show(const struct stall *s, struct live_progress *w);

/* Logs one line for a change. Logs nothing for causes STALL_STATE_FILE to STALL_STOPPED, which
 * have events of their own. */
void stall_log(const struct stall *s, enum stall_news news, const char *pipeline, int64_t wall_us);
