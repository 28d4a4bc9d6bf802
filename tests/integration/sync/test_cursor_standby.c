/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor on a standby, which does not show the transactions of its primary. */
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "sql.h"
#include "world.h"

#define FOLLOW                                                                                     \
    "\"capture\": {\"mode\": \"cursor\", \"column\": \"updated_at\", \"overlap\": \"1h\", "        \
    "\"deletes\": {\"reconcile\": \"1h\"}}"

static void sync_from_standby(struct world *w)
{
    struct program_result result;
    cluster_await_replay(&pair.primary, &pair.standby);
    world_sync(w, 0, &result);
    program_result_release(&result);
}

START_TEST(a_late_commit_of_the_primary_is_seen_on_the_standby_within_the_overlap)
{
    struct world w;
    struct program_result result;
    world_start(&w, 500, NULL);
    char *primary = w.uri;
    w.uri = cluster_uri(&pair.standby, primary);
    world_from(&w, FOLLOW);
    sync_from_standby(&w);
    PGconn *late = sql_open(primary);
    sql_exec(late,
             "begin; update articles set title = 'late', updated_at = now() where source_id = 7");
    sql_exec(w.conn, "update articles set title = 'early', updated_at = now() where source_id = 8");
    sync_from_standby(&w);
    sql_exec(late, "commit");
    PQfinish(late);
    sync_from_standby(&w);
    world_expect_equal(&w);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(strstr(result.out, "a standby does not show the transactions") != NULL, "%s",
                  result.out);
    program_result_release(&result);
    free(w.uri);
    w.uri = primary;
    world_stop(&w);
}
END_TEST

PAIR_MAIN("sync/cursor_standby",
          a_late_commit_of_the_primary_is_seen_on_the_standby_within_the_overlap)
