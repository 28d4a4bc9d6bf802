/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generation that a pipeline writes to: found, built, and swapped in.
 *
 * The alias is what people search; writes go to the generation by its own name. What the state file
 * says of it is checked against the service before the first write: same index (uuid), same
 * mapping, and the alias where it should be. The alias is the truth after a crash between swap and
 * commit. Without a checkpoint, the live generation is gone on with where it was built from the
 * same and the source keeps where it stood.
 */
#ifndef ROWFERRY_ENGINE_TARGET_H
#define ROWFERRY_ENGINE_TARGET_H

#include "guard.h"
#include "rowferry/base/clock.h"
#include "rowferry/document/mapping.h"
#include "rowferry/engine/port.h"
#include "rowferry/state/checkpoint.h"

struct target {
    const char *pipeline;
    const char *alias;
    const struct mapping *mapping;
    const char *settings;
    struct source_port source; /* connected */
    struct service_port service;
    struct state *state;
    struct clock clock;
    struct source_facts facts;
    struct buf replaced;          /* the consumer of the generation that a swap replaced */
    struct checkpoint checkpoint; /* as the state file has it, kept current here */
    const struct guard *guard;    /* borrowed: what a swap may take from those who search */
    bool taken_over;              /* this run took the checkpoint over from the source */
    char creator[17];             /* marks the indices that this run creates */
};

/* Reads the checkpoint. */
int target_init(struct target *t, struct err *err) MUST_CHECK;
void target_release(struct target *t);

/* Afterwards the checkpoint is BUILDING or LIVE and its generation exists and is ours. */
int target_prepare(struct target *t, struct err *err) MUST_CHECK;

/* Puts a complete generation behind the alias: refreshed, swapped in atomically, recorded. May be
 * called again after a failure at any point. */
int target_go_live(struct target *t, struct err *err) MUST_CHECK;

/* Appends the name of the consumer that this generation is for the source. */
void target_consumer(const struct target *t, struct buf *out);

/* After target_go_live: the consumer of the generation that was replaced, or "". */
const char *target_replaced(const struct target *t);

/* The same for any index. */
void target_consumer_name(const struct target *t, const char *index, const char *uuid,
                          struct buf *out);

/* Reads the checkpoint again. */
int target_reload(struct target *t, struct err *err) MUST_CHECK;

#endif
