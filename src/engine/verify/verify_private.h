/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running verify. verify.c walks the table's keys, verify_documents.c the index's; verify_look.c
 * reads rows and documents of some keys; verify_confirm.c takes the second look at suspects.
 */
#pragma once

#include "core/retry_budget.h"
#include "generation/generation.h"
#include "rowferry/base/stop.h"
#include "rowferry/engine/verify/verify.h"
#include "rowferry/service/index/documents.h"

#define VERIFY_PAGE 1000 /* keys per query */
#define VERIFY_KEYS_BYTES ((size_t)64 << 20)
#define VERIFY_SLICE 100 /* keys per query of the second look */

/* What the verification does now, for its progress. */
struct verify_stage {
    const char *name;
    int64_t shown_us;
    int64_t begun_us;
    int64_t done;
    int64_t expected;
};

struct verify {
    const struct verify_options *options;
    const struct verify_ports *ports;
    struct verify_result *result;
    struct generation target;
    struct retry_budget retry_budget;
    struct capture *capture;
    struct listing *listing;
    struct source_facts facts;
    struct compare_rules rules;
    struct batch batch; /* rows as a sync would send them */
    struct documents documents;
    struct scan_list page;
    struct scan_list sample;
    struct scan_list suspects;
    struct scan_page scanned;
    struct buf after; /* the last key of the walk */
    bool begun;       /* `after` is set */
    struct verify_stage stage;
    bool impatient; /* a lock holder failed once to settle in time */
};

/* --- verify_look.c: rows and documents of some keys ------------------------------------------ */

/* Callbacks of a look; each may be null. The spans are borrowed during the call. */
struct look {
    void (*document)(void *context, struct span key, struct span row,
                     const struct document *document);
    void (*refused)(void *context, struct span key, const char *reason);
    void (*gone)(void *context, struct span key);
    void (*impossible)(void *context, struct span key); /* for no row */
    int (*begun)(void *context, const struct span *keys, size_t count,
                 struct err *err); /* the snapshot of the rows was taken */
    void *context;
    bool only_gone;
};

/* Reads the rows of the keys and fetches each row's document. If the source refuses a key, earlier
 * results may be reported again. */
int verify_look_keys(struct verify *v, const struct span *keys, size_t count,
                     const struct look *look, struct err *err) MUST_CHECK;

/* Fetches the documents of the keys and passes each to the callback. Documents larger than any of
 * ours have an empty source. */
int verify_look_documents(struct verify *v, const struct span *keys, size_t count, bool with_source,
                          void (*each)(void *context, size_t i, const struct document *document),
                          void *context, struct err *err) MUST_CHECK;

/* --- verify_confirm.c ------------------------------------------------------------------------ */

/* Checks all suspects again until each is decided. Empties the list. */
int verify_confirm(struct verify *v, struct err *err) MUST_CHECK;

/* --- verify_documents.c ---------------------------------------------------------------------- */

int verify_walk_documents(struct verify *v, struct err *err) MUST_CHECK;

/* --- verify.c -------------------------------------------------------------------------------- */

typedef int (*verify_step)(struct verify *v, struct err *err);

/* Repeats a step with a new connection while it fails with a transient error and the retry budget
 * lasts. */
int verify_endure(struct verify *v, verify_step step, struct err *err);
/* Takes the second look if there are enough suspects, or at the end. */
int verify_confirm_many(struct verify *v, bool last, struct err *err);
/* Looks at the keys of the page. After an error, forgets the suspects of the page. */
int verify_look_at_page(struct verify *v, const struct look *look, struct err *err);

/* The last key of a walk, and progress. */
struct span verify_after(const struct verify *v);
void verify_remember(struct verify *v, struct span key);
void verify_begin_stage(struct verify *v, const char *stage, int64_t expected);
void verify_moves(struct verify *v, size_t count);

#define VERIFY_REPLACED 1 /* not an error: another generation is live now */

/* Checks that the index is still the checkpoint's generation. */
int verify_connect(struct verify *v, struct err *err);
int verify_check_index(struct verify *v, struct err *err);
static inline bool verify_stopping(const struct verify *v)
{
    return stop_is_set(v->options->stop);
}
