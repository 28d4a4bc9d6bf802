/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the keys of the differences that a verify found, to be repaired.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/config/config.h"
#include "rowferry/engine/verify/verify.h"

/* Keys, each after its length. Keys that exceed the maximum size are left for the next run. */
struct repair_keys {
    struct buf bytes;
    size_t left_out;
};

struct repairs {
    struct repair_keys changed; /* rows to read again: document missing or different */
    struct repair_keys extra;
    size_t impossible; /* extra documents whose ids cannot belong to a row */
    size_t fixed;      /* extra and altered documents of a data stream, which cannot be changed */
};

void repairs_init(struct repairs *r);
void repairs_release(struct repairs *r);
void repairs_reset(struct repairs *r);
/* `stream`: the index is a data stream, to which documents can only be added. */
void repairs_add(struct repairs *r, bool stream, const struct verify_found *found);

/* Takes the next key out; *at begins at 0. Returns false at the end. */
bool repairs_keys_next(const struct repair_keys *k, size_t *at, struct span *key);

/* Returns true if the delete guard of a sync would let this number of deletes pass. Always false
 * if the guard has stopped the pipeline and there are extra documents. */
bool repairs_guard_passes(const struct delete_guard_config *guard, const struct verify_result *r);

/* Returns true if the index looks restored from an older copy: many rows have no document or an
 * old one, and the newest document is older than the last settled change. */
bool repairs_look_restored(const struct verify_result *r);
