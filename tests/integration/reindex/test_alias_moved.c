/* SPDX-License-Identifier: Apache-2.0 */
/* The alias is moved or removed while a process writes its generation. The process notices it, and
 * nothing is destroyed. */
#include "stands.h"

#define ENDS_MS 180000 /* an idle process checks the alias twice a minute */
#define REMOVE "{\"remove\":{\"index\":\"%s\",\"alias\":\"shop-articles\"}}"
#define ADD "{\"add\":{\"index\":\"%s\",\"alias\":\"shop-articles\"}}"

/* Changes the alias in one request: removes it from one index and adds it to another; null:
 * neither. */
static void somebody(const struct world *w, const char *from, const char *to)
{
    char actions[1024];
    int len = snprintf(actions, sizeof(actions), "{\"actions\":[");
    if (from != NULL) {
        len += snprintf(actions + len, sizeof(actions) - (size_t)len, REMOVE "%s", from,
                        to != NULL ? "," : "");
    }
    if (to != NULL) {
        len += snprintf(actions + len, sizeof(actions) - (size_t)len, ADD, to);
    }
    snprintf(actions + len, sizeof(actions) - (size_t)len, "]}");
    json_object_put(reply_json(200, "POST", w->service.url, "/_aliases", actions, AUTH));
}

static void others_have_an_index(const struct world *w)
{
    json_object_put(reply_json(201, "PUT", w->service.url, "/other/_doc/1", "{\"a\":1}", AUTH));
}

/* Expects that it ends, a run with an order, and that its index is unchanged. */
static void ends(struct world *w, struct program *p, const char *live, const char *now)
{
    struct program_result result;
    program_finish(p, ENDS_MS, &result);
    ck_assert_msg(result.exit_code == 1, "%d: %s%s", result.exit_code, result.out, result.err);
    expect_text(result.err, "alias \"shop-articles\" ");
    expect_text(result.err, now);
    expect_text(result.err, "hint: restore the alias");
    program_result_release(&result);
    ck_assert_int_eq(index_status(w, live), 200);
}

static void stops(struct world *w, struct program *p, const char *live, const char *now)
{
    program_await(p, "event=stopped", ENDS_MS);
    program_signal(p, SIGTERM);
    ends(w, p, live, now);
}

START_TEST(a_run_whose_alias_was_moved_stops_and_says_where_it_points)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced(&w, 200);
    char *live = live_index(&w);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=following", WAIT_MS);
    others_have_an_index(&w);
    somebody(&w, live, "other");
    stops(&w, &p, live, "\" but at \"other\"");
    ck_assert_int_eq(index_status(&w, "other"), 200);
    somebody(&w, "other", live);
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 20");
    world_sync(&w, 0, &result); /* follows the hint */
    program_result_release(&result);
    world_expect_equal(&w);
    free(live);
    world_stop(&w);
}
END_TEST

START_TEST(a_run_whose_alias_was_removed_stops)
{
    struct world w;
    struct program p;
    synced(&w, 200);
    char *live = live_index(&w);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=following", WAIT_MS);
    somebody(&w, live, NULL);
    stops(&w, &p, live, "no longer exists; it pointed at \"shop-articles-");
    free(live);
    world_stop(&w);
}
END_TEST

/* The alias of another name points nowhere: it is not the alias that changed. */
START_TEST(a_changed_name_in_the_file_is_what_the_sync_tells)
{
    struct world w;
    struct program_result result;
    synced(&w, 20);
    char command[512];
    snprintf(command, sizeof(command), "sed -i s/shop-articles/shop-texts/ '%s'", w.config);
    ck_assert_int_eq(system(command), 0);
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.err,
                "to.index was changed to \"shop-texts\", and the live index is \"shop-");
    expect_text(result.err, "hint: restore to.index in the file, or rebuild the index: rowferry "
                            "reindex articles\n");
    program_result_release(&result);
    rowferry_run(&result, w.config, "check", "--accept-admin", NULL);
    expect_text(result.out, "to.index was changed to \"shop-texts\"");
    program_result_release(&result);
    rowferry_expect(0, w.config, "reindex", NULL); /* follows the hint */
    world_stop(&w);
}
END_TEST

/* The remaining work of the sync takes half a minute. */
START_TEST(a_sync_at_work_does_not_write_to_its_end_what_nobody_searches)
{
    struct world w;
    struct program p;
    synced(&w, 3000);
    char *live = live_index(&w);
    char path[320];
    world_configure(&w, SAME_PROPERTIES, SLOW_LIMITS);
    sql_exec(w.conn, "update articles set title = 'changed'");
    service_is_slow(&w);
    rowferry_start(&p, w.config, "sync", NULL);
    await_status(&w, "(\"sync\" since");
    others_have_an_index(&w);
    somebody(&w, live, "other");
    ends(&w, &p, live, "\" but at \"other\"");
    service_is_fast(&w);
    snprintf(path, sizeof(path), "/%s/_refresh", live);
    json_object_put(reply_json(200, "POST", w.service.url, path, NULL, AUTH));
    snprintf(path, sizeof(path), "/%s/_count?q=title:changed", live);
    struct json_object *answer = reply_json(200, "GET", w.service.url, path, NULL, AUTH);
    ck_assert_int_lt(json_object_get_int64(json_object_object_get(answer, "count")), 3000);
    json_object_put(answer);
    free(live);
    world_stop(&w);
}
END_TEST

/* The swap of a killed rebuild arrives late, during a sync. */
START_TEST(a_sync_at_work_goes_on_with_what_its_own_rebuild_has_built)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced(&w, 1000);
    char *live = live_index(&w);
    stand_at(&w, "rebuild_left=kill", NULL);
    char *next = generations_next(&w, "shop-articles");
    world_configure(&w, SAME_PROPERTIES, SLOW_LIMITS);
    sql_exec(w.conn, "update articles set title = 'changed'; delete from articles where source_id "
                     "<= 50");
    service_is_slow(&w);
    rowferry_start(&p, w.config, "sync", NULL);
    program_await(&p, "event=sync_started", WAIT_MS);
    somebody(&w, live, next);
    program_await(&p, "event=begins_anew", WAIT_MS);
    service_is_fast(&w);
    finish(&p, 0, &result);
    ck_assert_msg(strstr(result.out, "no rebuild is under way") == NULL, "%s", result.out);
    program_result_release(&result);
    expect_alias(&w, next);
    world_expect_equal(&w);
    expect_status(&w, "  former        shop-articles-");
    free(live);
    free(next);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/alias_moved", a_run_whose_alias_was_moved_stops_and_says_where_it_points,
           a_run_whose_alias_was_removed_stops, a_changed_name_in_the_file_is_what_the_sync_tells,
           a_sync_at_work_does_not_write_to_its_end_what_nobody_searches,
           a_sync_at_work_goes_on_with_what_its_own_rebuild_has_built)
