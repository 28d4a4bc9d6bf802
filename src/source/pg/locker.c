/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the lock holder with one query after a lock timeout. */
#include "pg/locker.h"

#include <inttypes.h>
#include <string.h>

#include "pg/pg_private.h"
#include "rowferry/base/units.h"

#define LOCK_NOT_AVAILABLE "55P03"

static void locker_put_before(const struct pg_result *r, struct err *err)
{
    char text[UNITS_BYTES];
    const char *application = pg_text(r, 0, 1);
    const char *role = pg_text(r, 0, 2);
    const char *state = pg_text(r, 0, 3);
    bool dated = pg_text(r, 0, 4) != NULL;
    err_context(err, "process %" PRId64 " (\"%.40s\"%s%.40s%s%.40s%s%s) has it locked",
                pg_int(r, 0, 0), application != NULL ? application : "", role != NULL ? " of " : "",
                role != NULL ? role : "", state != NULL ? ", " : "", state != NULL ? state : "",
                dated ? ", for " : "", dated ? units_duration(text, pg_int(r, 0, 4)) : "");
}

void locker_name(struct pg *pg, uint32_t table, struct err *err)
{
    struct err ignored;
    struct pg_result *r = NULL;
    if (strcmp(err->sqlstate, LOCK_NOT_AVAILABLE) != 0) {
        return;
    }
    int rc = pg_script(pg, "rollback", &ignored);
    if (rc == 0) {
        rc = pg_ask(pg, &r, "lock_holder", PG_PARAMS(PG_INT(table)), &ignored);
    }
    if (rc == 0 && pg_rows(r) > 0) {
        locker_put_before(r, err);
    }
    pg_result_release(r);
}
