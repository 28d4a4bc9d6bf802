/* SPDX-License-Identifier: Apache-2.0 */
/* Collects dead letters and clearings between two commits. Each key has at most one of them, the
 * later one. */
#include "core/pending_commit.h"

#include <stdlib.h>

#include "rowferry/state/deadletter.h"

#define PENDING_COMMIT_MAX 500

static int pending_commit_note_open(void *context, const struct dead_letter *letter)
{
    struct pending_commit *s = context;
    hashset_add(&s->open, text_hash(letter->key, letter->key_len));
    return 0;
}

int pending_commit_init(struct pending_commit *s, struct state *state, struct err *err)
{
    *s = (struct pending_commit){0};
    hashset_init(&s->open);
    return deadletter_each(state, pending_commit_note_open, s, err);
}

static void pending_commit_span_free(struct span *span)
{
    free((void *)(uintptr_t)span->data);
    *span = (struct span){0};
}

static struct span pending_commit_span_copy(struct span span)
{
    return span_make(text_copy_span(span), span.len);
}

static void pending_commit_letter_free(struct new_letter *letter)
{
    pending_commit_span_free(&letter->key);
    pending_commit_span_free(&letter->reason);
    pending_commit_span_free(&letter->error_type);
}

static void pending_commit_reset(struct pending_commit *s)
{
    for (size_t i = 0; i < s->letter_count; i++) {
        pending_commit_letter_free(&s->letters[i]);
    }
    for (size_t i = 0; i < s->cleared_count; i++) {
        pending_commit_span_free(&s->cleared[i]);
    }
    s->letter_count = 0;
    s->cleared_count = 0;
    s->settled = 0;
}

void pending_commit_release(struct pending_commit *s)
{
    pending_commit_reset(s);
    free(s->letters);
    free(s->cleared);
    hashset_release(&s->open);
}

static void pending_commit_forget_letter(struct pending_commit *s, struct span key)
{
    for (size_t i = 0; i < s->letter_count; i++) {
        if (span_equal(s->letters[i].key, key)) {
            pending_commit_letter_free(&s->letters[i]);
            s->letters[i] = s->letters[--s->letter_count];
            return;
        }
    }
}

static void pending_commit_forget_cleared(struct pending_commit *s, struct span key)
{
    for (size_t i = 0; i < s->cleared_count; i++) {
        if (span_equal(s->cleared[i], key)) {
            pending_commit_span_free(&s->cleared[i]);
            s->cleared[i] = s->cleared[--s->cleared_count];
            return;
        }
    }
}

void pending_commit_reject(struct pending_commit *s, const struct new_letter *letter)
{
    pending_commit_forget_letter(s, letter->key);
    pending_commit_forget_cleared(s, letter->key);
    s->letters = mem_grow(s->letters, s->letter_count + 1, sizeof(*s->letters));
    struct new_letter *kept = &s->letters[s->letter_count++];
    *kept = *letter;
    kept->key = pending_commit_span_copy(letter->key);
    kept->reason = pending_commit_span_copy(letter->reason);
    kept->error_type = pending_commit_span_copy(letter->error_type);
    hashset_add(&s->open, text_hash(letter->key.data, letter->key.len));
    s->settled++;
}

static bool pending_commit_clear(struct pending_commit *s, struct span key, uint64_t hash)
{
    if (!hashset_remove(&s->open, hash)) {
        return false;
    }
    pending_commit_forget_letter(s, key);
    s->cleared = mem_grow(s->cleared, s->cleared_count + 1, sizeof(*s->cleared));
    s->cleared[s->cleared_count++] = pending_commit_span_copy(key);
    return true;
}

bool pending_commit_done(struct pending_commit *s, struct span key, uint64_t hash)
{
    s->settled++;
    return pending_commit_clear(s, key, hash);
}

bool pending_commit_discard(struct pending_commit *s, struct span key)
{
    return pending_commit_clear(s, key, text_hash(key.data, key.len));
}

void pending_commit_keep(struct pending_commit *s, size_t letters)
{
    while (s->letter_count > letters) {
        pending_commit_letter_free(&s->letters[--s->letter_count]);
    }
}

bool pending_commit_is_full(const struct pending_commit *s)
{
    return s->letter_count + s->cleared_count >= PENDING_COMMIT_MAX;
}

int pending_commit_write(struct pending_commit *s, struct state *state, const char *position,
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
        pending_commit_reset(s);
    }
    return rc;
}
