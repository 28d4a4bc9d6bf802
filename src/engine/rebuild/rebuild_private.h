/* SPDX-License-Identifier: Apache-2.0 */
/* A running rebuild. rebuild_request.c begins and ends it, rebuild.c performs the steps in
 * between, rebuild_check.c checks the result before the swap. */
#pragma once

#include "generation/generation.h"
#include "rowferry/engine/rebuild/rebuild.h"

struct rebuild_job {
    const struct rebuild_options *options;
    const struct verify_ports *ports;
    struct rebuild wish;
    bool underway;
    struct state *next; /* its rows in the state file */
    struct pipeline_options filling;
    struct pipeline_ports next_ports;
    int64_t began_us;
};

void rebuild_job_begin(struct rebuild_job *j, const struct rebuild_options *options,
                       const struct verify_ports *ports);
void rebuild_job_end(struct rebuild_job *j, struct rebuild_result *result);

/* Opens the rows of the next generation, and prepares options and ports that fill it. */
int rebuild_open_next(struct rebuild_job *j, struct err *err) MUST_CHECK;

bool rebuild_stopping(const struct rebuild_job *j);

/* Repeats a step while it fails with a transient error, `limits.retry_budget` lasts and no stop is
 * requested. If the budget is unlimited, the step runs once. */
typedef int (*rebuild_step)(struct rebuild_job *j, void *context, struct err *err);
int rebuild_retry(struct rebuild_job *j, rebuild_step step, void *context,
                  struct err *err) MUST_CHECK;

/* Initializes a target for the generation of these rows; generation_init must follow. */
void rebuild_target_of(const struct rebuild_job *j, struct state *state, struct generation *t);

/* Appends the name under which an adopted index is kept. */
void rebuild_kept_name(const struct generation *t, struct buf *out);

/* Returns an error if the failpoint is armed, else 0. */
int rebuild_failpoint(const char *point, struct err *err);

/*
 * Checks whether the next generation may go live. It must have as many documents as rows, apart
 * from dead letters, few dead letters, and no difference in a sample of its rows. If the numbers
 * differ, as they do while rows are written, or if a difference is found, everything is compared.
 * Otherwise returns ERR_STATE with the numbers.
 */
int rebuild_check(struct rebuild_job *j, struct rebuild_result *result, struct err *err) MUST_CHECK;

/* Checks whether the guard permits the generation to replace `live`, which the alias points at or
 * whose name it takes. The pipeline must not be waiting for a permission. The generation must not
 * be empty, and may have fewer documents only within the limits of deletes. */
int rebuild_guard(const struct rebuild_job *j, struct generation *next, enum alias_kind kind,
                  const char *live, struct err *err) MUST_CHECK;
