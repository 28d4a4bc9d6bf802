/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch limit: keeps batches within the request size that the service takes. Asked before an
 * initial load, if the credential may; a proxy may take less, so refusals because of size (413)
 * count too. It is kept in the state file, because the next `sync` would otherwise be refused
 * again; for a day, because a limit can be raised.
 */
#pragma once

#include "core/loop_view.h"
#include "rowferry/service/bulk/flow.h"

struct batch_limit {
    const struct loop_view *view;
    struct flow *flow; /* its ceiling is lowered */
    size_t known;      /* ceiling that is configured or in the state file already */
    bool asked;
};

/* Applies what the state file has. */
int batch_limit_load(struct batch_limit *b, struct err *err) MUST_CHECK;

/* Asks when an initial load begins, and keeps what was learned; see struct loop_observer. */
enum loop_answer batch_limit_on_turn(void *self, struct err *why);
