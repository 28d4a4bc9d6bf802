/* SPDX-License-Identifier: Apache-2.0 */
/* The program itself, from a real table to the subject. */
#include <stdio.h>
#include <string.h>

#include "shop.h"
#include "sql.h"

START_TEST(a_first_load_changes_and_deletes_end_equal)
{
    struct shop shop;
    shop_open(&shop, 2000, NULL, NULL);
    shop_sync_counts(&shop, 2000, 0);
    shop_expect_equal(&shop);
    sql_exec(shop.conn, "update articles set title = title || '!' where source_id <= 500");
    sql_exec(shop.conn, "insert into articles (source_id, title) "
                        "select i, 'new' from generate_series(5001, 5100) i");
    sql_exec(shop.conn, "delete from articles where source_id between 901 and 1000");
    sql_exec(shop.conn, "update articles set source_id = 9007 where source_id = 7");
    shop_sync_counts(&shop, 600, 101);
    shop_expect_equal(&shop);
    shop_sync_counts(&shop, 0, 0);
    shop_close(&shop);
}
END_TEST

START_TEST(a_refused_document_is_a_dead_letter_until_its_row_is_corrected)
{
    struct shop shop;
    struct program_result result;
    shop_open(&shop, 50, NULL, NULL);
    sql_exec(shop.conn, "update articles set rank = 'no number' where source_id in (7, 8)");
    shop_sync(&shop, 3, NULL);
    rowferry_run(&result, shop.config, "deadletter", "list", NULL);
    ck_assert_msg(strstr(result.out, "_parsing_exception: ") != NULL &&
                      strstr(result.out, "failed to parse field [rank] of type [long]") != NULL,
                  "%s", result.out);
    program_result_release(&result);
    shop_sync(&shop, 3, NULL);
    sql_exec(shop.conn, "update articles set rank = null where source_id = 7");
    sql_exec(shop.conn, "delete from articles where source_id = 8");
    shop_sync(&shop, 0, NULL);
    shop_expect_equal(&shop);
    shop_close(&shop);
}
END_TEST

START_TEST(a_lost_position_builds_another_generation_behind_the_same_alias)
{
    struct shop shop;
    shop_open(&shop, 300, NULL, NULL);
    shop_sync_counts(&shop, 300, 0);
    char *first = shop_generation(&shop);
    char *state = scratch_path(shop.dir, "state.db");
    ck_assert_int_eq(remove(state), 0);
    sql_exec(shop.conn, "delete from rowferry.consumer");
    sql_exec(shop.conn, "delete from articles where source_id <= 100");
    shop_sync_counts(&shop, 200, 0);
    shop_expect_equal(&shop);
    char *second = shop_generation(&shop);
    ck_assert_str_ne(first, second);
    free(first);
    free(second);
    free(state);
    shop_close(&shop);
}
END_TEST

START_TEST(a_vanished_index_stops_the_sync_and_is_not_made_again)
{
    struct shop shop;
    shop_open(&shop, 20, NULL, NULL);
    shop_sync_counts(&shop, 20, 0);
    char *index = shop_generation(&shop);
    say(&shop.subject, 200, NULL, "DELETE", index, "", NULL);
    sql_exec(shop.conn, "delete from articles where source_id = 3");
    shop_sync(&shop, 1, "no longer exists");
    say(&shop.subject, 404, NULL, "HEAD", index, "", NULL);
    say(&shop.subject, 404, NULL, "HEAD", shop.subject.alias, "", NULL);
    free(index);
    shop_close(&shop);
}
END_TEST

START_TEST(a_sync_waits_while_its_index_is_write_blocked)
{
    struct shop shop;
    struct program program;
    struct program_result result;
    shop_open(&shop, 20, NULL, NULL);
    shop_sync_counts(&shop, 20, 0);
    char *index = shop_generation(&shop);
    say(&shop.subject, 200, NULL, "PUT", index, "/_settings", "{\"index.blocks.write\":true}");
    sql_exec(shop.conn, "update articles set title = 'blocked' where source_id <= 5");
    sql_exec(shop.conn, "delete from articles where source_id = 9");
    rowferry_start(&program, shop.config, "sync", "--json", NULL);
    program_await(&program, "event=refuses", WAIT_MS);
    say(&shop.subject, 200, NULL, "PUT", index, "/_settings", "{\"index.blocks.write\":null}");
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 5);
    ck_assert_int_eq(program_json_int(&result, "deletes"), 1);
    program_result_release(&result);
    shop_expect_equal(&shop);
    free(index);
    shop_close(&shop);
}
END_TEST

/* The one parameter of it that both products let anybody set in place. */
START_TEST(a_source_id_that_leaves_keys_out_of_the_live_index_is_refused)
{
    struct shop shop;
    shop_open(&shop, 20, NULL, NULL);
    shop_sync_counts(&shop, 20, 0);
    char *index = shop_generation(&shop);
    say(&shop.subject, 200, NULL, "PUT", index, "/_mapping",
        "{\"properties\":{\"source_id\":{\"type\":\"keyword\",\"ignore_above\":1}}}");
    shop_sync(&shop, 1, "\"ignore_above\" of property \"source_id\" in index");
    rowferry_expect(0, shop.config, "reindex", NULL);
    shop_sync_counts(&shop, 0, 0);
    shop_expect_equal(&shop);
    free(index);
    shop_close(&shop);
}
END_TEST

static void refused_by_template(const struct shop *shop, const char *command)
{
    struct program_result result;
    char template[128];
    char alias[128];
    snprintf(template, sizeof(template), "an index template (\"%s\") gives the new index",
             shop->subject.alias);
    snprintf(alias, sizeof(alias), "the alias \"%s\"", shop->subject.alias);
    rowferry_run(&result, shop->config, command, NULL);
    ck_assert_msg(result.exit_code == 1 && strstr(result.err, template) != NULL &&
                      strstr(result.err, alias) != NULL,
                  "%s: %d: %s", command, result.exit_code, result.err);
    program_result_release(&result);
}

static void template(struct shop *shop, const char *method, const char *body)
{
    say(&shop->subject, 200, NULL, method, "_index_template/", shop->subject.alias, body);
}

/* Otherwise searches would find a half-filled index, and every document twice during a rebuild. */
START_TEST(an_index_template_that_carries_the_alias_is_refused_before_the_first_document)
{
    struct shop shop;
    struct program_result result;
    char carries[256];
    char path[128];
    shop_open(&shop, 20, NULL, NULL);
    const char *alias = shop.subject.alias;
    snprintf(carries, sizeof(carries),
             "{\"index_patterns\":[\"%s-*\"],\"priority\":500,\"template\":{\"aliases\":{\"%s\":{"
             "}}}}",
             alias, alias);
    snprintf(path, sizeof(path), "_cat/indices/%s-*", alias);
    template(&shop, "PUT", carries);
    refused_by_template(&shop, "sync");
    if (!shop.subject.product.stand_in) {
        char *left = told(&shop.subject, 200, "GET", path, "?h=index,docs.count", NULL);
        ck_assert_str_eq(left, "");
        free(left);
    }
    say(&shop.subject, 404, NULL, "HEAD", alias, "", NULL);
    template(&shop, "DELETE", NULL);
    shop_sync_counts(&shop, 20, 0);
    template(&shop, "PUT", carries);
    refused_by_template(&shop, "reindex");
    shop_expect_equal(&shop);
    template(&shop, "DELETE", NULL);
    rowferry_run(&result, shop.config, "reindex", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    shop_expect_equal(&shop);
    shop_close(&shop);
}
END_TEST

/* Expects this number of lines of check about the index, one of them with the text. */
static void expect_lines(const struct shop *shop, int exit_code, size_t count, const char *text)
{
    struct program_result result;
    size_t found = 0;
    rowferry_run(&result, shop->config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(result.exit_code == exit_code, "%d: %s", result.exit_code, result.out);
    for (const char *at = result.out; (at = strstr(at, "articles: definition")) != NULL; at++) {
        found++;
    }
    ck_assert_msg(found == count && strstr(result.out, text) != NULL, "%s", result.out);
    program_result_release(&result);
}

#define RICH                                                                                       \
    ",\"body\":{\"type\":\"text\",\"analyzer\":\"standard\",\"fields\":{\"raw\":{\"type\":"        \
    "\"keyword\",\"ignore_above\":256}}},\"seen\":{\"type\":\"date\",\"format\":"                  \
    "\"strict_date_optional_time||epoch_millis\"},\"cost\":{\"type\":\"float\",\"coerce\":true},"  \
    "\"place\":{\"type\":\"geo_point\"},\"note\":{\"type\":\"keyword\",\"index\":false,"           \
    "\"doc_values\":true}"

/* Without the state file, the index's own mapping is compared. Additions by the service itself are
 * not differences. */
START_TEST(what_is_added_to_the_mapping_is_added_to_the_live_index)
{
    struct shop shop;
    shop_open(&shop, 20, NULL, NULL);
    shop_sync_counts(&shop, 20, 0);
    char *before = shop_generation(&shop);
    sql_exec(shop.conn, "alter table articles add body text, add seen timestamptz, add cost "
                        "numeric(8, 2), add place point, add note text");
    shop_configure(&shop, RICH, NULL);
    expect_lines(&shop, 0, 6, "WARN  articles: definition");
    sql_exec(shop.conn, "update articles set body = 'walking home', seen = '2026-11-21 12:00+00', "
                        "cost = 1.25, note = 'n' where source_id <= 3");
    shop_sync(&shop, 0, "mapping_extended");
    shop_expect_equal(&shop);
    char *after = shop_generation(&shop);
    ck_assert_str_eq(before, after);
    say(&shop.subject, 200, NULL, "POST", after, "/_refresh", NULL);
    say(&shop.subject, 200, "\"value\":3", "GET", after, "/_search?q=body:walking&size=0", NULL);
    shop_sync_counts(&shop, 0, 0);
    expect_lines(&shop, 0, 2, "PASS  articles: definition");
    char *state = scratch_path(shop.dir, "state.db");
    ck_assert_int_eq(remove(state), 0);
    shop_configure(&shop, RICH ",\"more\":{\"type\":\"text\"}", NULL);
    sql_exec(shop.conn, "alter table articles add more text");
    expect_lines(&shop, 4, 2, "more: added {\"type\":\"text\"}");
    free(before);
    free(after);
    free(state);
    shop_close(&shop);
}
END_TEST

TESTS(sync_tests, NULL, what_is_added_to_the_mapping_is_added_to_the_live_index,
      an_index_template_that_carries_the_alias_is_refused_before_the_first_document,
      a_source_id_that_leaves_keys_out_of_the_live_index_is_refused,
      a_first_load_changes_and_deletes_end_equal,
      a_refused_document_is_a_dead_letter_until_its_row_is_corrected,
      a_lost_position_builds_another_generation_behind_the_same_alias,
      a_vanished_index_stops_the_sync_and_is_not_made_again,
      a_sync_waits_while_its_index_is_write_blocked)

START_TEST(documents_just_below_what_the_service_takes_arrive)
{
    struct shop shop;
    shop_open(&shop, 10, NULL, NULL);
    sql_exec(shop.conn, "update articles set title = repeat('x', %ld) where source_id in (1, 2)",
             strtol(getenv("ROWFERRY_TEST_MAX_BYTES"), NULL, 10) / 20 * 19);
    shop_sync_counts(&shop, 10, 0);
    shop_expect_equal(&shop);
    shop_close(&shop);
}
END_TEST

START_TEST(a_document_larger_than_the_service_takes_is_a_dead_letter)
{
    struct shop shop;
    shop_open(&shop, 10, NULL, NULL);
    sql_exec(shop.conn, "update articles set title = repeat('x', %ld) where source_id = 4",
             strtol(getenv("ROWFERRY_TEST_MAX_BYTES"), NULL, 10));
    shop_sync(&shop, 3, NULL);
    sql_exec(shop.conn, "update articles set title = 'shorter' where source_id = 4");
    shop_sync(&shop, 0, NULL);
    shop_expect_equal(&shop);
    shop_close(&shop);
}
END_TEST

/* The account may ask each real service, so nothing is refused. */
START_TEST(batches_stay_within_what_the_service_takes)
{
    struct shop shop;
    struct program_result result;
    bool asked = getenv("ROWFERRY_TEST_PRODUCT") != NULL;
    shop_open(&shop, 12000, NULL, NULL);
    shop.members = "\"limits\": {\"batch_bytes\": \"16MiB\", \"window_bytes\": \"200MiB\"}";
    shop_configure(&shop, NULL, NULL);
    sql_exec(shop.conn, "update articles set title = repeat('x', 5000)");
    for (int i = 0; i < 2; i++) {
        rowferry_run(&result, shop.config, "sync", NULL);
        ck_assert_msg(result.exit_code == 0, "%s", result.err);
        if (asked) {
            ck_assert_ptr_null(strstr(result.err, "because=refused_size"));
            ck_assert(i > 0 || strstr(result.err, "because=http.max_content_length") != NULL);
        }
        program_result_release(&result);
        sql_exec(shop.conn, "update articles set title = repeat('y', 5000)");
    }
    shop_sync(&shop, 0, NULL);
    shop_expect_equal(&shop);
    shop_close(&shop);
}
END_TEST

TESTS(large_sync_tests, "ROWFERRY_TEST_MAX_BYTES", batches_stay_within_what_the_service_takes,
      documents_just_below_what_the_service_takes_arrive,
      a_document_larger_than_the_service_takes_is_a_dead_letter)

START_TEST(a_restart_of_the_node_in_the_middle_is_ridden_out)
{
    struct shop shop;
    struct program program;
    struct program_result result;
    shop_open(&shop, 100, NULL, NULL);
    shop_sync_counts(&shop, 100, 0);
    sql_exec(shop.conn, "delete from articles where source_id <= 50");
    sql_exec(shop.conn, "insert into articles (source_id, title) select i, repeat('y', 900) "
                        "from generate_series(1001, 6000) i");
    rowferry_start(&program, shop.config, "sync", "--json", NULL);
    program_await(&program, "event=sync_started", WAIT_MS);
    restart_node();
    program_finish(&program, 115000, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    shop_expect_equal(&shop);
    shop_close(&shop);
}
END_TEST

TESTS(restart_tests, "ROWFERRY_TEST_RESTART", a_restart_of_the_node_in_the_middle_is_ridden_out)
