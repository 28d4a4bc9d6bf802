/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rebuild: the next generation is filled and brought up to date beside the live one, looked at, and
 * swapped in.
 *
 *     rebuild_begin_new / _back   the wish is recorded (or the one under way is gone on with)
 *     rebuild_fill                copied, caught up, settings put back, copies there, checked
 *     rebuild_anew                what cannot be gone on with any more is removed, and wished again
 *     rebuild_swap                nobody writes the live one now: caught up, swapped, promoted
 *     rebuild_abort               the next generation is removed, the live one was never touched
 *
 * fill may take hours and goes on after any crash where it stood; meanwhile the live generation is
 * somebody else's to keep up to date (a pipeline_sync that follows, in another thread, with ports
 * of its own). swap takes moments. Between the alias's swap and the state file's commit the alias
 * is the truth: pipeline_sync finds it and promotes.
 */
#ifndef ROWFERRY_ENGINE_REBUILD_H
#define ROWFERRY_ENGINE_REBUILD_H

#include "rowferry/engine/verify/verify.h"
#include "rowferry/state/rebuild.h"

/* All borrowed. */
struct rebuild_options {
    const struct pipeline_options *pipeline; /* follow, refresh, requests_only unset */
    const struct field *fields;
    size_t field_count;
    int64_t keep;       /* former generations that stay */
    bool allow_deletes; /* of swap: the guard has no say; a person said so */
};

struct rebuild_ports {
    const struct pipeline_ports *pipeline; /* state: the pipeline's own (live) */
    struct service *service;               /* the same service, for the check */
    const struct source_options *source;   /* for a connection that lists keys */
    const struct listing_options *listing;
};

struct rebuild_result {
    struct counters counters;
    struct verify_result checked; /* the check before the swap */
    int64_t rows, documents;      /* counted by it; negative: could not be told */
    int64_t dead_letters;
    char generation[256]; /* the next one */
    char former[256];     /* that was live; empty: none */
    size_t removed;       /* old generations */
    bool filled, swapped, stopped;
    int64_t elapsed_ms;
};

/* Records the wish; one under way of the same kind is gone on with. For kind REBUILD_BACK finds the
 * former generation and refuses, with the reason, where it cannot be gone back to. */
int rebuild_want(const struct rebuild_options *options, const struct rebuild_ports *ports,
                 enum rebuild_kind kind, bool adopt, struct err *err) MUST_CHECK;

/* result->swapped afterwards: an earlier one had swapped it in, and only that is left to be
 * recorded, which the next pipeline_sync of the live generation does. */
int rebuild_fill(const struct rebuild_options *options, const struct rebuild_ports *ports,
                 struct rebuild_result *result, struct err *err) MUST_CHECK;

/* After a fill whose error is drift: the table was altered or made anew under it. What was built is
 * removed, and the same is wished for from the beginning. The error stays (*why, which is given a
 * hint that helps) where that is no way out: of a return to a former generation, and of what
 * somebody else put live. */
int rebuild_anew(const struct rebuild_options *options, const struct rebuild_ports *ports,
                 struct err *why) MUST_CHECK;

int rebuild_swap(const struct rebuild_options *options, const struct rebuild_ports *ports,
                 struct rebuild_result *result, struct err *err) MUST_CHECK;

/* What was given up. */
struct rebuild_aborted {
    bool any;               /* one was under way */
    enum rebuild_kind kind; /* BACK: the generation is a former one, and stays */
    char generation[256];   /* empty: there was none yet */
};
int rebuild_abort(const struct rebuild_options *options, const struct rebuild_ports *ports,
                  struct rebuild_aborted *out, struct err *err) MUST_CHECK;

#endif
