/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the deletes of a stretch of the log before any of it is delivered. */
#include "changelog/changelog_prescan.h"

#include <stdlib.h>

#include "rowferry/base/text.h"

void changelog_prescan_reset(struct prescan *s)
{
    position_release(&s->from);
    free(s->from_after);
    *s = (struct prescan){.state = PRESCAN_NONE};
}

static void changelog_prescan_copy_key(char **to, const char *from)
{
    free(*to);
    *to = from != NULL ? text_copy(from) : NULL;
}

/* Records the start of the stretch's own pages. They end at the target of the prescan, so that they
 * contain nothing that was not prescanned. */
static void changelog_prescan_begin(struct prescan *s, const struct changelog_page *p)
{
    s->state = PRESCAN_RUNNING;
    position_copy(&s->from, &p->position->at);
    if (s->from.target == NULL) {
        s->from.target = text_copy(p->page.look.snapshot);
        s->from.part = 1;
    }
    changelog_prescan_copy_key(&s->from_after, p->position->fan_after);
}

/* Returns true if the stretch may have more keys than the guard's limit. */
static bool changelog_prescan_is_large(struct prescan *s, const struct changelog_page *p)
{
    size_t keys = p->keys.set.count;
    bool more = p->page.stretch.full || (p->kind == PAGE_FAN && keys == p->options->page_rows);
    s->keys += keys;
    return more || s->keys > p->capture->harmless;
}

bool changelog_prescan_runs(struct prescan *s, const struct changelog_page *p)
{
    if (s->state == PRESCAN_NONE && p->capture->guarded && changelog_prescan_is_large(s, p)) {
        changelog_prescan_begin(s, p);
    }
    return s->state == PRESCAN_RUNNING;
}

bool changelog_prescan_truncated(struct prescan *s, const struct changelog_page *p)
{
    if (s->state == PRESCAN_DONE || !p->page.stretch.truncated) {
        return false;
    }
    if (s->state == PRESCAN_NONE) {
        changelog_prescan_begin(s, p);
    }
    s->truncated = true;
    return true;
}

static void changelog_prescan_return(const struct prescan *s, struct changelog_position *p)
{
    position_copy(&p->at, &s->from);
    changelog_prescan_copy_key(&p->fan_after, s->from_after);
}

void changelog_prescan_end_page(struct prescan *s, struct changelog_page *p, struct change *change)
{
    *change = (struct change){.kind = CHANGE_PAGE, .ahead = true};
    if (!s->truncated && p->end.target != NULL) {
        position_copy(&p->position->at, &p->end);
        return;
    }
    *change = (struct change){.kind = CHANGE_PRESCAN_END, .truncated = s->truncated};
    changelog_prescan_return(s, p->position);
    changelog_prescan_reset(s);
    s->state = PRESCAN_DONE;
}

void changelog_prescan_abandon(struct prescan *s, struct changelog_position *p)
{
    if (s->state == PRESCAN_RUNNING) {
        changelog_prescan_return(s, p);
    }
    changelog_prescan_reset(s);
}
