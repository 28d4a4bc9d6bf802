/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk requests that arrive after their generation was deleted, and the write alias. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "shop.h"
#include "sql.h"

#define COMMAND_MS 115000
#define GONE "invalid_index_name_exception: Invalid index name ["

static const char made_by_one[] =
    "{\"_meta\":{\"rowferry\":{\"pipeline\":\"articles\",\"creator\":\"00000000000000a1\"}}}";
static const char made_by_two[] =
    "{\"_meta\":{\"rowferry\":{\"pipeline\":\"articles\",\"creator\":\"00000000000000a2\"}}}";

/* Opens the write alias of an existing generation. */
static void open_writes(struct subject *s, const char *index, char alias[INDEX_WRITE_ALIAS_BYTES])
{
    bool found;
    struct index_info info;
    OK(index_look(s->service, index, &found, &info, &s->err));
    ck_assert(found);
    const struct generation_id generation = {index, info.uuid, "articles", NULL};
    OK(write_alias_open(s->service, &generation, alias, &s->err));
}

/* Expects this number of indices whose name begins with the alias, not counting aliases. */
static void expect_indices(struct subject *s, size_t wanted)
{
    size_t count = 0;
    static const char uuid[] = "\"uuid\":\"";
    char *names = told(s, 200, "GET", s->alias,
                       "*?expand_wildcards=all&filter_path=*.settings.index.uuid", NULL);
    for (const char *at = names; (at = strstr(at, uuid)) != NULL; at += sizeof(uuid) - 1) {
        count++;
    }
    ck_assert_msg(count == wanted, "%zu indices instead of %zu:\n%s", count, wanted, names);
    free(names);
}

/* Sends late requests: upserts and deletes, then only deletes. */
static void send_late(struct subject *s, const char *alias)
{
    struct batch b;
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    add(&b, OPERATION_DELETE, "b", 10, NULL);
    add(&b, OPERATION_UPSERT, "c", 10, "{\"n\":1}");
    send_whole(s, alias, &b);
    for (size_t i = 0; i < b.count; i++) {
        expect_outcome(&b, i, OUTCOME_FATAL, 400, GONE);
    }
    ck_assert(outcome_is_gone(batch_reason(&b, &b.operations[0])));
    batch_release(&b);
    expect_one(s, alias, OPERATION_DELETE, "b", 11, OUTCOME_FATAL, 400, GONE);
}

START_TEST(what_arrives_after_its_index_was_deleted_creates_none)
{
    struct subject subject;
    struct subject *s = &subject;
    char alias[INDEX_WRITE_ALIAS_BYTES];
    subject_enter(s);
    OK(index_create(s->service, s->first, made_by_one, NULL, &s->err));
    open_writes(s, s->first, alias);
    expect_one(s, alias, OPERATION_UPSERT, "a", 9, OUTCOME_DONE, 201, NULL);
    expect_one(s, alias, OPERATION_DELETE, "b", 9, OUTCOME_DONE, 404, NULL);
    say(s, 200, "\"n\":1", "GET", s->first, "/_doc/a", NULL);
    OK(index_delete(s->service, s->first, "articles", &s->err));
    send_late(s, alias);
    expect_indices(s, 0);
    /* the reason for not using the generation's own name */
    expect_one(s, s->first, OPERATION_DELETE, "b", 11, OUTCOME_DONE, 404, NULL);
    expect_indices(s, 1);
    subject_leave(s);
}
END_TEST

START_TEST(what_arrives_late_does_not_reach_the_next_index_of_the_same_name)
{
    struct subject subject;
    struct subject *s = &subject;
    char former[INDEX_WRITE_ALIAS_BYTES];
    char alias[INDEX_WRITE_ALIAS_BYTES];
    int64_t count;
    subject_enter(s);
    OK(index_create(s->service, s->first, made_by_one, NULL, &s->err));
    open_writes(s, s->first, former);
    OK(index_delete(s->service, s->first, "articles", &s->err));
    OK(index_create(s->service, s->first, made_by_two, NULL, &s->err));
    open_writes(s, s->first, alias);
    send_late(s, former);
    OK(index_refresh(s->service, s->first, &s->err));
    OK(index_count(s->service, s->first, &count, &s->err));
    ck_assert_int_eq(count, 0);
    expect_one(s, alias, OPERATION_UPSERT, "a", 9, OUTCOME_DONE, 201, NULL);
    expect_indices(s, 1);
    subject_leave(s);
}
END_TEST

static void alias_action(struct subject *s, const char *action, const char *index,
                         const char *alias, const char *rest)
{
    char body[1024];
    snprintf(body, sizeof(body), "{\"actions\":[{\"%s\":{\"index\":\"%s\",\"alias\":\"%s\"%s}}]}",
             action, index, alias, rest);
    say(s, 200, "\"acknowledged\":true", "POST", "_aliases", "", body);
}

/* Expects the exit code of check, and the text. */
static void expect_check(const struct shop *shop, int exit_code, const char *text)
{
    struct program_result result;
    rowferry_run(&result, shop->config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(result.exit_code == exit_code && strstr(result.out, text) != NULL, "%d: %s",
                  result.exit_code, result.out);
    program_result_release(&result);
}

/* Returns the write alias of the shop's generation. */
static void alias_of(struct shop *shop, const char *index, char alias[INDEX_WRITE_ALIAS_BYTES])
{
    struct subject *s = &shop->subject;
    bool found;
    struct index_info info;
    OK(index_look(s->service, index, &found, &info, &s->err));
    ck_assert_msg(found && info.creator[0] != '\0', "%s", index);
    write_alias_of(alias, index, info.creator);
}

START_TEST(a_generation_is_written_by_an_alias_that_is_given_where_it_lacks)
{
    static const char *const rests[] = {NULL, ",\"is_write_index\":false",
                                        ",\"index_routing\":\"1\""};
    struct shop shop;
    struct subject *s = &shop.subject;
    char alias[INDEX_WRITE_ALIAS_BYTES];
    shop_open(&shop, 100, NULL, NULL);
    shop_sync_counts(&shop, 100, 0);
    char *index = shop_generation(&shop);
    alias_of(&shop, index, alias);
    say(s, 200, index, "GET", "_alias/", alias, NULL);
    for (size_t i = 0; i < (subject_is_stand_in() ? 2 : 3); i++) { /* devsearch has no routing */
        alias_action(s, "remove", index, alias, "");
        expect_check(&shop, 0, "lacks its alias");
        if (rests[i] != NULL) {
            alias_action(s, "add", index, alias, rests[i]);
        }
        sql_exec(shop.conn,
                 "update articles set title = 'changed %zu' where source_id <= 40;"
                 "delete from articles where source_id between %zu and %zu",
                 i, 41 + 5 * i, 45 + 5 * i);
        shop_sync_counts(&shop, 40, 5);
        shop_expect_equal(&shop);
        say(s, 200, "{}", "GET", "_alias/", alias, NULL);
    }
    free(index);
    shop_close(&shop);
}
END_TEST

START_TEST(a_write_alias_that_points_elsewhere_is_named_and_nothing_is_changed)
{
    struct shop shop;
    struct subject *s = &shop.subject;
    char alias[INDEX_WRITE_ALIAS_BYTES];
    char words[512];
    shop_open(&shop, 100, NULL, NULL);
    shop_sync_counts(&shop, 100, 0);
    char *index = shop_generation(&shop);
    alias_of(&shop, index, alias);
    say(s, 201, NULL, "PUT", s->other, "/_doc/1?refresh=true", "{\"mine\":1}");
    sql_exec(shop.conn, "delete from articles where source_id <= 5");
    snprintf(words, sizeof(words), "points at index \"%s\"", s->other);
    alias_action(s, "add", s->other, alias, ",\"is_write_index\":true"); /* points at two indices */
    shop_sync(&shop, 1, words);
    expect_check(&shop, 4, words);
    alias_action(s, "remove", index, alias, ""); /* points only at the other index */
    shop_sync(&shop, 1, words);
    say(s, 200, "\"count\":1,", "GET", s->other, "/_count", NULL);
    say(s, 200, "\"count\":100,", "GET", index, "/_count", NULL);
    alias_action(s, "remove", s->other, alias, "");
    shop_sync_counts(&shop, 0, 5);
    shop_expect_equal(&shop);
    free(index);
    shop_close(&shop);
}
END_TEST

START_TEST(what_an_aborted_rebuild_had_sent_creates_nothing)
{
    struct shop shop;
    struct subject *s = &shop.subject;
    struct program program;
    struct program_result result;
    struct index_info all[4];
    size_t count = 0;
    char alias[INDEX_WRITE_ALIAS_BYTES];
    shop_open(&shop, 300, NULL, NULL);
    shop_sync_counts(&shop, 300, 0);
    const char *argv[] = {getenv("ROWFERRY_PROGRAM"), "-c", shop.config, "reindex", NULL};
    program_start(&program, argv,
                  (const char *const[]){"ROWFERRY_FAILPOINT=rebuild_copied=kill", NULL});
    program_finish(&program, COMMAND_MS, &result);
    ck_assert_int_eq(result.exit_code, 128 + SIGKILL);
    program_result_release(&result);
    OK(index_list(s->service, s->alias, "articles", all, 4, &count, &s->err));
    ck_assert_uint_eq(count, 2);
    alias_of(&shop, all[1].name, alias);
    say(s, 200, all[1].name, "GET", "_alias/", alias, NULL);
    rowferry_expect(0, shop.config, "reindex", "--abort", NULL);
    send_late(s, alias);
    expect_indices(s, 1);
    rowferry_expect(0, shop.config, "reindex", NULL);
    send_late(s, alias); /* the index has the name of the aborted one */
    expect_indices(s, 2);
    shop_expect_equal(&shop);
    shop_close(&shop);
}
END_TEST

TESTS(late_tests, NULL, what_arrives_after_its_index_was_deleted_creates_none,
      what_arrives_late_does_not_reach_the_next_index_of_the_same_name,
      a_generation_is_written_by_an_alias_that_is_given_where_it_lacks,
      a_write_alias_that_points_elsewhere_is_named_and_nothing_is_changed,
      what_an_aborted_rebuild_had_sent_creates_nothing)
