/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the transaction with the oldest snapshot. */
#include "catalog/xmin_holders.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pg/pg_private.h"

static const char *const names[HOLD_KINDS] = {[HOLD_SESSION] = "session",
                                              [HOLD_UNSEEN] = "unseen",
                                              [HOLD_PREPARED] = "prepared",
                                              [HOLD_SLOT] = "slot",
                                              [HOLD_STANDBY] = "standby"};

static const char *xmin_holders_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* If the last check found the same holder, it began no later than that check. */
static int64_t xmin_holders_seen_for_us(struct hold_seen *seen, const struct hold_row *row,
                                        int64_t now_ms)
{
    struct hold_seen now = {.first_ms = now_ms};
    snprintf(now.id, sizeof(now.id), "%" PRId64 " %s %s", row->pid, xmin_holders_or_empty(row->xid),
             xmin_holders_or_empty(row->name));
    if (strcmp(seen->id, now.id) != 0) {
        *seen = now;
    }
    return (now_ms - seen->first_ms) * 1000;
}

static void xmin_holders_report_session(struct xmin_holder *out, const struct hold_row *row)
{
    snprintf(out->who, sizeof(out->who), "process %" PRId64 " (\"%.40s\"%s%.40s%s%.40s)", row->pid,
             xmin_holders_or_empty(row->name), row->role != NULL ? " of " : "",
             xmin_holders_or_empty(row->role), row->state != NULL ? ", " : "",
             xmin_holders_or_empty(row->state));
}

static void xmin_holders_report_who(struct xmin_holder *out, const struct hold_row *row)
{
    const char *name = xmin_holders_or_empty(row->name);
    switch (row->kind) {
    case HOLD_PREPARED:
        snprintf(out->who, sizeof(out->who), "the prepared transaction \"%.80s\" of %.40s", name,
                 xmin_holders_or_empty(row->role));
        break;
    case HOLD_SLOT:
        snprintf(out->who, sizeof(out->who), "the replication slot \"%.80s\"%s", name,
                 row->pid != 0 ? "" : ", which is inactive");
        break;
    case HOLD_STANDBY:
        snprintf(out->who, sizeof(out->who),
                 "a reader on the standby \"%.80s\" (process %" PRId64 " serves it)", name,
                 row->pid);
        break;
    default:
        xmin_holders_report_session(out, row);
        break;
    }
}

void xmin_holders_take(struct xmin_holders *h, const struct hold_row *row, int64_t now_ms,
                       struct xmin_holder *out)
{
    int64_t seen_us = xmin_holders_seen_for_us(&h->seen[row->kind], row, now_ms);
    int64_t age_us = row->age_us >= 0 ? row->age_us : seen_us;
    if (out->any && age_us <= out->age_us) {
        return;
    }
    *out = (struct xmin_holder){.any = true, .pid = row->pid, .age_us = age_us};
    xmin_holders_report_who(out, row);
}

static bool xmin_holders_kind_of(const char *name, enum hold_kind *kind)
{
    for (int i = 0; i < HOLD_KINDS; i++) {
        if (strcmp(names[i], name) == 0) {
            *kind = (enum hold_kind)i;
            return true;
        }
    }
    return false;
}

static void xmin_holders_take_all(struct xmin_holders *h, const struct pg_result *r,
                                  struct xmin_holder *out)
{
    for (size_t i = 0; i < pg_rows(r); i++) {
        struct hold_row row = {.pid = pg_int(r, i, 1),
                               .age_us = pg_text(r, i, 2) != NULL ? pg_int(r, i, 2) : -1,
                               .xid = pg_text(r, i, 3),
                               .name = pg_text(r, i, 4),
                               .role = pg_text(r, i, 5),
                               .state = pg_text(r, i, 6)};
        if (xmin_holders_kind_of(pg_text(r, i, 0), &row.kind)) {
            xmin_holders_take(h, &row, pg_now_ms(), out);
        }
    }
}

int xmin_holders_look(struct xmin_holders *h, struct pg *pg, bool all, struct xmin_holder *out,
                      struct err *err)
{
    struct pg_result *r = NULL;
    *out = (struct xmin_holder){0};
    int rc = pg_ask_again(pg, &r, "holds", PG_PARAMS(all ? "t" : "f"), err);
    if (rc == 0) {
        xmin_holders_take_all(h, r, out);
    }
    pg_result_release(r);
    return rc < 0 ? err_context(err, "could not look for the oldest transaction") : 0;
}
