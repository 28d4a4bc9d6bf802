/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary indices that a killed `smoke`, `validate` or `check` left: `<alias>-<purpose>-<random>`
 * with `_meta.rowferry` of a trial. One that came with its first document (smoke --implicit) has no
 * such mark and is not found. A young one may belong to a trial at work, so its age is shown.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/err.h"

struct service;

#define LEFTOVERS_MOST 64

struct leftover {
    char index[256];
    int64_t age_s;
};

/* Lists at most LEFTOVERS_MOST. A trial's index of another pipeline is not one. */
int leftovers_list(struct service *s, const char *alias, const char *pipeline, int64_t wall_us,
                   struct leftover out[LEFTOVERS_MOST], size_t *count, struct err *err) MUST_CHECK;

/* Deletes one of the list. */
int leftovers_remove(struct service *s, const struct leftover *l, struct err *err) MUST_CHECK;
