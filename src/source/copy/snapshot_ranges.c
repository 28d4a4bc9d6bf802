/* SPDX-License-Identifier: Apache-2.0 */
/* The unread rest of an initial load. */
#include "copy/snapshot_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"

static void snapshot_ranges_forget(struct snapshot_ranges *p)
{
    for (size_t i = 0; i < p->count; i++) {
        position_copy_range_release(&p->items[i].range);
    }
    p->count = 0;
}

void snapshot_ranges_release(struct snapshot_ranges *p)
{
    snapshot_ranges_forget(p);
    free(p->items);
    *p = (struct snapshot_ranges){.kind = POSITION_LOG};
}

static size_t snapshot_ranges_add(struct snapshot_ranges *p, const struct copy_range *range)
{
    p->items = mem_grow(p->items, p->count + 1, sizeof(*p->items));
    p->items[p->count] = (struct snapshot_range){.taken = false};
    position_copy_range_copy(&p->items[p->count].range, range);
    return p->count++;
}

void snapshot_ranges_set(struct snapshot_ranges *p, const struct position *at)
{
    const struct copy_range first = {.range = at->range, .key = at->key, .until = at->until};
    snapshot_ranges_forget(p);
    p->kind = at->kind;
    p->filenode = at->filenode;
    p->block = at->block;
    p->blocks = at->blocks;
    if (at->kind == POSITION_KEYS) {
        snapshot_ranges_add(p, &first);
    }
    for (size_t i = 0; i < at->other_count; i++) {
        snapshot_ranges_add(p, &at->others[i]);
    }
}

void snapshot_ranges_divide(struct snapshot_ranges *p, const char *const *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct copy_range *before = &p->items[p->count - 1].range;
        before->until = text_copy(values[i]);
        const struct copy_range next = {.range = KEY_RANGE_BEYOND, .key = before->until};
        snapshot_ranges_add(p, &next);
    }
}

size_t snapshot_ranges_take(struct snapshot_ranges *p, uint64_t most, bool nothing_too)
{
    size_t i = 0;
    while (i < p->count && (p->items[i].taken || p->items[i].done)) {
        i++;
    }
    if (i == p->count) {
        bool blocks = p->kind == POSITION_BLOCKS && p->block < p->blocks;
        uint64_t left = blocks ? p->blocks - p->block : 0;
        if (left == 0 && !nothing_too) {
            return SNAPSHOT_RANGES_NONE;
        }
        const struct copy_range next = {.block = p->block,
                                        .end = p->block + (left < most ? left : most)};
        p->block = next.end;
        i = snapshot_ranges_add(p, &next);
    }
    p->items[i].taken = true;
    return i;
}

void snapshot_ranges_position(const struct snapshot_ranges *p, size_t part, const char *last,
                              struct position *out)
{
    const struct copy_range *r = &p->items[part].range;
    const struct position alone = {.kind = p->kind,
                                   .last = text_copy(last),
                                   .filenode = p->filenode,
                                   .block = r->block,
                                   .blocks = r->end,
                                   .range = r->range,
                                   .key = r->key != NULL ? text_copy(r->key) : NULL,
                                   .until = r->until != NULL ? text_copy(r->until) : NULL};
    position_release(out);
    *out = alone;
}

void snapshot_ranges_move(struct snapshot_ranges *p, size_t part, const struct position *to)
{
    struct snapshot_range *item = &p->items[part];
    struct copy_range *r = &item->range;
    if (to->kind == POSITION_LOG) {
        r->block = r->end;
        item->done = true;
    } else if (to->kind == POSITION_BLOCKS) {
        r->block = to->block;
        item->done = r->block >= r->end;
    } else {
        const struct copy_range moved = {.range = to->range, .key = to->key, .until = to->until};
        position_copy_range_copy(r, &moved);
    }
}

/* Returns the unfinished ranges. The array is the caller's to free, its contents are borrowed. */
static struct copy_range *snapshot_ranges_still(const struct snapshot_ranges *p, size_t *count)
{
    struct copy_range *ranges = mem_zero(p->count + 1, sizeof(*ranges));
    *count = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (!p->items[i].done) {
            ranges[(*count)++] = p->items[i].range;
        }
    }
    return ranges;
}

bool snapshot_ranges_print(const struct snapshot_ranges *p, const char *last, struct buf *out)
{
    size_t count;
    struct copy_range *ranges = snapshot_ranges_still(p, &count);
    char *from = text_copy(last);
    struct position at = {.kind = p->kind,
                          .last = from,
                          .filenode = p->filenode,
                          .block = p->block,
                          .blocks = p->blocks,
                          .others = ranges,
                          .other_count = count};
    if (count == 0 && (p->kind != POSITION_BLOCKS || p->block >= p->blocks)) {
        at.kind = POSITION_LOG;
    } else if (p->kind == POSITION_KEYS) {
        at.range = ranges[0].range;
        at.key = ranges[0].key;
        at.until = ranges[0].until;
        at.others = ranges + 1;
        at.other_count = count - 1;
    }
    position_print(out, &at);
    free(from);
    free(ranges);
    return at.kind != POSITION_LOG;
}

void snapshot_ranges_drop_done(struct snapshot_ranges *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (p->items[i].done) {
            position_copy_range_release(&p->items[i].range);
        } else {
            p->items[i].taken = false;
            p->items[kept++] = p->items[i];
        }
    }
    p->count = kept;
}

uint64_t snapshot_ranges_blocks_left(const struct snapshot_ranges *p)
{
    uint64_t left = p->block < p->blocks ? p->blocks - p->block : 0;
    for (size_t i = 0; i < p->count; i++) {
        left += p->items[i].range.end - p->items[i].range.block;
    }
    return left;
}
