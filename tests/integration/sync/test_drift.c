/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration changes with an existing index: reported, and the index rebuilt as the hint
 * says. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "rowferry/base/buf.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define ALL_ROWS 60

static char *file_text(const char *path)
{
    char chunk[4096];
    struct buf text;
    buf_init(&text, 1 << 20);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    for (size_t n; (n = fread(chunk, 1, sizeof(chunk), file)) > 0;) {
        buf_push(&text, chunk, n);
    }
    fclose(file);
    return buf_detach(&text);
}

/* Writes the configuration with `from` replaced by `to`. */
static void reconfigure(struct world *w, const char *from, const char *to)
{
    struct buf text;
    char *old = file_text(w->config);
    char *at = strstr(old, from);
    ck_assert_msg(at != NULL, "%s is not in %s", from, old);
    buf_init(&text, 1 << 20);
    buf_push(&text, old, (size_t)(at - old));
    buf_push_text(&text, to);
    buf_push_text(&text, at + strlen(from));
    free(w->config);
    w->config = scratch_write(w->dir, "rowferry.json", buf_text(&text));
    buf_release(&text);
    free(old);
}

static void check_says(struct world *w, int exit_code, const char *what)
{
    struct program_result result;
    rowferry_run(&result, w->config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(result.exit_code == exit_code, "%d: %s", result.exit_code, result.out);
    ck_assert_msg(strstr(result.out, what) != NULL, "%s", result.out);
    program_result_release(&result);
}

/* Creates a world whose index must equal the view `shown`. */
static void shown_world(struct world *w, const char *shown)
{
    world_start(w, ALL_ROWS, NULL);
    sql_exec(w->conn, "alter table articles add other text; update articles set other = "
                      "'other ' || source_id");
    sql_exec(w->conn, "create view shown as %s", shown);
    world_install(w);
}

static void expect_shown(struct world *w)
{
    char *query = compare_table("shown", "source_id");
    expect_equal(sql_int(w->conn, "select count(*) from shown"), w->conn, query, w->service.url,
                 "shop-articles", "ApiKey " WORLD_API_KEY);
    free(query);
}

static void now_shown(struct world *w, const char *shown)
{
    sql_exec(w->conn, "drop view shown; create view shown as %s", shown);
}

static void lose_state(const struct world *w)
{
    char *state = scratch_path(w->dir, "state.db");
    ck_assert_int_eq(remove(state), 0);
    free(state);
}

/* Expects two refusals by name without a write. Without the state file, a new index is built. */
static void refused_then_built(struct world *w, const char *shown)
{
    struct program_result result;
    for (int i = 0; i < 2; i++) {
        sql_exec(w->conn, "update articles set title = title || '!' where source_id %% 10 = 0");
        world_sync(w, 1, &result);
        ck_assert_msg(strstr(result.err, "where or query differ from those that index") != NULL,
                      "%s", result.err);
        ck_assert_msg(strstr(result.err, "rowferry reindex articles") != NULL, "%s", result.err);
        ck_assert_int_eq(program_json_int(&result, "operations"), 0);
        program_result_release(&result);
    }
    lose_state(w);
    now_shown(w, shown);
    world_sync_says(w, 0, "another where or query");
    expect_shown(w);
    world_sync_says(w, 0, "sync_ended");
    sql_exec(w->conn, "update articles set title = 'after', published = not published");
    world_sync_says(w, 0, "sync_ended");
    expect_shown(w);
}

#define SHOWN                                                                                      \
    "select source_id, title, price, tags, extra, published, updated_at from articles where "

START_TEST(a_changed_condition_is_named_and_built_anew)
{
    struct world w;
    shown_world(&w, SHOWN "published");
    world_where(&w, "published");
    world_sync_says(&w, 0, "generation_live");
    expect_shown(&w);
    world_where(&w, "not published");
    refused_then_built(&w, SHOWN "not published");
    world_stop(&w);
}
END_TEST

START_TEST(a_condition_that_is_new_or_taken_away_is_named)
{
    struct world w;
    shown_world(&w, SHOWN "true");
    world_sync_says(&w, 0, "generation_live");
    expect_shown(&w);
    world_where(&w, "source_id > 30");
    refused_then_built(&w, SHOWN "source_id > 30");
    reconfigure(&w, ", \"where\": \"source_id > 30\"", "");
    refused_then_built(&w, SHOWN "true");
    world_stop(&w);
}
END_TEST

/* The restored definition continues with the index; the state file is not needed for that. */
START_TEST(a_condition_that_is_changed_back_costs_nothing)
{
    struct world w;
    struct program_result result;
    shown_world(&w, SHOWN "published");
    world_where(&w, "published");
    world_sync_says(&w, 0, "generation_live");
    world_where(&w, "not published");
    world_sync_says(&w, 1, "differ from those");
    check_says(&w, 4, "where: published -> not published");
    world_where(&w, "published");
    sql_exec(w.conn, "update articles set title = 'back' where source_id = 2");
    lose_state(&w);
    world_sync(&w, 0, &result);
    ck_assert_msg(strstr(result.err, "mirror_taken_over") != NULL, "%s", result.err);
    ck_assert_int_eq(program_json_int(&result, "operations"), 1);
    program_result_release(&result);
    expect_shown(&w);
    world_stop(&w);
}
END_TEST

#define TWO_TITLES "\"title\":{\"type\":\"text\"},\"other\":{\"type\":\"text\"}"

/* The columns are the same, in another order. */
START_TEST(fields_that_change_places_are_named_and_built_anew)
{
    struct world w;
    shown_world(&w, "select source_id, title, other from articles");
    world_configure(&w, TWO_TITLES, "");
    world_sync_says(&w, 0, "generation_live");
    expect_shown(&w);
    reconfigure(&w, "\"to\": {",
                "\"fields\": {\"title\": \"other\", \"other\": \"title\"}, \"to\": {");
    refused_then_built(&w, "select source_id, other as title, title as other from articles");
    world_stop(&w);
}
END_TEST

#define THREE_TITLES TWO_TITLES ",\"more\":{\"type\":\"text\"}"

/* The columns are even the same in the same order. */
START_TEST(another_property_of_the_same_columns_is_named_and_built_anew)
{
    struct world w;
    shown_world(&w, "select source_id, title, other, title as more from articles");
    world_configure(&w, THREE_TITLES, "");
    reconfigure(&w, "\"to\": {", "\"fields\": {\"more\": \"title\"}, \"to\": {");
    world_sync_says(&w, 0, "generation_live");
    expect_shown(&w);
    reconfigure(&w, "{\"more\": \"title\"}", "{\"more\": \"other\"}");
    refused_then_built(&w, "select source_id, title, other, other as more from articles");
    reconfigure(&w, "{\"more\": \"other\"}", "{\"more\": null}");
    refused_then_built(&w, "select source_id, title, other from articles");
    world_stop(&w);
}
END_TEST

START_TEST(a_changed_query_is_named_and_built_anew)
{
    struct world w;
    shown_world(&w, "select source_id, title, other from articles");
    world_configure(&w, TWO_TITLES, "");
    reconfigure(&w, "\"key\": [\"source_id\"]",
                "\"key\": [\"source_id\"], \"query\": \"select source_id, title, other from "
                "public.articles\"");
    world_sync_says(&w, 0, "generation_live");
    expect_shown(&w);
    reconfigure(&w, "select source_id, title, other from",
                "select source_id, upper(title) as title, other from");
    refused_then_built(&w, "select source_id, upper(title) as title, other from articles");
    world_stop(&w);
}
END_TEST

START_TEST(a_state_file_lost_with_another_condition_is_no_ground_to_go_on)
{
    struct world w;
    shown_world(&w, SHOWN "published");
    world_where(&w, "published");
    world_sync_says(&w, 0, "generation_live");
    lose_state(&w);
    world_where(&w, "source_id < 10");
    now_shown(&w, SHOWN "source_id < 10");
    world_sync_says(&w, 0, "mirror_not_used");
    expect_shown(&w);
    world_stop(&w);
}
END_TEST

/* Another table has the same key and columns, and is captured too. */
START_TEST(another_table_is_refused_and_built_anew)
{
    struct world w;
    shown_world(&w, SHOWN "true");
    world_sync_says(&w, 0, "generation_live");
    sql_exec(w.conn, "create table books (like articles including all); insert into books select "
                     "source_id + 7, title || ' book', price, tags, extra, published, updated_at "
                     "from articles where source_id <= 5");
    reconfigure(&w, "public.articles", "public.books");
    world_install(&w);
    world_sync_says(&w, 1, "rowferry reindex");
    lose_state(&w);
    now_shown(&w, "select source_id, title, price, tags, extra, published, updated_at from books");
    world_sync_says(&w, 0, "generation_live");
    expect_shown(&w);
    world_stop(&w);
}
END_TEST

/* A second process with another mapping and its own state file. */
START_TEST(an_index_that_somebody_still_fills_is_not_replaced_by_one_of_another_mapping)
{
    struct world w;
    struct program holder;
    struct program_result result;
    shown_world(&w, "select source_id, title from articles");
    world_configure(&w, "\"title\":{\"type\":\"text\"}", "");
    world_sync_says(&w, 0, "generation_live");
    sql_exec(w.conn, "update articles set title = title || '!'");
    world_hold(&w, "_bulk");
    rowferry_start(&holder, w.config, "sync", NULL);
    world_await_held(&w);
    program_signal(&holder, SIGSTOP);
    /* it has already read the shared configuration file */
    world_configure(&w, "\"title\":{\"type\":\"keyword\"}", "");
    reconfigure(&w, "state.db", "other.db");
    world_sync_says(&w, 5, "is held by");
    program_signal(&holder, SIGCONT);
    world_unfault(&w);
    program_finish(&holder, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "ended with %d: %s", result.exit_code, result.err);
    program_result_release(&result);
    world_sync_says(&w, 0, "it was built with another mapping or ingest pipeline");
    expect_shown(&w);
    world_stop(&w);
}
END_TEST

START_TEST(another_ingest_pipeline_is_named_before_anything_is_sent)
{
    struct world w;
    struct program_result result;
    shown_world(&w, SHOWN "true");
    world_sync_says(&w, 0, "generation_live");
    reconfigure(&w, "\"index\": \"shop-articles\"",
                "\"ingest_pipeline\": \"trim\", \"index\": \"shop-articles\"");
    sql_exec(w.conn, "update articles set title = 'new' where source_id = 2");
    world_sync(&w, 1, &result);
    ck_assert_msg(strstr(result.err, "to.ingest_pipeline differ from those that index") != NULL,
                  "%s", result.err);
    ck_assert_int_eq(program_json_int(&result, "operations"), 0);
    program_result_release(&result);
    check_says(&w, 4, "FAIL  articles: definition");
    check_says(&w, 4, "ingest_pipeline: none -> trim");
    reconfigure(&w, "\"ingest_pipeline\": \"trim\", ", "");
    check_says(&w, 0, "PASS  articles: definition");
    world_sync_says(&w, 0, "sync_ended");
    expect_shown(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/drift", a_changed_condition_is_named_and_built_anew,
           a_condition_that_is_new_or_taken_away_is_named,
           a_condition_that_is_changed_back_costs_nothing,
           fields_that_change_places_are_named_and_built_anew,
           another_property_of_the_same_columns_is_named_and_built_anew,
           a_changed_query_is_named_and_built_anew,
           a_state_file_lost_with_another_condition_is_no_ground_to_go_on,
           another_table_is_refused_and_built_anew,
           an_index_that_somebody_still_fills_is_not_replaced_by_one_of_another_mapping,
           another_ingest_pipeline_is_named_before_anything_is_sent)
