/* SPDX-License-Identifier: Apache-2.0 */
/* The mapping or the table differs from the index. Additions are applied to the live index,
 * everything else is reported line by line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "http.h"
#include "rowferry/base/buf.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define ROWS 40
#define LIMITS "\"retry_budget\": \"20s\""
#define TITLE "\"title\":{\"type\":\"text\"}"
#define OTHER "\"other\":{\"type\":\"text\"}"
#define PRICE "\"price\":{\"type\":\"double\"}"
#define TITLE_RAW "\"title\":{\"type\":\"text\",\"fields\":{\"raw\":{\"type\":\"keyword\"}}}"

/* Expects the exit code, and all texts in standard output and error; the last is null. */
static void says(const struct world *w, int exit_code, const char *const *arguments,
                 const char *const *texts)
{
    struct program_result r;
    bool check = strcmp(arguments[0], "check") == 0;
    rowferry_run(&r, w->config, arguments[0], check ? "--all" : arguments[1],
                 check ? arguments[1] : NULL, NULL);
    ck_assert_msg(r.exit_code == exit_code, "%d: %s%s", r.exit_code, r.out, r.err);
    for (size_t i = 0; texts[i] != NULL; i++) {
        ck_assert_msg(strstr(r.out, texts[i]) != NULL || strstr(r.err, texts[i]) != NULL,
                      "no \"%s\" in %s%s", texts[i], r.out, r.err);
    }
    program_result_release(&r);
}

#define SAYS(w, code, command, option, ...)                                                        \
    says(w, code, (const char *const[]){command, option}, (const char *const[]){__VA_ARGS__, NULL})

/* Expects a successful sync with this number of operations. */
static void sync_sends(struct world *w, int64_t operations)
{
    struct program_result r;
    world_sync(w, 0, &r);
    ck_assert_msg(program_json_int(&r, "operations") == operations, "%s%s", r.out, r.err);
    program_result_release(&r);
}

static void expect_index(const struct world *w, const char *select)
{
    sql_exec(w->conn, "drop view if exists shown; create view shown as %s", select);
    char *query = compare_table("shown", "source_id");
    expect_equal(sql_int(w->conn, "select count(*) from shown"), w->conn, query, w->service.url,
                 "shop-articles", "ApiKey " WORLD_API_KEY);
    free(query);
    sql_exec(w->conn, "drop view shown");
}

/* Replaces the first `from` in the configuration. */
static void replace_in_config(struct world *w, const char *from, const char *to)
{
    char text[16384];
    struct buf replaced;
    FILE *file = fopen(w->config, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    char *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    buf_init(&replaced, 2 * sizeof(text));
    buf_push(&replaced, text, (size_t)(at - text));
    buf_push_text(&replaced, to);
    buf_push_text(&replaced, at + strlen(from));
    free(w->config);
    w->config = scratch_write(w->dir, "rowferry.json", buf_text(&replaced));
    buf_release(&replaced);
}

/* Creates an index that has only the titles. */
static void titles_world(struct world *w)
{
    world_start(w, ROWS, NULL);
    sql_exec(w->conn, "alter table articles add early text; update articles set early = 'early ' "
                      "|| source_id");
    world_install(w);
    world_configure(w, TITLE, LIMITS);
    sync_sends(w, ROWS);
    expect_index(w, "select source_id, title from articles");
}

START_TEST(a_property_of_a_column_that_was_there_is_sent_from_then_on)
{
    struct world w;
    titles_world(&w);
    world_configure(&w, TITLE ",\"early\":{\"type\":\"text\"}", LIMITS);
    SAYS(&w, 1, "verify", NULL, "other properties than the one", "rowferry sync articles");
    SAYS(&w, 0, "check", "--accept-admin", NULL, "WARN  articles: definition",
         "can be extended as configured", "early: added {\"type\":\"text\"}",
         "the next sync applies it");
    sql_exec(w.conn, "update articles set title = 'new' where source_id <= 5");
    SAYS(&w, 0, "sync", NULL, "mapping_extended", "properties=early",
         "early added to the mapping; old documents lack it until: rowferry reindex articles");
    expect_index(&w, "select source_id, title, case when source_id <= 5 then early end as early "
                     "from articles");
    sync_sends(&w, 0);
    SAYS(&w, 0, "status", NULL, " lack early until a rebuild: rowferry reindex articles");
    SAYS(&w, 0, "check", "--accept-admin", NULL, "PASS  articles: definition", "lack early",
         "run: rowferry reindex articles");
    SAYS(&w, 4, "verify", NULL, "35 altered");
    SAYS(&w, 0, "verify", "--repair", "35 altered");
    expect_index(&w, "select source_id, title, early from articles");
    world_stop(&w);
}
END_TEST

START_TEST(a_property_of_a_column_that_was_added_is_sent_from_then_on)
{
    struct world w;
    titles_world(&w);
    sql_exec(w.conn, "create type mood as enum ('well', 'ill')");
    sql_exec(w.conn, "alter table articles add other text, add mood mood");
    sync_sends(&w, 0);
    world_configure(&w, OTHER "," TITLE ",\"mood\":{\"type\":\"keyword\"}", LIMITS);
    sql_exec(w.conn, "update articles set other = 'o', mood = 'well' where source_id > 38");
    sync_sends(&w, 2);
    expect_index(&w, "select source_id, title, other, mood from articles");
    sync_sends(&w, 0);
    sql_exec(w.conn, "alter table articles drop other; alter table articles add other text default "
                     "'of all'");
    SAYS(&w, 1, "sync", NULL, "column \"other\"", "re-created");
    world_stop(&w);
}
END_TEST

/* An addition does not disable the check of earlier fields. */
START_TEST(an_addition_does_not_hide_what_else_became_of_the_table)
{
    struct world w;
    titles_world(&w);
    sql_exec(w.conn, "alter table articles drop title; alter table articles add title text default "
                     "'of all'");
    w.members = "\"fields\": {\"again\": \"title\"}";
    world_configure(&w, TITLE ",\"early\":{\"type\":\"text\"},\"again\":{\"type\":\"text\"}",
                    LIMITS);
    SAYS(&w, 1, "sync", NULL, "properties=\"early, again\"", "column \"title\"", "re-created");
    world_stop(&w);
}
END_TEST

START_TEST(a_sub_field_is_added_without_a_column)
{
    struct world w;
    titles_world(&w);
    world_configure(&w, TITLE_RAW, LIMITS);
    sql_exec(w.conn, "update articles set title = 'found' where source_id = 7");
    SAYS(&w, 0, "sync", NULL, "properties=title.raw");
    SAYS(&w, 0, "status", "--json", "\"lacking\":\"title.raw\"");
    SAYS(&w, 0, "check", "--accept-admin", NULL, "PASS  articles: definition");
    SAYS(&w, 0, "verify", NULL, "equal");
    sync_sends(&w, 0);
    world_stop(&w);
}
END_TEST

/* The checkpoint backup belongs to the extended index. */
START_TEST(a_state_file_that_is_lost_after_an_addition_is_taken_over)
{
    struct world w;
    titles_world(&w);
    world_configure(&w, TITLE "," PRICE, LIMITS);
    sql_exec(w.conn, "update articles set title = title || '!'");
    sync_sends(&w, ROWS);
    char *state = scratch_path(w.dir, "state.db");
    ck_assert_int_eq(remove(state), 0);
    sql_exec(w.conn, "update articles set title = 'new' where source_id <= 2");
    SAYS(&w, 0, "sync", NULL, "mirror_taken_over", "2 operations");
    expect_index(&w, "select source_id, title, price from articles");
    SAYS(&w, 0, "check", "--accept-admin", NULL, "PASS  articles: definition");
    world_configure(&w, TITLE, LIMITS);
    SAYS(&w, 4, "check", "--accept-admin", NULL, "price: removed");
    free(state);
    world_stop(&w);
}
END_TEST

START_TEST(an_addition_that_was_killed_halfway_is_made_again)
{
    struct world w;
    struct program p;
    struct program_result r;
    titles_world(&w);
    world_configure(&w, TITLE "," PRICE, LIMITS);
    sql_exec(w.conn, "update articles set title = 'new' where source_id <= 5");
    const char *const argv[] = {getenv("ROWFERRY_PROGRAM"), "-c", w.config, "sync", NULL};
    const char *const env[] = {"ROWFERRY_FAILPOINT=mapping_extended=kill", NULL};
    program_start(&p, argv, env);
    program_finish(&p, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 128 + 9, "%d: %s", r.exit_code, r.err);
    program_result_release(&r);
    world_await_free(&w);
    SAYS(&w, 0, "sync", NULL, "properties=price", "5 operations");
    expect_index(&w, "select source_id, title, case when source_id <= 5 then price end as price "
                     "from articles");
    SAYS(&w, 0, "status", NULL, " lack price until a rebuild");
    sync_sends(&w, 0);
    world_stop(&w);
}
END_TEST

/* Expects a refusal without a write. After the change is reverted, the sync continues normally. */
static void refused(struct world *w, const char *properties, const char *line)
{
    world_configure(w, properties, LIMITS);
    sql_exec(w->conn, "update articles set title = title || '!' where source_id = 3");
    SAYS(w, 1, "sync", NULL, "mapping or to.ingest_pipeline differ from those that index",
         "rowferry reindex articles");
    SAYS(w, 4, "check", "--accept-admin", NULL, "FAIL  articles: definition", line,
         "rowferry reindex articles");
    world_configure(w, TITLE "," PRICE, LIMITS);
    sync_sends(w, 1);
    expect_index(w, "select source_id, title, price from articles");
}

START_TEST(another_mapping_is_named_line_by_line_and_put_back)
{
    struct world w;
    titles_world(&w);
    world_configure(&w, TITLE "," PRICE, LIMITS);
    sql_exec(w.conn, "update articles set title = title || '!'");
    sync_sends(&w, ROWS);
    refused(&w, "\"title\":{\"type\":\"keyword\"}," PRICE,
            "title: changed type from \"text\" to \"keyword\"");
    refused(&w, TITLE, "price: removed {\"type\":\"double\"}");
    refused(&w, TITLE_RAW ",\"price\":{\"type\":\"long\"}",
            "price: changed type from \"double\" to \"long\"");
    world_stop(&w);
}
END_TEST

START_TEST(another_table_is_named_line_by_line)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    world_where(&w, "published");
    sync_sends(&w, ROWS / 2);
    world_where(&w, "source_id < 10");
    SAYS(&w, 1, "sync", NULL, "where or query differ from those", "rowferry reindex articles");
    SAYS(&w, 4, "check", "--accept-admin", NULL, "where: published -> source_id < 10");
    world_where(&w, "published");
    sql_exec(w.conn, "alter table articles alter title type varchar(90)");
    SAYS(&w, 4, "check", "--accept-admin", NULL, "column title: text -> character varying(90)");
    SAYS(&w, 1, "sync", NULL, "rowferry reindex articles");
    sql_exec(w.conn, "alter table articles alter title type text; alter table articles add code "
                     "bigint generated always as identity unique");
    replace_in_config(&w, "[\"source_id\"]", "[\"code\"]");
    world_install(&w);
    SAYS(&w, 1, "sync", NULL, "key, to.id, to.routing, to.provenance, fields",
         "rowferry reindex articles");
    SAYS(&w, 4, "check", "--accept-admin", NULL, "key: source_id bigint -> code bigint");
    world_stop(&w);
}
END_TEST

START_TEST(another_database_is_named)
{
    struct world w;
    struct world other;
    titles_world(&w);
    world_start(&other, ROWS, NULL);
    world_install(&other);
    char *uri = w.uri;
    w.uri = other.uri;
    world_configure(&w, TITLE, LIMITS);
    SAYS(&w, 1, "sync", NULL, "the source is another database than the one that index",
         "rowferry reindex articles");
    SAYS(&w, 4, "check", "--accept-admin", NULL, "the source is another database than the one");
    w.uri = uri;
    world_configure(&w, TITLE, LIMITS);
    sync_sends(&w, 0);
    world_stop(&other);
    world_stop(&w);
}
END_TEST

/* Another user added a property of that name with another type to the index. */
START_TEST(what_the_service_does_not_take_asks_for_a_rebuild)
{
    struct world w;
    titles_world(&w);
    sql_exec(w.conn, "alter table articles add other text default 'o'");
    json_object_put(reply_json(200, "PUT", w.service.url, "/shop-articles/_mapping",
                               "{\"properties\":{\"other\":{\"type\":\"long\"}}}",
                               "ApiKey " WORLD_API_KEY));
    world_configure(&w, TITLE "," OTHER, LIMITS);
    sql_exec(w.conn, "update articles set title = title || '!' where source_id = 3");
    SAYS(&w, 1, "sync", NULL, "the mapping cannot be added to index", "rowferry reindex articles");
    world_configure(&w, TITLE, LIMITS);
    sync_sends(&w, 1);
    SAYS(&w, 0, "status", "--json", "\"lacking\":null");
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/schema", a_property_of_a_column_that_was_there_is_sent_from_then_on,
           a_property_of_a_column_that_was_added_is_sent_from_then_on,
           an_addition_does_not_hide_what_else_became_of_the_table,
           a_sub_field_is_added_without_a_column,
           a_state_file_that_is_lost_after_an_addition_is_taken_over,
           an_addition_that_was_killed_halfway_is_made_again,
           another_mapping_is_named_line_by_line_and_put_back, another_table_is_named_line_by_line,
           another_database_is_named, what_the_service_does_not_take_asks_for_a_rebuild)
