/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the alias still points at the generation that is written: asked now and then, and not
 * waited for. What it sees is a suspicion, for the caller to look at as at a start.
 */
#ifndef ROWFERRY_ENGINE_ALIAS_WATCH_H
#define ROWFERRY_ENGINE_ALIAS_WATCH_H

#include "rowferry/engine/port.h"

struct aim {
    struct service_port service;
    const char *alias; /* borrowed, as the next two; null: nothing is looked at */
    const char *index;
    const char *uuid; /* null: not known */
    bool stream;      /* the alias is a data stream, the one that is written */
    int64_t due_us;   /* of the next look; 0 = none was due yet */
    bool asked;       /* there is no answer yet */
    bool forbidden;   /* the credential may not look */
    bool missed;      /* it points elsewhere */
};

/* Looks where it is time to; true once the alias was seen to point elsewhere. */
bool aim_turn(struct aim *a, int64_t now_us);

#endif
