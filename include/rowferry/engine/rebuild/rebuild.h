/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rebuild: builds the next generation beside the live one, checks it, and swaps it in.
 *
 *   rebuild_want    records the request, or resumes the one in progress
 *   rebuild_fill    initial load, catch-up, final settings, replicas, check
 *   rebuild_restart removes a generation that cannot be resumed and requests it again
 *   rebuild_swap    with no writer on the live generation: catch up, swap, promote
 *   rebuild_abort   removes the next generation; the live one was never touched
 *
 * rebuild_fill may take hours and resumes after a crash where it was. During that time another
 * thread keeps the live generation up to date (a following pipeline_run with ports of its own).
 * rebuild_swap takes moments. Between the alias swap and the commit of the state file the alias is
 * authoritative: pipeline_run finds it and promotes the new generation.
 */
#pragma once

#include "rowferry/engine/verify/verify.h"
#include "rowferry/state/rebuild.h"

/* All pointers are borrowed. */
struct rebuild_options {
    const struct pipeline_options *pipeline; /* its mode is not used */
    const struct field *fields;
    size_t field_count;
    int64_t keep;       /* former generations to keep */
    bool allow_deletes; /* rebuild_swap: skip the guard, because a person permitted it */
};

struct rebuild_result {
    struct counters counters;
    struct verify_result checked; /* the check before the swap */
    int64_t rows, documents;      /* counted by the check; negative: unknown */
    int64_t dead_letters;
    char generation[256]; /* the next one */
    char former[256];     /* the previous live generation; empty: none */
    size_t removed;       /* number of old generations removed */
    bool filled, swapped, stopped;
    int64_t elapsed_ms;
};

/* Records the request, or resumes one of the same kind that is in progress. For REBUILD_BACK,
 * finds the former generation and returns an error with the reason if it cannot be restored. */
int rebuild_want(const struct rebuild_options *options, const struct verify_ports *ports,
                 enum rebuild_kind kind, bool adopt, struct err *err) MUST_CHECK;

/* result->swapped is set if an earlier run swapped the generation in. Then only the record is
 * missing, which the next pipeline_run of the live generation writes. */
int rebuild_fill(const struct rebuild_options *options, const struct verify_ports *ports,
                 struct rebuild_result *result, struct err *err) MUST_CHECK;

/* Called after a fill that failed with drift: the table was altered or recreated during the
 * rebuild. Removes what was built and requests the same rebuild from the beginning. Keeps the
 * error in *why, with a useful hint, if that cannot help: on a return to a former generation, or
 * if another program put the generation live. */
int rebuild_restart(const struct rebuild_options *options, const struct verify_ports *ports,
                    struct err *why) MUST_CHECK;

int rebuild_swap(const struct rebuild_options *options, const struct verify_ports *ports,
                 struct rebuild_result *result, struct err *err) MUST_CHECK;

/* The rebuild that was aborted. */
struct rebuild_aborted {
    bool any;               /* a rebuild was in progress */
    enum rebuild_kind kind; /* REBUILD_BACK: the generation is a former one and is kept */
    char generation[256];   /* empty: not created yet */
};
int rebuild_abort(const struct rebuild_options *options, const struct verify_ports *ports,
                  struct rebuild_aborted *out, struct err *err) MUST_CHECK;
