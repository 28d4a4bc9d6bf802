/* SPDX-License-Identifier: Apache-2.0 */
/* Rebuilds by the command: swapped in, refused, rolled back, and adopting a foreign index. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shop.h"
#include "sql.h"

#define REINDEX_MS 115000
#define GENERATIONS_MOST 8

/* Runs rowferry reindex with the word (may be null). Expects the exit code, and the text on either
 * stream. */
static void reindex(struct shop *shop, const char *word, int exit_code, const char *text)
{
    struct program program;
    struct program_result result;
    rowferry_start(&program, shop->config, "reindex", word, NULL);
    program_finish(&program, REINDEX_MS, &result);
    ck_assert_msg(result.exit_code == exit_code, "reindex ended with %d instead of %d:\n%s%s",
                  result.exit_code, exit_code, result.out, result.err);
    bool says = strstr(result.out, text) != NULL || strstr(result.err, text) != NULL;
    ck_assert_msg(says, "no \"%s\" in:\n%s%s", text, result.out, result.err);
    program_result_release(&result);
}

/* Leaves a rebuild that was killed at the failpoint. */
static void stand_by(struct shop *shop, const char *failpoint, const char *word)
{
    struct program program;
    struct program_result result;
    const char *argv[] = {getenv("ROWFERRY_PROGRAM"), "-c", shop->config, "reindex", word, NULL};
    program_start(&program, argv, (const char *const[]){failpoint, NULL});
    program_finish(&program, REINDEX_MS, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL, "%s did not kill it (%d): %s", failpoint,
                  result.exit_code, result.err);
    program_result_release(&result);
}

static void stand_at(struct shop *shop, const char *failpoint)
{
    stand_by(shop, failpoint, NULL);
}

/* Expects this number of generations and returns the newest one's name; the caller frees it. */
static char *newest(struct shop *shop, size_t wanted)
{
    struct subject *s = &shop->subject;
    struct index_info all[GENERATIONS_MOST];
    size_t count = 0;
    OK(index_list(s->service, s->alias, "articles", all, GENERATIONS_MOST, &count, &s->err));
    ck_assert_uint_eq(count, wanted);
    return count > 0 ? text_copy(all[count - 1].name) : NULL;
}

static void expect_live(struct shop *shop, const char *index)
{
    char *live = shop_generation(shop);
    ck_assert_str_eq(live, index);
    free(live);
}

static void change(struct shop *shop)
{
    sql_exec(shop->conn, "update articles set title = title || '!' where source_id <= 50;"
                         "delete from articles where source_id between 61 and 70;"
                         "update articles set source_id = source_id + 1000000 where source_id = 80;"
                         "insert into articles (source_id, title) "
                         "select max(source_id) + 1, 'new' from articles");
}

START_TEST(a_rebuild_is_swapped_in_with_its_settings_and_taken_back)
{
    struct shop shop;
    struct subject *s = &shop.subject;
    shop_open(&shop, 1500, NULL,
              "\"index\": {\"refresh_interval\": \"7s\", \"number_of_replicas\": 0, "
              "\"gc_deletes\": \"1s\"}");
    shop_sync_counts(&shop, 1500, 0);
    char *first = shop_generation(&shop);
    change(&shop);
    reindex(&shop, NULL, 0, "is kept for --rollback");
    char *second = newest(&shop, 2);
    expect_live(&shop, second);
    shop_expect_equal(&shop);
    say(s, 200, "\"refresh_interval\":\"7s\"", "GET", second, "/_settings", NULL);
    change(&shop);
    shop_sync(&shop, 0, NULL);
    shop_expect_equal(&shop);
    change(&shop);
    reindex(&shop, "--rollback", 0, "rolled back to");
    expect_live(&shop, first);
    shop_expect_equal(&shop);
    change(&shop);
    shop_sync(&shop, 0, NULL);
    shop_expect_equal(&shop);
    reindex(&shop, NULL, 0, "is kept for --rollback");
    say(s, 200, NULL, "HEAD", first, "", NULL);  /* live until now */
    say(s, 404, NULL, "HEAD", second, "", NULL); /* not the newer one */
    free(newest(&shop, 2));
    free(first);
    free(second);
    shop_close(&shop);
}
END_TEST

START_TEST(a_rebuild_that_is_refused_leaves_the_alias_and_is_given_up)
{
    struct shop shop;
    struct subject *s = &shop.subject;
    shop_open(&shop, 500, NULL, NULL);
    shop_sync_counts(&shop, 500, 0);
    char *live = shop_generation(&shop);
    stand_at(&shop, "ROWFERRY_FAILPOINT=rebuild_finished=kill");
    char *next = newest(&shop, 2);
    say(s, 200, NULL, "DELETE", next, "/_doc/11", NULL);
    say(s, 200, NULL, "DELETE", next, "/_doc/12", NULL);
    say(s, 200, NULL, "PUT", next, "/_doc/13", "{\"source_id\":\"13\",\"title\":\"altered\"}");
    reindex(&shop, NULL, 1,
            "was not swapped in: of 500 documents 2 are missing, 0 too many, 1 altered");
    expect_live(&shop, live);
    say(s, 200, NULL, "POST", next, "/_close", NULL);
    reindex(&shop, NULL, 1, next);
    expect_live(&shop, live);
    reindex(&shop, "--abort", 0, next);
    free(newest(&shop, 1));
    expect_live(&shop, live);
    shop_expect_equal(&shop);
    free(next);
    free(live);
    shop_close(&shop);
}
END_TEST

START_TEST(a_rebuild_that_was_killed_leaves_no_index_behind)
{
    static const char *const points[] = {
        "ROWFERRY_FAILPOINT=generation_created=kill", "ROWFERRY_FAILPOINT=rebuild_left=kill",
        "ROWFERRY_FAILPOINT=alias_swapped=kill", "ROWFERRY_FAILPOINT=generation_removed=kill"};
    struct shop shop;
    shop_open(&shop, 300, NULL, NULL);
    shop_sync_counts(&shop, 300, 0);
    reindex(&shop, NULL, 0, "rebuilt as");
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        stand_at(&shop, points[i]);
        change(&shop);
        reindex(&shop, i % 2 == 0 ? "--abort" : NULL, 0, "articles: ");
        shop_sync(&shop, 0, NULL);
        shop_expect_equal(&shop);
        free(newest(&shop, 2));
    }
    shop_close(&shop);
}
END_TEST

START_TEST(an_index_that_bears_the_name_is_kept_beside_what_takes_its_place)
{
    struct shop shop;
    struct subject *s = &shop.subject;
    char kept[128];
    shop_open(&shop, 100, NULL, NULL);
    snprintf(kept, sizeof(kept), "%s-before-rowferry", s->alias);
    say(s, 201, NULL, "PUT", s->alias, "/_doc/old?refresh=true", "{\"a\":1}");
    reindex(&shop, NULL, 1, "--adopt");
    say(s, 200, "\"found\":true", "GET", s->alias, "/_doc/old", NULL);
    reindex(&shop, "--adopt", 0, "rebuilt as");
    free(shop_generation(&shop));
    shop_expect_equal(&shop);
    say(s, 200, "\"found\":true", "GET", kept, "/_doc/old", NULL);
    shop_sync(&shop, 0, NULL);
    shop_close(&shop);
}
END_TEST

/* Expects that the name accepts writes again and that no clone exists. */
static void expect_as_it_was(struct subject *s, const char *kept, const char *id)
{
    char path[64];
    snprintf(path, sizeof(path), "/_doc/%s?refresh=true", id);
    say(s, 201, NULL, "PUT", s->alias, path, "{\"a\":1}");
    say(s, 404, NULL, "HEAD", kept, "", NULL);
}

START_TEST(an_adoption_that_was_killed_is_taken_back_by_an_abort)
{
    static const char *const points[] = {"ROWFERRY_FAILPOINT=index_blocked=kill",
                                         "ROWFERRY_FAILPOINT=index_cloned=kill"};
    struct shop shop;
    struct subject *s = &shop.subject;
    char kept[128];
    char id[] = "after-0";
    shop_open(&shop, 100, NULL, NULL);
    snprintf(kept, sizeof(kept), "%s-before-rowferry", s->alias);
    say(s, 201, NULL, "PUT", s->alias, "/_doc/old?refresh=true", "{\"a\":1}");
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        stand_by(&shop, points[i], "--adopt");
        say(s, 403, NULL, "PUT", s->alias, "/_doc/blocked", "{\"a\":1}");
        say(s, i == 0 ? 404 : 200, NULL, "HEAD", kept, "", NULL);
        reindex(&shop, "--abort", 0, "aborted");
        free(newest(&shop, 0));
        id[sizeof(id) - 2] = (char)('0' + i);
        expect_as_it_was(s, kept, id);
    }
    reindex(&shop, "--adopt", 0, "rebuilt as");
    shop_expect_equal(&shop);
    say(s, 200, "\"found\":true", "GET", kept, "/_doc/after-1", NULL);
    shop_close(&shop);
}
END_TEST

static void copy_state(const struct shop *shop, const char *from, const char *to)
{
    char command[512];
    snprintf(command, sizeof(command), "cp '%s/%s' '%s/%s'", shop->dir, from, shop->dir, to);
    ck_assert_int_eq(system(command), 0);
}

/* The message names a generation that is still being built, or an index to adopt. */
START_TEST(a_state_file_restored_from_before_a_swap_finds_the_alias_where_it_is)
{
    static const char *const next[] = {"sync", "--abort"};
    struct shop shop;
    struct subject *s = &shop.subject;
    char kept[128];
    shop_open(&shop, 300, NULL, NULL);
    snprintf(kept, sizeof(kept), "%s-before-rowferry", s->alias);
    say(s, 201, NULL, "PUT", s->alias, "/_doc/old?refresh=true", "{\"a\":1}");
    for (size_t i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
        bool adopts = i == 0;
        stand_by(&shop,
                 adopts ? "ROWFERRY_FAILPOINT=index_cloned=kill"
                        : "ROWFERRY_FAILPOINT=rebuild_finished=kill",
                 adopts ? "--adopt" : NULL);
        copy_state(&shop, "state.db", "copy.db");
        reindex(&shop, adopts ? "--adopt" : NULL, 0, "rebuilt as");
        char *live = shop_generation(&shop);
        change(&shop);
        shop_sync(&shop, 0, NULL);
        copy_state(&shop, "copy.db", "state.db");
        change(&shop);
        if (strcmp(next[i], "--abort") == 0) {
            reindex(&shop, "--abort", 0, "no rebuild is under way");
        }
        shop_sync(&shop, 0, NULL);
        expect_live(&shop, live);
        shop_expect_equal(&shop);
        say(s, 200, "\"found\":true", "GET", kept, "/_doc/old", NULL);
        free(live);
    }
    shop_close(&shop);
}
END_TEST

TESTS(reindex_tests, NULL, a_rebuild_is_swapped_in_with_its_settings_and_taken_back,
      a_rebuild_that_is_refused_leaves_the_alias_and_is_given_up,
      a_rebuild_that_was_killed_leaves_no_index_behind,
      an_index_that_bears_the_name_is_kept_beside_what_takes_its_place,
      an_adoption_that_was_killed_is_taken_back_by_an_abort,
      a_state_file_restored_from_before_a_swap_finds_the_alias_where_it_is)
