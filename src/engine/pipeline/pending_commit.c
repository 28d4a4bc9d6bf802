/* SPDX-License-Identifier: Apache-2.0 */
/* Collects dead letters and clearings between two commits. Each key has at most one of them, the
 * later one. */
#include "pipeline/pending_commit.h"

#include <stdlib.h>

#include "rowferry/state/deadletter.h"

#define SETTLING_CROWDED 500

static int settling_note_open(void *context, const struct dead_letter *letter)
{
    struct settling *s = context;
    hashset_add(&s->open, text_hash(letter->key, letter->key_len));
    return 0;
}

int settling_init(struct settling *s, struct state *state, struct err *err)
{
    *s = (struct settling){0};
    hashset_init(&s->open);
    return deadletter_each(state, settling_note_open, s, err);
}

static void span_free(struct span *span)
{
    free((void *)(uintptr_t)span->data);
    *span = (struct span){0};
}

static struct span span_copy(struct span span)
{
    return span_make(text_copy_span(span), span.len);
}

static void letter_free(struct letter *letter)
{
    span_free(&letter->key);
    span_free(&letter->reason);
    span_free(&letter->error_type);
}

static void settling_reset(struct settling *s)
{
    for (size_t i = 0; i < s->letter_count; i++) {
        letter_free(&s->letters[i]);
    }
    for (size_t i = 0; i < s->cleared_count; i++) {
        span_free(&s->cleared[i]);
    }
    s->letter_count = 0;
    s->cleared_count = 0;
    s->settled = 0;
}

void settling_release(struct settling *s)
{
    settling_reset(s);
    free(s->letters);
    free(s->cleared);
    hashset_release(&s->open);
}

static void settling_forget_letter(struct settling *s, struct span key)
{
    for (size_t i = 0; i < s->letter_count; i++) {
        if (span_equal(s->letters[i].key, key)) {
            letter_free(&s->letters[i]);
            s->letters[i] = s->letters[--s->letter_count];
            return;
        }
    }
}

static void settling_forget_cleared(struct settling *s, struct span key)
{
    for (size_t i = 0; i < s->cleared_count; i++) {
        if (span_equal(s->cleared[i], key)) {
            span_free(&s->cleared[i]);
            s->cleared[i] = s->cleared[--s->cleared_count];
            return;
        }
    }
}

void settling_reject(struct settling *s, const struct letter *letter)
{
    settling_forget_letter(s, letter->key);
    settling_forget_cleared(s, letter->key);
    s->letters = mem_grow(s->letters, s->letter_count + 1, sizeof(*s->letters));
    struct letter *kept = &s->letters[s->letter_count++];
    *kept = *letter;
    kept->key = span_copy(letter->key);
    kept->reason = span_copy(letter->reason);
    kept->error_type = span_copy(letter->error_type);
    hashset_add(&s->open, text_hash(letter->key.data, letter->key.len));
    s->settled++;
}

static bool settling_clear(struct settling *s, struct span key, uint64_t hash)
{
    if (!hashset_remove(&s->open, hash)) {
        return false;
    }
    settling_forget_letter(s, key);
    s->cleared = mem_grow(s->cleared, s->cleared_count + 1, sizeof(*s->cleared));
    s->cleared[s->cleared_count++] = span_copy(key);
    return true;
}

bool settling_done(struct settling *s, struct span key, uint64_t hash)
{
    s->settled++;
    return settling_clear(s, key, hash);
}

bool settling_discard(struct settling *s, struct span key)
{
    return settling_clear(s, key, text_hash(key.data, key.len));
}

void settling_keep(struct settling *s, size_t letters)
{
    while (s->letter_count > letters) {
        letter_free(&s->letters[--s->letter_count]);
    }
}

bool settling_crowded(const struct settling *s)
{
    return s->letter_count + s->cleared_count >= SETTLING_CROWDED;
}

int settling_commit(struct settling *s, struct state *state, const char *position,
                    uint64_t unsettled, int64_t wall_us, struct err *err)
{
    struct settlement settlement = {
        .position = position,
        .unsettled = unsettled,
        .settled = s->settled,
        .letters = s->letters,
        .letter_count = s->letter_count,
        .cleared = s->cleared,
        .cleared_count = s->cleared_count,
        .wall_us = wall_us,
    };
    int rc = checkpoint_settle(state, &settlement, err);
    if (rc == 0) {
        settling_reset(s);
    }
    return rc;
}
