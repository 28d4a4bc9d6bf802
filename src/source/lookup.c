/* SPDX-License-Identifier: Apache-2.0 */
/* The advisory lock of a pipeline's consumer. */
#include "rowferry/source/lookup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_private.h"
#include "rowferry/base/text.h"

#define LOCK_CLASS "1380927302" /* ours among the advisory locks of the database */

/* Which session has it; it may be gone by now, or not be shown to this role. */
static int name_holder(struct pg *pg, const char *consumer, const char *const *params,
                       struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, "look_holder", params, 2, err);
    if (rc == 0 && pg_rows(r) > 0) {
        rc = err_set(
            err, ERR_HELD, "\"%s\" is held by the session %" PRId64 " of \"%s\" from %s since %s",
            consumer, pg_int(r, 0, 0), pg_text(r, 0, 2), pg_text(r, 0, 1), pg_text(r, 0, 3));
    } else if (rc == 0) {
        rc = err_set(err, ERR_HELD, "\"%s\" is held by another session of the source", consumer);
    }
    pg_result_release(r);
    return rc;
}

int lookup_hold(struct pg *pg, const char *consumer, struct err *err)
{
    char half[16];
    struct pg_result *r = NULL;
    snprintf(half, sizeof(half), "%" PRId32,
             (int32_t)(uint32_t)text_hash(consumer, strlen(consumer)));
    const char *const params[] = {LOCK_CLASS, half};
    int rc =
        pg_query(pg, &r, "select pg_try_advisory_lock($1::integer, $2::integer)", params, 2, err);
    if (rc == 0 && !pg_true(r, 0, 0)) {
        rc = name_holder(pg, consumer, params, err);
    } else if (rc == 0) {
        free(pg->held);
        pg->held = text_copy(consumer);
    }
    pg_result_release(r);
    return rc;
}
