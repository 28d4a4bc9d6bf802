/* SPDX-License-Identifier: Apache-2.0 */
/* Steps about what was judged and told last; part of steps.h, which has struct trial. */
#pragma once

#include "rowferry/state/hook_marks.h"
#include "rowferry/state/request_limit.h"
#include "rowferry/state/validation.h"
#include "rowferry/state/written_place.h"

static int judged(struct trial *t, struct err *err)
{
    struct validation v = {.definition = "00ff", .ended_us = 5, .passed = true};
    bool known = false;
    int rc = validation_write(t->s, &v, err);
    rc = rc == 0 ? validation_read(t->s, &v, &known, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%d %d %s", known, v.passed, v.definition);
    }
    return rc;
}

static int hooks_told(struct trial *t, struct err *err)
{
    struct hook_marks m = {.guard_us = 5, .dead_letters = 2, .stopped = "00ff", .generation = "g"};
    bool known = false;
    int rc = hook_marks_write(t->s, &m, err);
    rc = rc == 0 ? hook_marks_read(t->s, &m, &known, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%d %lld %s", known, (long long)m.dead_letters, m.generation);
    }
    return rc;
}

static int limit_learned(struct trial *t, struct err *err)
{
    struct request_limit l = {.bytes = 900000, .learned_us = 5};
    bool known = false;
    int rc = request_limit_write(t->s, &l, err);
    rc = rc == 0 ? request_limit_read(t->s, &l, &known, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%d %lld", known, (long long)l.bytes);
    }
    return rc;
}

static int place_noted(struct trial *t, struct err *err)
{
    struct written_place p = {.uuid = "u1", .place = "1 2026 - shop on db"};
    bool known = false;
    int rc = written_place_write(t->s, &p, err);
    rc = rc == 0 ? written_place_read(t->s, &p, &known, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%d %s", known, p.place);
    }
    return rc;
}
