/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a verify found, as people and programs read it. Pure.
 */
#ifndef ROWFERRY_CLI_DIFFERENCES_H
#define ROWFERRY_CLI_DIFFERENCES_H

#include "rowferry/base/buf.h"
#include "rowferry/engine/verify/verify.h"

#define DIFFERENCES_SHOWN 20

struct differences {
    bool json;
    int64_t most;    /* to be shown */
    int64_t shown;   /* so far */
    struct buf text; /* of those: lines, or members of an array */
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
    const char *error; /* null: none */
};

void differences_push(struct buf *out, const struct differences *d, const struct verified *v);

#endif
