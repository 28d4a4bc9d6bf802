/* SPDX-License-Identifier: Apache-2.0 */
/* A second database of the same server, whose table logical replication copies into the first. */
#include <check.h>
#include <stdlib.h>

#include "history.h"
#include "sql.h"
#include "wait.h"

#define ARRIVE_MS WAIT_MS

/* Creates the slot before the subscription. On one server, CREATE SUBSCRIPTION would wait for its
 * own transaction. */
void publisher_start(struct history *h)
{
    h->slot = sql_text(h->control, "select current_database()");
    sql_exec(h->control, "drop publication if exists p; insert into tick values (1, 0); create "
                         "publication p for table note, tick");
    sql_exec(h->control, "select pg_create_logical_replication_slot('%s', 'pgoutput')", h->slot);
    sql_exec(h->w->conn, "insert into tick values (1, 0)");
    sql_exec(h->w->conn,
             "create subscription s connection '%s' publication p with (create_slot = false, "
             "slot_name = '%s', copy_data = false)",
             h->uri, h->slot);
}

/* Waits for a last change. Changes are applied in commit order, so all earlier ones have arrived
 * too. */
void publisher_await(struct history *h)
{
    struct deadline deadline = deadline_after(ARRIVE_MS);
    int64_t n = sql_int(h->control, "update tick set n = n + 1 returning n");
    while (sql_int(h->w->conn, "select n from tick") != n) {
        ck_assert_msg(deadline_wait(&deadline), "the subscription does not arrive");
    }
}

void publisher_stop(struct history *h)
{
    struct deadline deadline = deadline_after(ARRIVE_MS);
    sql_exec(h->w->conn, "alter subscription s disable");
    sql_exec(h->w->conn, "alter subscription s set (slot_name = none)");
    sql_exec(h->w->conn, "drop subscription s");
    while (sql_int(h->control,
                   "select active::int from pg_replication_slots where slot_name = '%s'",
                   h->slot) != 0) {
        ck_assert_msg(deadline_wait(&deadline), "the slot stays in use");
    }
    sql_exec(h->control, "select pg_drop_replication_slot('%s')", h->slot);
    free(h->slot);
}
