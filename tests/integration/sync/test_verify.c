/* SPDX-License-Identifier: Apache-2.0 */
/* verify: finds exactly the differences while both sides change; repair sends only those. */
#include "verifies.h"

/* Makes 7 documents missing, 5 extra and 9 different. */
static void spoil(struct world *w)
{
    for (long i = 0; i < 7; i++) {
        document_goes(w, 100 + 1000 * i);
    }
    for (long i = 0; i < 5; i++) {
        document_becomes(w, 900000 + i, ",\"title\":\"nobody's\"", 201);
    }
    for (long i = 0; i < 9; i++) {
        document_becomes(w, 50 + 900 * i, ",\"title\":\"altered\"", 200);
    }
    index_does(w, 200, "POST", "/shop-articles/_refresh", NULL);
}

/* Changes rows that are not spoilt, and syncs, until the program has ended. */
static void write_while(struct world *w, const struct program *p)
{
    for (long n = 0; program_running(p); n++) {
        struct program_result result;
        sql_exec(w->conn,
                 "update articles set title = 'live %ld', updated_at = now() where source_id %% 50 "
                 "= 1 and source_id %% 1000 <> 51 and source_id / 50 %% 10 = %ld",
                 n, n % 10);
        sql_exec(w->conn, "delete from articles where source_id = %ld", 15001 + n);
        sql_exec(w->conn, "insert into articles (source_id, title) values (%ld, 'new')",
                 500001 + n);
        world_sync(w, 0, &result);
        program_result_release(&result);
    }
}

START_TEST(what_differs_is_found_exactly_while_both_sides_change)
{
    struct world w;
    struct program p;
    struct program_result r;
    synced(&w, 20000);
    verify_clean(&w, 20000);
    spoil(&w);
    rowferry_start(&p, w.config, "verify", "--json", NULL);
    write_while(&w, &p);
    program_finish(&p, VERIFY_MS, &r);
    ck_assert_msg(r.exit_code == 4, "%.1500s%.1500s", r.out, r.err);
    counts(&r, 7, 5, 9);
    program_result_release(&r);

    rowferry_run(&r, w.config, "verify", "--json", "--repair", NULL);
    ck_assert_msg(r.exit_code == 0, "%.1500s%.1500s", r.out, r.err);
    ck_assert_int_eq(program_json_int(&r, "upserts"), 16);
    ck_assert_int_eq(program_json_int(&r, "deletes"), 5);
    program_result_release(&r);
    index_does(&w, 200, "POST", "/shop-articles/_refresh", NULL);
    verify_clean(&w, sql_int(w.conn, "select count(*) from articles"));
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(rows_that_are_not_synced_yet_are_no_differences)
{
    struct world w;
    struct program_result r;
    synced(&w, 300);
    sql_exec(w.conn, "update articles set title = 'later' where source_id <= 11");
    sql_exec(w.conn, "delete from articles where source_id between 20 and 22");
    sql_exec(w.conn, "insert into articles (source_id, title) values (1000, 'new')");
    document_becomes(&w, 200, ",\"title\":\"altered\"", 200);
    verify(&w, 4, &r);
    counts(&r, 0, 0, 1);
    ck_assert_int_eq(program_json_int(&r, "waiting"), 11 + 3 + 1);
    program_result_release(&r);
    rowferry_run(&r, w.config, "verify", NULL);
    ck_assert_msg(strstr(r.out, "15 not yet synced: sync first") != NULL, "%s", r.out);
    ck_assert_msg(strstr(r.out, "  altered 200\n") != NULL, "%s", r.out);
    ck_assert_msg(strstr(r.out, "    title: row \"") != NULL, "%s", r.out);
    ck_assert_msg(strstr(r.out, ", index \"altered\"\n") != NULL, "%s", r.out);
    ck_assert_msg(strstr(r.err, "altered\"") == NULL, "%s", r.err);
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(an_index_that_is_not_the_pipelines_any_more_is_no_difference)
{
    struct world w;
    struct program_result r;
    world_start(&w, 50, NULL);
    world_install(&w);
    rowferry_run(&r, w.config, "verify", NULL);
    ck_assert_int_eq(r.exit_code, 1);
    ck_assert_msg(strstr(r.err, "has not been synced yet") != NULL, "%s", r.err);
    program_result_release(&r);
    world_sync(&w, 0, &r);
    program_result_release(&r);
    char *generation = live_index(&w);
    char body[400];
    snprintf(body, sizeof(body),
             "{\"actions\":[{\"remove\":{\"index\":\"%s\",\"alias\":\"shop-articles\"}}]}",
             generation);
    index_does(&w, 200, "POST", "/_aliases", body);
    rowferry_run(&r, w.config, "verify", "--json", NULL);
    ck_assert_int_eq(r.exit_code, 1);
    ck_assert_msg(strstr(r.err, "no longer exists; it pointed at") != NULL, "%s", r.err);
    ck_assert_int_eq(program_json_int(&r, "missing"), 0);
    program_result_release(&r);
    free(generation);
    world_stop(&w);
}
END_TEST

START_TEST(a_sample_and_a_condition_say_what_they_left_out)
{
    struct world w;
    struct program_result r;
    synced(&w, 3000);
    document_goes(&w, 2500);
    document_becomes(&w, 900000, "", 201);
    rowferry_run(&r, w.config, "verify", "--json", "--where", "source_id > 2000", NULL);
    counts(&r, 1, 0, 0);
    ck_assert_int_eq(program_json_int(&r, "rows"), 1000);
    ck_assert_msg(strstr(r.out, "\"extra_looked_for\":false") != NULL, "%s", r.out);
    program_result_release(&r);
    rowferry_run(&r, w.config, "verify", "--json", "--where", "source_id <= 2000", NULL);
    ck_assert_int_eq(r.exit_code, 0);
    program_result_release(&r);
    rowferry_run(&r, w.config, "verify", "--json", "--sample", "700", NULL);
    ck_assert_int_eq(program_json_int(&r, "rows"), 700);
    ck_assert_msg(strstr(r.out, "\"sampled\":true") != NULL, "%s", r.out);
    program_result_release(&r);
    /* five rows, without a whole page of documents */
    rowferry_run(&r, w.config, "verify", "--json", "--sample", "5", NULL);
    ck_assert_int_eq(program_json_int(&r, "rows"), 5);
    ck_assert_int_le(program_json_int(&r, "documents"), 5);
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(open_dead_letters_are_shown_as_such)
{
    struct world w;
    struct program_result r;
    synced(&w, 100);
    sql_exec(w.conn, "update articles set price = 'NaN' where source_id = 5");
    world_sync(&w, 3, &r);
    program_result_release(&r);
    rowferry_run(&r, w.config, "verify", "--json", NULL);
    ck_assert_msg(r.exit_code == 3, "%.1500s%.1500s", r.out, r.err);
    counts(&r, 0, 0, 0);
    ck_assert_int_eq(program_json_int(&r, "dead_letters"), 1);
    ck_assert_msg(strstr(r.out, "\"kind\":\"dead_letter\",\"key\":\"5\"") != NULL, "%s", r.out);
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(documents_of_others_are_found_whatever_their_ids)
{
    struct world w;
    struct program_result r;
    synced(&w, 100);
    index_does(&w, 201, "PUT", "/shop-articles/_doc/nameless", "{\"title\":\"no source_id\"}");
    index_does(&w, 201, "PUT", "/shop-articles/_doc/4711", "{\"title\":\"no source_id\"}");
    index_does(&w, 201, "PUT", "/shop-articles/_doc/abc", "{\"source_id\":\"abc\"}");
    verify(&w, 4, &r);
    counts(&r, 0, 3, 0);
    ck_assert_msg(strstr(r.out, "\"key\":\"nameless\",\"reason\":\"no row can") != NULL, "%.1500s",
                  r.out);
    program_result_release(&r);
    rowferry_run(&r, w.config, "verify", "--repair", NULL);
    ck_assert_int_eq(r.exit_code, 4);
    ck_assert_msg(strstr(r.err, "2 extra documents have ids that no row can have") != NULL,
                  "%.1500s", r.err);
    program_result_release(&r);
    verify(&w, 4, &r);
    counts(&r, 0, 2, 0);
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

/* One UPDATE gives many rows one value, and the position is among them. */
START_TEST(a_cursor_says_what_is_not_synced_yet)
{
    struct world w;
    struct program_result r;
    world_start(&w, 500, NULL);
    sql_exec(w.conn, "update articles set updated_at = now() - interval '1 day'");
    world_from(&w, "\"capture\": {\"mode\": \"cursor\", \"column\": \"updated_at\"}");
    world_sync(&w, 0, &r);
    program_result_release(&r);
    verify_clean(&w, 500);
    sql_exec(w.conn, "update articles set title = 'later', updated_at = now() where source_id < 9");
    document_becomes(&w, 100, ",\"title\":\"altered\"", 200);
    document_becomes(&w, 500, ",\"title\":\"altered\"", 200);
    verify(&w, 4, &r);
    counts(&r, 0, 0, 2);
    ck_assert_int_eq(program_json_int(&r, "waiting"), 8);
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(many_extra_documents_are_not_deleted_unasked)
{
    struct world w;
    struct program_result r;
    synced(&w, 400);
    for (long i = 0; i < 150; i++) {
        document_becomes(&w, 10000 + i, "", 201);
    }
    document_goes(&w, 7);
    index_does(&w, 200, "POST", "/shop-articles/_refresh", NULL);
    rowferry_run(&r, w.config, "verify", "--json", "--repair", NULL);
    ck_assert_msg(r.exit_code == 1, "%.1500s%.1500s", r.out, r.err);
    ck_assert_msg(strstr(r.err, "the guard stopped the deletion of 150 extra documents of 549") !=
                      NULL,
                  "%s", r.err);
    ck_assert_int_eq(program_json_int(&r, "upserts"), 1);
    ck_assert_int_eq(program_json_int(&r, "deletes"), 0);
    program_result_release(&r);
    rowferry_run(&r, w.config, "verify", "--json", "--repair", "--allow-deletes", NULL);
    ck_assert_msg(r.exit_code == 0, "%.1500s%.1500s", r.out, r.err);
    ck_assert_int_eq(program_json_int(&r, "deletes"), 150);
    program_result_release(&r);
    index_does(&w, 200, "POST", "/shop-articles/_refresh", NULL);
    verify_clean(&w, 400);
    world_stop(&w);
}
END_TEST

/* Several documents share a source_id, so pages of a narrow window end between them. */
START_TEST(a_document_with_anothers_source_id_under_its_own_id_is_an_extra_one)
{
    struct world w;
    struct program_result r;
    world_start(&w, 60, NULL);
    w.to = "\"settings\": {\"index\": {\"max_result_window\": 7}}";
    world_configure(&w, WORLD_PROPERTIES, "");
    world_install(&w);
    world_sync(&w, 0, &r);
    program_result_release(&r);
    index_does(&w, 200, "POST", "/shop-articles/_refresh", NULL);
    verify_clean(&w, 60);
    for (int i = 0; i < 12; i++) {
        char path[96];
        char body[96];
        snprintf(path, sizeof(path), "/shop-articles/_doc/%d", 1000 + i);
        snprintf(body, sizeof(body), "{\"source_id\":\"%d\"}", i < 4 ? 7 : 20 + i);
        index_does(&w, 201, "PUT", path, body);
    }
    index_does(&w, 201, "PUT", "/shop-articles/_doc/no-key", "{\"source_id\":\"60\"}");
    verify(&w, 4, &r);
    counts(&r, 0, 13, 0);
    ck_assert_int_eq(program_json_int(&r, "documents"), 73);
    program_result_release(&r);
    index_does(&w, 200, "DELETE", "/shop-articles/_doc/no-key",
               NULL); /* only a person deletes it */
    rowferry_run(&r, w.config, "verify", "--repair", NULL);
    ck_assert_msg(r.exit_code == 0, "%d: %.1500s%.1500s", r.exit_code, r.out, r.err);
    program_result_release(&r);
    index_does(&w, 200, "POST", "/shop-articles/_refresh", NULL);
    verify_clean(&w, 60);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/verify", a_document_with_anothers_source_id_under_its_own_id_is_an_extra_one,
           what_differs_is_found_exactly_while_both_sides_change,
           rows_that_are_not_synced_yet_are_no_differences,
           an_index_that_is_not_the_pipelines_any_more_is_no_difference,
           a_sample_and_a_condition_say_what_they_left_out, open_dead_letters_are_shown_as_such,
           a_cursor_says_what_is_not_synced_yet, documents_of_others_are_found_whatever_their_ids,
           many_extra_documents_are_not_deleted_unasked)
