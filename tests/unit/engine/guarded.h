/* SPDX-License-Identifier: Apache-2.0 */
/* A small index with a guard that trips early. */
#pragma once

#include <string.h>

#include "fake.h"
#include "rowferry/base/log.h"
#include "rowferry/state/guard_stop.h"
#include "suite.h"

static inline void must_sync(struct fake *f, int wanted, const char *words)
{
    struct err err = {0};
    int rc = fake_sync(f, NULL, &err);
    ck_assert_msg(rc == wanted, "%d: %s", rc, err.message);
    if (words != NULL) {
        ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
        ck_assert_msg(strstr(err.hint, "--allow-deletes things") != NULL, "%s", err.hint);
    }
}

static inline struct guard_stop halt_of(const struct fake *f, bool wanted)
{
    struct err err;
    struct state *state;
    struct guard_stop halt;
    bool known;
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(guard_stop_read(state, &halt, &known, &err), 0);
    ck_assert(known == wanted);
    state_close(state);
    return halt;
}

/* 60 documents; the guard trips on more than 10 deletes or a tenth. */
static inline void guarded(struct fake *f)
{
    log_configure(LOG_ERROR, LOG_TEXT);
    fake_init(f, 60);
    f->guard_count = 10;
    must_sync(f, 0, NULL);
    ck_assert(fake_equal(f));
}

static inline void remove_rows(struct fake *f, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        fake_write(f, i, -1);
    }
}
