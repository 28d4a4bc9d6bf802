/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text format of Prometheus (version 0.0.4): the head of a family, then its samples. Pure.
 *
 *     # HELP rowferry_upserts_total upserts that succeeded
 *     # TYPE rowferry_upserts_total counter
 *     rowferry_upserts_total{pipeline="articles"} 4981
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/buf.h"

struct label {
    const char *name;  /* null ends the list */
    const char *value; /* the label is left out if this is null or empty */
};

void exposition_head(struct buf *out, const char *name, const char *type, const char *help);

/* `suffix` is "_bucket" or "". Labels end with a null name. */
void exposition_int(struct buf *out, const char *name, const char *suffix,
                    const struct label *labels, int64_t value);
void exposition_real(struct buf *out, const char *name, const char *suffix,
                     const struct label *labels, double value);
