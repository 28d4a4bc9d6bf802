/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second look at suspects, in this order: the checkpoint; the versions of the documents; the
 * rows and which of them have changes that the checkpoint does not cover; the documents. Assume
 * that no change is waiting and the version is the same. Then the index had exactly this document
 * when the row was read, with all changes of the row settled.
 */
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/clock.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/lock.h"
#include "verify/verify_private.h"

#define HELD_PAUSE_MS 100
#define FREE_PAUSE_MS 20
#define FREE_ROUNDS 2  /* without a lock holder, waiting changes nothing */
#define ABSENT_LOOKS 2 /* a missing document has no version to compare */

/* One suspect of a slice. */
struct looked {
    struct span key;
    struct document before;
    bool waits;
    bool decided;
    bool absent; /* the row does not exist; its document is fetched after all rows were read */
    bool impossible;
    unsigned *seen; /* number of times it was found to differ */
};

struct slice {
    struct verify *v;
    struct looked items[VERIFY_SLICE];
    size_t count;
    const char *position; /* of the checkpoint */
    bool all_wait;
    bool last; /* no process held the lock, and this is the last look */
    struct err letter_err;
};

static struct looked *verify_confirm_find(struct slice *s, struct span key)
{
    for (size_t i = 0; i < s->count; i++) {
        if (span_equal(s->items[i].key, key)) {
            return &s->items[i];
        }
    }
    return NULL;
}

/* --- reporting ------------------------------------------------------------------------------- */

static int verify_confirm_note_letter(void *context, const struct dead_letter *letter)
{
    char **reason = context;
    free(*reason);
    *reason = text_copy(letter->reason);
    return 0;
}

/* Returns the reason of the key's open dead letter, or null. The caller frees it. */
static char *verify_confirm_open_letter(struct slice *s, struct span key)
{
    char *reason = NULL;
    char *text = text_copy_span(key);
    struct dead_letter_filter filter = {.key = text};
    if (deadletter_select(s->v->ports->pipeline->state, &filter, verify_confirm_note_letter,
                          &reason, &s->letter_err) < 0) {
        free(reason);
        reason = NULL;
    }
    free(text);
    return reason;
}

static void verify_confirm_report(struct slice *s, struct looked *l, struct verify_found found)
{
    struct verify *v = s->v;
    char *reason = verify_confirm_open_letter(s, l->key);
    if (reason != NULL) {
        found.kind = VERIFY_LETTER;
        found.reason = reason;
    }
    l->decided = true;
    found.key = l->key;
    found.impossible = l->impossible;
    found.rules = &v->rules;
    v->result->found[found.kind]++;
    if (v->options->found != NULL) {
        v->options->found(v->options->context, &found);
    }
    free(reason);
}

/* --- decisions ------------------------------------------------------------------------------- */

/* Returns true if the observation is conclusive. */
static bool verify_confirm_settled(const struct slice *s, const struct looked *l,
                                   const struct document *now)
{
    return !s->all_wait && !l->waits && l->before.found == now->found &&
           l->before.version == now->version;
}

/* Returns true if no sync can have written since the checkpoint was read: the lock is free, and
 * the checkpoint has not moved. */
static bool verify_confirm_no_sync(const struct slice *s)
{
    struct state *state = s->v->ports->pipeline->state;
    struct checkpoint c = {0};
    struct err ignored;
    char holder[256];
    bool held = true;
    if (lock_look(state, &held, holder, sizeof(holder), &ignored) < 0 || held) {
        return false;
    }
    int rc = checkpoint_load(state, &c, &ignored);
    bool same = rc == 0 && c.position != NULL && strcmp(c.position, s->position) == 0;
    checkpoint_release(&c);
    return same;
}

static void verify_confirm_judge(struct slice *s, struct looked *l, struct span row,
                                 const struct document *now)
{
    const struct compare_rules *rules = &s->v->rules;
    bool whole = now->source.len > 0;
    if (row.data == NULL
            ? !now->found
            : now->found && whole && compare_documents(rules, row, now->source, NULL, NULL) == 0) {
        l->decided = true;
        return;
    }
    bool still = verify_confirm_settled(s, l, now);
    const char *reason = NULL;
    if (!still && s->last && !s->all_wait && !l->waits && verify_confirm_no_sync(s)) {
        reason = "changed by another program";
    } else if (!still) {
        *l->seen = 0;
        return;
    }
    if (still && !now->found && ++*l->seen < ABSENT_LOOKS) {
        return;
    }
    enum verify_kind kind = row.data == NULL ? VERIFY_EXTRA
                            : now->found     ? VERIFY_ALTERED
                                             : VERIFY_MISSING;
    verify_confirm_report(
        s, l,
        (struct verify_found){.kind = kind,
                              .reason = reason,
                              .row = row,
                              .indexed = now->found ? now->source : span_make(NULL, 0)});
}

static void verify_confirm_on_document(void *context, struct span key, struct span row,
                                       const struct document *document)
{
    struct looked *l = verify_confirm_find(context, key);
    if (l != NULL && !l->decided) {
        verify_confirm_judge(context, l, row, document);
    }
}

static void verify_confirm_on_refused(void *context, struct span key, const char *reason)
{
    struct looked *l = verify_confirm_find(context, key);
    if (l != NULL && !l->decided && verify_confirm_settled(context, l, &l->before)) {
        verify_confirm_report(context, l,
                              (struct verify_found){.kind = VERIFY_LETTER, .reason = reason});
    }
}

struct gone {
    struct slice *slice;
    struct span keys[VERIFY_SLICE];
    size_t count;
};

static void verify_confirm_on_gone(void *context, struct span key)
{
    struct looked *l = verify_confirm_find(context, key);
    if (l != NULL) {
        l->absent = true;
    }
}

static void verify_confirm_on_impossible(void *context, struct span key)
{
    struct looked *l = verify_confirm_find(context, key);
    if (l != NULL) {
        l->absent = l->impossible = true;
    }
}

static void verify_confirm_judge_gone(void *context, size_t i, const struct document *document)
{
    struct gone *g = context;
    struct looked *l = verify_confirm_find(g->slice, g->keys[i]);
    verify_confirm_judge(g->slice, l, span_make(NULL, 0), document);
}

static int verify_confirm_ask_gone(struct slice *s, struct err *err)
{
    struct gone g = {.slice = s};
    for (size_t i = 0; i < s->count; i++) {
        if (s->items[i].absent) {
            g.keys[g.count++] = s->items[i].key;
        }
    }
    return verify_look_documents(s->v, g.keys, g.count, true, verify_confirm_judge_gone, &g, err);
}

/* --- slices ---------------------------------------------------------------------------------- */

static void verify_confirm_on_before(void *context, size_t i, const struct document *document)
{
    struct slice *s = context;
    s->items[i].before = *document;
    s->items[i].before.source = span_make(NULL, 0);
}

static void verify_confirm_on_waiting(void *context, struct span key)
{
    struct looked *l = verify_confirm_find(context, key);
    if (l != NULL) {
        l->waits = true;
    }
}

/* Called after the snapshot of the rows: changes that it shows and the checkpoint does not cover
 * are waiting. */
static int verify_confirm_on_begun(void *context, const struct span *keys, size_t count,
                                   struct err *err)
{
    struct slice *s = context;
    return listing_unsettled(s->v->listing, s->position, keys, count, verify_confirm_on_waiting, s,
                             &s->all_wait, err);
}

static int verify_confirm_look_at(struct slice *s, struct err *err)
{
    struct verify *v = s->v;
    struct span keys[VERIFY_SLICE];
    struct look look = {.document = verify_confirm_on_document,
                        .refused = verify_confirm_on_refused,
                        .gone = verify_confirm_on_gone,
                        .impossible = verify_confirm_on_impossible,
                        .begun = verify_confirm_on_begun,
                        .context = s};
    for (size_t i = 0; i < s->count; i++) {
        keys[i] = s->items[i].key;
    }
    int rc = verify_look_documents(v, keys, s->count, false, verify_confirm_on_before, s, err);
    if (rc == 0) {
        rc = verify_look_keys(v, keys, s->count, &look, err);
    }
    if (rc == 0) {
        rc = verify_confirm_ask_gone(s, err);
    }
    if (rc == 0 && s->letter_err.class != ERR_NONE) {
        *err = s->letter_err;
        rc = (int)err->class;
    }
    return rc;
}

struct round {
    struct scan_list left;
    unsigned *seen; /* of the suspects */
    bool last;
};

static int verify_confirm_one_slice(struct verify *v, struct round *r, size_t from, size_t *next,
                                    const char *position, struct err *err)
{
    struct slice *s = mem_zero(1, sizeof(*s));
    s->v = v;
    s->position = position;
    s->last = r->last && !v->result->held;
    for (; s->count < VERIFY_SLICE && from + s->count < v->suspects.count; s->count++) {
        size_t i = from + s->count;
        s->items[s->count] =
            (struct looked){.key = scan_list_get(&v->suspects, i), .seen = &r->seen[i]};
    }
    int rc = verify_confirm_look_at(s, err);
    for (size_t i = 0; i < s->count; i++) { /* also after an error: reports are final */
        if (!s->items[i].decided) {
            r->seen[r->left.count] = *s->items[i].seen; /* never ahead of the reads */
            scan_list_push(&r->left, s->items[i].key);
        }
    }
    *next = from + s->count;
    free(s);
    return rc;
}

/* Takes one look at all remaining suspects; reads the checkpoint first. */
static int verify_confirm_one_round(struct verify *v, struct round *r, struct err *err)
{
    char holder[256];
    struct state *state = v->ports->pipeline->state;
    int rc = lock_look(state, &v->result->held, holder, sizeof(holder), err);
    if (rc == 0) {
        rc = verify_check_index(v, err);
    }
    if (rc == 0 && v->target.checkpoint.position == NULL) {
        rc = err_set(err, ERR_STATE, "the pipeline has no position");
    }
    char *position = rc == 0 ? text_copy(v->target.checkpoint.position) : NULL;
    scan_list_cut(&r->left, 0);
    size_t at = 0;
    while (rc == 0 && at < v->suspects.count) {
        rc = verify_confirm_one_slice(v, r, at, &at, position, err);
    }
    free(position);
    for (; at < v->suspects.count; at++) {
        scan_list_push(&r->left, scan_list_get(&v->suspects, at));
    }
    struct scan_list decided = v->suspects;
    v->suspects = r->left;
    r->left = decided;
    return rc;
}

int verify_confirm(struct verify *v, struct err *err)
{
    struct clock clock = v->ports->pipeline->clock;
    int64_t until_us = clock_monotonic_us(&clock) + v->options->settle_ms * 1000;
    struct round r = {.seen = mem_zero(v->suspects.count + 1, sizeof(*r.seen))};
    unsigned free_rounds = 0;
    int rc = 0;
    scan_list_init(&r.left, VERIFY_KEYS_BYTES);
    while (v->suspects.count > 0 && !verify_stopping(v)) {
        r.last = free_rounds + 1 == FREE_ROUNDS;
        rc = verify_confirm_one_round(v, &r, err);
        bool held = v->result->held;
        free_rounds += !held || v->impatient;
        if (rc != 0 || v->suspects.count == 0 || free_rounds == FREE_ROUNDS) {
            break;
        }
        v->impatient = v->impatient || (held && clock_monotonic_us(&clock) > until_us);
        clock_sleep(held ? HELD_PAUSE_MS : FREE_PAUSE_MS, v->options->stop);
    }
    if (rc == 0) {
        v->result->waiting += (int64_t)v->suspects.count;
        scan_list_cut(&v->suspects, 0);
    }
    scan_list_release(&r.left);
    free(r.seen);
    return rc;
}
