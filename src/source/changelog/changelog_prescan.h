/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prescan: finds the deletes of a stretch of the log before any of it is delivered, and leads
 * back to its start. Pure.
 */
#pragma once

#include "changelog/changelog_page.h"

/* DONE: the rest of the stretch was prescanned. */
enum prescan_state { PRESCAN_NONE, PRESCAN_RUNNING, PRESCAN_DONE };

struct prescan {
    enum prescan_state state;
    bool truncated;       /* reason for the end of the prescan */
    uint64_t keys;        /* of the stretch's pages so far, distinct within each page */
    struct position from; /* start of the prescan */
    char *from_after;     /* fan_after at that position */
};

/* Resets the prescan, and frees what it owns, at the end of a stretch or the start of reading. */
void changelog_prescan_reset(struct prescan *s);

/* Before a page of the log delivers anything: returns true if the page is part of a prescan. That
 * begins if the capture is guarded and the stretch may have more keys than the guard's limit. */
bool changelog_prescan_runs(struct prescan *s, const struct changelog_page *p);

/* Returns true if the page ends at once because the table was truncated. */
bool changelog_prescan_truncated(struct prescan *s, const struct changelog_page *p);

/* At the end of a page of a prescan: fills the change, and moves on or back. */
void changelog_prescan_end_page(struct prescan *s, struct changelog_page *p, struct change *change);

/* Gives up a prescan: moves back to its start, as if it had not begun. */
void changelog_prescan_abandon(struct prescan *s, struct changelog_position *p);
