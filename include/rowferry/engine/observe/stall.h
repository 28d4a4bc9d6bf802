/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stall: a pipeline that does not get on though there is something to do, why, and since when.
 * Pure; who has the facts asks at every turn, and logs what is new (stall_log).
 *
 *     something waits and nothing moved for STALL_AFTER_US   ->  stalled, by the first cause that
 *                                                                fits, in the enum's order
 *     what nobody but a person or a disk can end (`stopped`) ->  stalled at once
 *     something moves, or nothing waits any more             ->  it goes on
 *
 * What moves is settled, committed, or found to be equal; that something is read counts only while
 * nothing that was read is unsettled, or a service that refuses everything would look busy. What
 * was `stopped` goes on only with a commit or an equal index: before a commit that fails again
 * everything may have been settled once more.
 *
 * One stall lasts over the rounds of its owner (daemon/pipeline_worker.h); counts may begin with
 * zero again.
 */
#ifndef ROWFERRY_ENGINE_STALL_H
#define ROWFERRY_ENGINE_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/state/live_progress.h"

#define STALL_AFTER_US INT64_C(30000000)
#define STALL_WHY_BYTES WORKING_WHY_BYTES

enum stall_cause {
    STALL_NONE,
    STALL_STATE_FILE, /* it cannot be written */
    STALL_LOCK,       /* the hold is lost, to another process or to our own dead session */
    STALL_GUARD,      /* a person is to decide about deletes or rejections */
    STALL_REBUILD,    /* the live index cannot be written until a rebuild has ended */
    STALL_SOURCE,     /* is away */
    STALL_SERVICE,    /* is away */
    STALL_REFUSED,    /* the service answers, and takes nothing */
    STALL_UNANSWERED, /* the service has requests, and does not answer */
    STALL_SILENT,     /* the source has a question, and does not answer */
    STALL_WATERMARK,  /* none of these, and an old transaction is open in the source */
    STALL_UNKNOWN,
    STALL_COUNT
};

/* Times are monotonic, 0 = not so; texts are borrowed during the call. */
struct stall_facts {
    int64_t now_us;
    int64_t wall_us;
    uint64_t moved;           /* each grows within a round: what is settled, committed or equal, */
    uint64_t firm;            /* what of it is committed or equal, */
    uint64_t worked;          /* and what is read while nothing is unsettled */
    bool waits;               /* changes are unread or unsettled, or nobody can tell */
    bool paused;              /* a person wants it so: that is no stall */
    enum stall_cause stopped; /* STATE_FILE to REBUILD, or NONE */
    const char *why;          /* of that */
    int64_t source_away_us, service_away_us;
    const char *source_why, *service_why;
    int service_status;    /* HTTP; 0: no answer came */
    int64_t unanswered_us; /* since when the oldest request is on its way */
    int64_t silent_us;     /* since when the source has not told a row of the page in work */
    int64_t watermark_us;  /* since when the oldest transaction is open, */
    const char *watermark; /* and whose */
};

struct stall {
    enum stall_cause cause;
    int64_t since_us; /* wall clock: the last movement before it */
    char why[STALL_WHY_BYTES];
    /* its own: */
    enum stall_cause before; /* the last one that was not NONE */
    bool begun;
    int64_t moved_at_us; /* monotonic */
    uint64_t moved, firm, worked;
};

enum stall_news { STALL_SAME, STALL_BEGAN, STALL_CHANGED, STALL_ENDED };

/* Work begins, or goes on after something that nobody judged: a pause, a step that waits for its
 * answer. The time before it does not count; what is stalled stays so. */
void stall_begin(struct stall *s, int64_t now_us);

enum stall_news stall_judge(struct stall *s, const struct stall_facts *f);

/* One word for metrics and JSON: "service_refuses"; "" for NONE. */
const char *stall_name(enum stall_cause cause);

/* What a person does about it, by that word; null where there is none such. */
const char *stall_remedy(const char *name);

/* Into what the state file and the board show. */
struct working;
void stall_show(const struct stall *s, struct working *w);

/* One line for what is news; none where the owner's own events say it (STATE_FILE to REBUILD). */
void stall_log(const struct stall *s, enum stall_news news, const char *pipeline, int64_t wall_us);

#endif
