/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys that a verify found to differ, kept to be sent.
 */
#ifndef ROWFERRY_DAEMON_REPAIRS_H
#define ROWFERRY_DAEMON_REPAIRS_H

#include "rowferry/base/buf.h"
#include "rowferry/config/config.h"
#include "rowferry/engine/verify/verify.h"

/* Keys, each behind its length; what does not fit is for the next time. */
struct repair_keys {
    struct buf bytes;
    size_t left_out;
};

struct repairs {
    struct repair_keys changed; /* to be read again: without a document, or with another */
    struct repair_keys extra;
    size_t impossible; /* extra ones whose ids no row can have */
    size_t fixed;      /* of a data stream: extra ones and altered ones, which stay as they are */
};

void repairs_init(struct repairs *r);
void repairs_release(struct repairs *r);
void repairs_reset(struct repairs *r);
/* stream: it is a data stream's, to which documents can only be added. */
void repairs_add(struct repairs *r, bool stream, const struct verify_found *found);

/* Takes the next key out; *at begins at 0. False: there is none. */
bool repair_keys_next(const struct repair_keys *k, size_t *at, struct span *key);

/* Whether a sync's guard would let as many deletes pass; none, where it has stopped the pipeline.
 */
bool repairs_guard_passes(const struct delete_guard_config *guard, const struct verify_result *r);

/* Returns true if the index looks restored from an older copy: many rows have no document or an old
 * one, and the newest document is older than what the pipeline settled. */
bool verify_looks_restored(const struct verify_result *r);

#endif
