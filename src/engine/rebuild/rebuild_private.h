/* SPDX-License-Identifier: Apache-2.0 */
/* A rebuild at work: rebuild_wish.c begins and ends it, rebuild.c takes the steps between,
 * rebuild_check.c looks before the swap. */
#ifndef ROWFERRY_ENGINE_REBUILD_PRIVATE_H
#define ROWFERRY_ENGINE_REBUILD_PRIVATE_H

#include "generation/generation.h"
#include "rowferry/engine/rebuild/rebuild.h"

struct rebuild_job {
    const struct rebuild_options *options;
    const struct rebuild_ports *ports;
    struct rebuild wish;
    bool underway;
    struct state *next; /* its rows in the state file */
    struct pipeline_options filling;
    struct pipeline_ports next_ports;
    int64_t began_us;
};

void rebuild_job_begin(struct rebuild_job *j, const struct rebuild_options *options,
                       const struct rebuild_ports *ports);
void rebuild_job_end(struct rebuild_job *j, struct rebuild_result *result);

/* Opens the next generation's rows, and makes options and ports that fill it. */
int rebuild_open_next(struct rebuild_job *j, struct err *err) MUST_CHECK;

bool rebuild_stopping(const struct rebuild_job *j);

/* Repeats a step while it fails for a passing reason, `limits.retry_budget` lasts and nobody stops
 * it. Where the budget has no end it is taken once. */
typedef int (*rebuild_step)(struct rebuild_job *j, void *context, struct err *err);
int rebuild_endure(struct rebuild_job *j, rebuild_step step, void *context,
                   struct err *err) MUST_CHECK;

/* The generation of these rows as a target; to be initialised by target_init. */
void rebuild_target_of(const struct rebuild_job *j, struct state *state, struct target *t);

/* Appends the name under which an adopted index is kept. */
void rebuild_kept_name(const struct target *t, struct buf *out);

/* What a failpoint says. */
int rebuild_fail_at(const char *point, struct err *err);

/*
 * Whether the next generation may go live: as many documents as rows but for dead letters, few dead
 * letters, and no difference in a sample of its rows. Where the numbers differ, as they do while
 * rows are written, or a difference is found, everything is compared. ERR_STATE with the numbers
 * where it may not.
 */
int rebuild_check(struct rebuild_job *j, struct rebuild_result *result, struct err *err) MUST_CHECK;

/* Whether the guard lets the generation take the place of `live`, which the alias points at or
 * whose name it takes: the pipeline does not wait for a person's word on deletes, and it has some
 * documents, and not fewer by more than may be deleted. */
int rebuild_guard(const struct rebuild_job *j, struct target *next, enum alias_kind kind,
                  const char *live, struct err *err) MUST_CHECK;

#endif
