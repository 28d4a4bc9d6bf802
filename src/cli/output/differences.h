/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The differences that a verify found, as text and as JSON. Pure.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/engine/verify/verify.h"

#define DIFFERENCES_SHOWN 20

struct differences {
    bool json;
    int64_t most;    /* maximum number to show */
    int64_t shown;   /* number so far */
    struct buf text; /* those shown: lines, or members of an array */
};

void differences_init(struct differences *d, bool json, int64_t most);
void differences_release(struct differences *d);
void differences_reset(struct differences *d);
void differences_add(struct differences *d, const struct verify_found *found);

struct verified {
    const char *pipeline;
    const char *index; /* the alias */
    const struct verify_result *result;
    const struct compare_rules *rules;
    bool sampled;
    bool filtered; /* --where: documents without a row were not looked for */
    int64_t took_ms;
    int exit_code;
    const char *error; /* null if none */
};

void differences_push(struct buf *out, const struct differences *d, const struct verified *v);
