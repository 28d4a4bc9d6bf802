/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verify at work: verify.c walks the table's keys, verify_documents.c the index's,
 * verify_look.c reads rows and documents of some keys, verify_confirm.c looks again at what is
 * suspected.
 */
#ifndef ROWFERRY_ENGINE_VERIFY_PRIVATE_H
#define ROWFERRY_ENGINE_VERIFY_PRIVATE_H

#include "generation/generation.h"
#include "pipeline/retry_budget.h"
#include "rowferry/engine/verify/verify.h"
#include "rowferry/service/index/documents.h"

#define VERIFY_PAGE 1000 /* keys that are asked for at a time */
#define VERIFY_SLICE 100 /* of those that are looked at again */

/* Keys, one after the other. */
struct verify_keys {
    struct buf bytes;
    size_t *ends;
    size_t count;
    size_t capacity;
};

struct verify {
    const struct verify_options *options;
    const struct verify_ports *ports;
    struct verify_result *result;
    struct target target;
    struct patience patience;
    struct capture *capture;
    struct listing *listing;
    struct source_facts facts;
    struct compare_rules rules;
    struct batch batch; /* rows as a sync would send them */
    struct documents documents;
    struct verify_keys page;
    struct verify_keys sample;
    struct verify_keys suspects;
    struct scan_page scanned;
    struct buf after; /* the last key of the walk */
    bool begun;       /* the walk has a last key */
    const char *stage;
    int64_t shown_us;
    int64_t stage_us;
    int64_t stage_done;
    int64_t stage_expected;
    bool impatient; /* a holder has not settled in time, once */
};

void verify_keys_init(struct verify_keys *k);
void verify_keys_release(struct verify_keys *k);
void verify_keys_reset(struct verify_keys *k);
void verify_keys_push(struct verify_keys *k, struct span key);
struct span verify_keys_get(const struct verify_keys *k, size_t i); /* until the next push */

/* --- verify_look.c: some keys ------------------------------------------------------------------
 */

/* What a look does with what it finds. The spans are borrowed during the call. */
struct look {
    void (*document)(struct verify *v, void *context, struct span key, struct span row,
                     const struct document *document);
    void (*refused)(struct verify *v, void *context, struct span key, const char *reason);
    void (*gone)(struct verify *v, void *context, struct span key);
    void (*impossible)(struct verify *v, void *context, struct span key); /* no row can have it */
    int (*begun)(struct verify *v, void *context, const struct span *keys, size_t count,
                 struct err *err); /* the rows' snapshot is taken; null: nothing */
    void *context;
    bool only_gone;
};

/* Reads the rows of the keys and asks the index for each row's document. What was told before the
 * source refused a key may be told again. */
int look_keys(struct verify *v, const struct span *keys, size_t count, const struct look *look,
              struct err *err) MUST_CHECK;

/* Documents of keys, each told; those that are larger than any of ours have an empty source. */
int look_documents(struct verify *v, const struct span *keys, size_t count, bool with_source,
                   void (*each)(void *context, size_t i, const struct document *document),
                   void *context, struct err *err) MUST_CHECK;

/* --- verify_confirm.c --------------------------------------------------------------------------
 */

/* Looks again at all that is suspected until each is decided; empties the list. */
int verify_confirm(struct verify *v, struct err *err) MUST_CHECK;

/* --- verify_documents.c ----------------------------------------------------------------------- */

int verify_walk_documents(struct verify *v, struct err *err) MUST_CHECK;

/* --- verify.c ----------------------------------------------------------------------------------
 */

typedef int (*verify_step)(struct verify *v, struct err *err);

/* Repeats a step, connected anew, while it fails for a passing reason and patience lasts. */
int verify_endure(struct verify *v, verify_step step, struct err *err);
/* Looks again when many are suspected, or at the end. */
int verify_confirm_many(struct verify *v, bool last, struct err *err);
/* A look at the keys of the page; what it suspected before an error is forgotten. */
int verify_look_at_page(struct verify *v, const struct look *look, struct err *err);

/* The last key of a walk, and progress. */
struct span verify_after(const struct verify *v);
void verify_remember(struct verify *v, struct span key);
void verify_begin_stage(struct verify *v, const char *stage, int64_t expected);
void verify_moves(struct verify *v, size_t count);

#define VERIFY_REPLACED 1 /* no error: another generation is live now */

/* The index is still the one that the checkpoint names. */
int verify_connect(struct verify *v, struct err *err);
int verify_check_index(struct verify *v, struct err *err);
void verify_nap(const struct verify *v, int64_t ms);
static inline bool verify_stopping(const struct verify *v)
{
    return v->options->stop != NULL && __atomic_load_n(v->options->stop, __ATOMIC_RELAXED) != 0;
}

#endif
