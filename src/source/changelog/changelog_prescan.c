/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a window's deletes before any of it is delivered. */
#include "changelog/changelog_private.h"

void changelog_forget_look(struct changelog *c)
{
    position_release(&c->ahead.from);
    buf_reset(&c->ahead.from_after);
    c->ahead.looking = c->ahead.judged = c->ahead.truncated = false;
    c->ahead.keys = 0;
}

/* Records the start of the window's own pages. They end at the target of the prescan, so that they
 * contain nothing that was not prescanned. */
static void changelog_prescan_note_beginning(struct changelog *c)
{
    struct ahead *a = &c->ahead;
    position_copy(&a->from, &c->at);
    if (a->from.target == NULL) {
        a->from.target = text_copy(c->page.look.snapshot);
        a->from.part = 1;
    }
    buf_reset(&a->from_after);
    buf_push(&a->from_after, buf_text(&c->fan_after), c->fan_after.len);
}

/* Returns true if the window may have more keys than the guard's limit. */
static bool changelog_prescan_is_large(struct changelog *c)
{
    bool more = c->page.window.full || (c->kind == PAGE_FAN && c->keys.count == c->page_rows);
    c->ahead.keys += c->keys.count;
    return more || c->ahead.keys > c->capture.harmless;
}

bool changelog_looks_ahead(struct changelog *c)
{
    struct ahead *a = &c->ahead;
    if (a->looking || a->judged || !c->capture.guarded || !changelog_prescan_is_large(c)) {
        return a->looking;
    }
    changelog_prescan_note_beginning(c);
    a->looking = true;
    return true;
}

bool changelog_ends_look(struct changelog *c)
{
    struct ahead *a = &c->ahead;
    if (c->kind != PAGE_LOG || a->judged || !c->page.window.truncated) {
        return false;
    }
    if (!a->looking) {
        changelog_prescan_note_beginning(c);
    }
    a->looking = true;
    a->truncated = true;
    return true;
}

void changelog_look_again(struct changelog *c)
{
    struct ahead *a = &c->ahead;
    position_copy(&c->at, &a->from);
    buf_reset(&c->fan_after);
    buf_push(&c->fan_after, buf_text(&a->from_after), a->from_after.len);
}

void changelog_end_look(struct changelog *c, struct change *change)
{
    struct ahead *a = &c->ahead;
    *change = (struct change){.kind = CHANGE_PAGE, .ahead = true};
    if (!a->truncated && c->reached.target != NULL) {
        position_copy(&c->at, &c->reached);
        return;
    }
    *change = (struct change){.kind = CHANGE_PRESCAN_END, .truncated = a->truncated};
    changelog_look_again(c);
    changelog_forget_look(c);
    a->judged = true;
}
