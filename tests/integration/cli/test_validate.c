/* SPDX-License-Identifier: Apache-2.0 */
/* validate: each planted fault is found by its step, and nothing is left of the trial. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql.h"
#include "trials.h"
#include "wait.h"

#define PAGE_BYTES (256 * 1024)

START_TEST(a_pipeline_that_is_right_passes_and_leaves_nothing)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    world_pipeline(&w,
                   "\"validate\": {\"sort\": [\"price\"], \"filter\": [\"tags\"], \"queries\": ["
                   "{\"q\": \"tags:b17\", \"expect\": [\"17\"]}, {\"name\": \"by title\", "
                   "\"body\": {\"query\": {\"match\": {\"title\": \"title 42\"}}}, \"expect\": "
                   "[\"42\"], \"k\": 1}]}");
    struct json_object *tree = validate(&w, 0);
    static const char *const passed[] = {"counts", "queries",   "analysis", "filter",
                                         "sort",   "relevance", "growth"};
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        expect_status(tree, passed[i], "PASS");
    }
    expect_status(tree, "vectors", "SKIP");
    ck_assert_int_eq(figure(tree, "rows"), ROWS);
    ck_assert_int_eq(figure(tree, "sampled"), figure(tree, "indexed"));
    ck_assert_int_gt(figure(tree, "sampled"), 200);
    ck_assert_int_gt(figure(tree, "stored_bytes"), 0);
    ck_assert_int_gt(figure(tree, "whole_bytes"), 0);
    json_object_put(tree);
    world_stop(&w);
}
END_TEST

START_TEST(the_live_index_and_the_state_file_are_untouched)
{
    struct world w;
    struct program_result r;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    world_sync(&w, 0, &r);
    program_result_release(&r);
    sql_exec(w.conn, "update articles set title = 'changed meanwhile' where source_id = 5");
    json_object_put(validate(&w, 0));
    world_sync(&w, 0, &r);
    ck_assert_int_eq(program_json_int(&r, "upserts"), 1);
    program_result_release(&r);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_text_field_used_for_sorting_is_found)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    world_pipeline(&w, "\"validate\": {\"sort\": [\"title\"]}");
    struct json_object *tree = validate(&w, 4);
    expect_noted(tree, "FAIL", "sort", "field \"title\" cannot be sorted by: it is a text field",
                 "\"type\": \"keyword\"");
    json_object_put(tree);
    world_pipeline(&w, "\"validate\": {\"queries\": [{\"body\": {\"sort\": [\"title\"]}, "
                       "\"expect\": [\"1\"]}]}");
    tree = validate(&w, 4);
    expect_noted(tree, "FAIL", "sort", "field \"title\" cannot be sorted by", "title.raw");
    json_object_put(tree);
    world_stop(&w);
}
END_TEST

START_TEST(a_missing_field_is_found)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    world_pipeline(&w, "\"validate\": {\"filter\": [\"colour\", \"title\"], \"queries\": [{\"q\": "
                       "\"colour:red\", \"expect\": [\"1\"]}]}");
    struct json_object *tree = validate(&w, 4);
    expect_noted(tree, "FAIL", "filter",
                 "field \"colour\" cannot be filtered by: the mapping has no",
                 "add it to to.mappings");
    expect_noted(tree, "FAIL", "filter",
                 "field \"title\" cannot be filtered by: it is a text field", "keyword");
    expect_noted(tree, "FAIL", "queries", "the mapping has no field \"colour\"",
                 "add it to to.mappings");
    json_object_put(tree);
    /* a field that nothing fills */
    world_pipeline(&w, "\"fields\": {\"published\": null}");
    tree = validate(&w, 4);
    expect_noted(tree, "FAIL", "counts", "field \"published\" is in no document",
                 "to.ingest_pipeline");
    json_object_put(tree);
    world_stop(&w);
}
END_TEST

START_TEST(a_name_that_means_something_in_a_search_is_no_fault)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    sql_exec(w.conn, "alter table articles add column \"-- /c [d]\" integer; "
                     "update articles set \"-- /c [d]\" = source_id");
    world_configure(&w, WORLD_PROPERTIES ", \"-- /c [d]\": {\"type\": \"integer\"}", "");
    struct json_object *tree = validate(&w, 0);
    expect_status(tree, "queries", "PASS");
    json_object_put(tree);
    world_stop(&w);
}
END_TEST

START_TEST(a_text_with_joined_words_is_no_fault)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    sql_exec(w.conn, "update articles set title = 'Don''t visit example.com ' || source_id");
    json_object_put(validate(&w, 0));
    world_stop(&w);
}
END_TEST

START_TEST(an_analyzer_that_the_service_lacks_is_found)
{
    struct world w;
    world_start(&w, 20, NULL);
    world_configure(&w, "\"title\":{\"type\":\"text\",\"analyzer\":\"englsh\"}", "");
    struct json_object *tree = validate(&w, 4);
    expect_noted(tree, "FAIL", "analysis", "englsh", "analyzer");
    expect_status(tree, "counts", "SKIP");
    json_object_put(tree);
    world_stop(&w);
}
END_TEST

START_TEST(a_wrong_dimension_is_found)
{
    struct world w;
    world_start(&w, 20, NULL);
    sql_exec(w.conn, "alter table articles add v float4[]; update articles set v = "
                     "array[source_id, 1, 2]::float4[]");
    w.to = "\"settings\": {\"index.knn\": true}";
    world_configure(&w,
                    "\"title\":{\"type\":\"text\"},\"v\":{\"type\":\"knn_vector\","
                    "\"dimension\":4}",
                    "");
    struct json_object *tree = validate(&w, 4);
    expect_noted(tree, "FAIL", "vectors", "vectors of a dimension other than 4",
                 "write \"dimension\": 3 in to.mappings");
    expect_noted(tree, "FAIL", "counts", "column \"v\"", "dead letter");
    json_object_put(tree);
    world_stop(&w);
}
END_TEST

START_TEST(searches_that_do_not_find_what_they_should_are_found)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    world_pipeline(&w,
                   "\"validate\": {\"k\": 3, \"queries\": [{\"name\": \"one\", \"q\": "
                   "\"tags:b17\", \"expect\": [\"17\", \"18\"]}, {\"name\": \"late\", \"body\": "
                   "{\"query\": {\"match_all\": {}}, \"sort\": [{\"source_id\": \"asc\"}]}, "
                   "\"expect\": [\"99\"]}, {\"name\": \"no row\", \"q\": \"tags:a\", "
                   "\"expect\": [\"eleven\"]}]}");
    struct json_object *tree = validate(&w, 4);
    expect_noted(tree, "FAIL", "queries",
                 "search \"one\" finds 1 of the 2 expected documents; \"18\"", "");
    expect_noted(tree, "FAIL", "relevance",
                 "search \"late\" has its first expected hit after place 3", "weigh the fields");
    expect_noted(tree, "FAIL", "queries", "search \"no row\"", "");
    json_object_put(tree);
    world_stop(&w);
}
END_TEST

START_TEST(the_index_is_removed_whatever_fails)
{
    static const struct {
        const char *fault;
        int exit_code;
    } faults[] = {
        {"{\"status\":500,\"count\":1,\"path\":\"_refresh\"}", 1},
        {"{\"close\":\"middle\",\"count\":1,\"path\":\"_search\"}", 6},
        {"{\"close\":\"middle\",\"count\":1,\"path\":\"shop-articles-validate\"}", 6},
        {"{\"status\":503,\"count\":1,\"path\":\"_count\"}", 6},
        {"{\"status\":429,\"count\":2,\"path\":\"_bulk\"}", 0},
    };
    struct world w;
    struct program_result r;
    world_start(&w, 50, NULL);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        world_fault(&w, faults[i].fault);
        rowferry_run(&r, w.config, "validate", NULL);
        ck_assert_msg(r.exit_code == faults[i].exit_code, "%zu: %d\n%s%s", i, r.exit_code, r.out,
                      r.err);
        program_result_release(&r);
        expect_none(&w);
    }
    world_stop(&w);
}
END_TEST

START_TEST(an_interrupt_removes_the_index)
{
    struct world w;
    struct program program;
    struct program_result r;
    world_start(&w, 50, NULL);
    world_hold(&w, "_search");
    rowferry_start(&program, w.config, "validate", NULL);
    world_await_held(&w);
    kill(program.pid, SIGINT);
    world_unfault(&w);
    program_finish(&program, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 6, "%d\n%s%s", r.exit_code, r.out, r.err);
    expect_text(r.err, "interrupted before step");
    program_result_release(&r);
    expect_none(&w);
    world_stop(&w);
}
END_TEST

START_TEST(two_trials_run_side_by_side)
{
    struct world w;
    struct program one;
    struct program two;
    struct program_result r;
    world_start(&w, ROWS, NULL);
    rowferry_start(&one, w.config, "validate", NULL);
    rowferry_start(&two, w.config, "validate", NULL);
    program_finish(&one, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 0, "%s%s", r.out, r.err);
    program_result_release(&r);
    program_finish(&two, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 0, "%s%s", r.out, r.err);
    program_result_release(&r);
    expect_none(&w);
    world_stop(&w);
}
END_TEST

static void read_page(char page[PAGE_BYTES], const char *path)
{
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    page[fread(page, 1, PAGE_BYTES - 1, file)] = '\0';
    fclose(file);
}

START_TEST(the_page_needs_nothing_else)
{
    struct world w;
    struct program_result r;
    char path[256];
    static char page[PAGE_BYTES];
    world_start(&w, ROWS, NULL);
    sql_exec(w.conn, "update articles set title = '<script>alert(1)</script>' || source_id");
    world_pipeline(&w, "\"validate\": {\"queries\": [{\"name\": \"<b>bold\", \"q\": \"tags:b17\", "
                       "\"expect\": [\"18\"]}]}");
    snprintf(path, sizeof(path), "%s/page.html", w.dir);
    rowferry_run(&r, w.config, "validate", "--html", path, NULL);
    ck_assert_msg(r.exit_code == 4, "%s%s", r.out, r.err);
    expect_text(r.out, "FAIL  queries");
    expect_text(r.out, "        -> ");
    program_result_release(&r);
    read_page(page, path);
    expect_text(page, "<svg role=\"img\"");
    expect_text(page, "&#60;b&#62;bold");
    expect_text(page, "&#60;script&#62;alert(1)&#60;/script&#62;");
    expect_text(page, "to be corrected before the initial load");
    expect_text(page, "</html>");
    const char *script = strstr(page, "<script nonce=\"");
    ck_assert_ptr_nonnull(script);
    ck_assert_ptr_null(strstr(script + 1, "<script"));
    ck_assert(strstr(page, "<script") == script);
    ck_assert_ptr_null(strstr(page, "://"));
    ck_assert_ptr_null(strstr(page, "src="));
    rowferry_run(&r, w.config, "validate", "--html", "/nowhere/page.html", NULL);
    ck_assert_int_eq(r.exit_code, 2);
    expect_text(r.err, "option \"--html\": cannot create \"/nowhere/page.html\"");
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(the_page_names_what_was_compared_and_shows_each_search)
{
    struct world w;
    struct program_result r;
    char path[256];
    char service[64];
    static char page[PAGE_BYTES];
    world_start(&w, ROWS, NULL);
    world_pipeline(&w, "\"validate\": {\"queries\": [{\"name\": \"mine\", \"q\": \"tags:b17\", "
                       "\"expect\": [\"17\"]}]}");
    snprintf(path, sizeof(path), "%s/page.html", w.dir);
    rowferry_run(&r, w.config, "validate", "--html", path, NULL);
    ck_assert_msg(r.exit_code == 0, "%s%s", r.out, r.err);
    program_result_release(&r);
    read_page(page, path);
    snprintf(service, sizeof(service), "(a stand-in) at 127.0.0.1:%d</dd>", w.service.port);
    expect_text(page, service);
    snprintf(service, sizeof(service), "<dd>%s on %s:%s</dd>", PQdb(w.conn), PQhost(w.conn),
             PQport(w.conn));
    expect_text(page, service);
    expect_text(page, "<dt>table</dt><dd>public.articles</dd>");
    expect_text(page, "<dt>index</dt><dd>shop-articles</dd>");
    expect_text(page, " UTC</dd>");
    expect_text(page,
                "mine: q=tags:b17</td><td>document &#34;17&#34;</td><td class=\"found\">1 of 1 "
                "among 1 hit</td>");
    expect_text(page,
                "document &#34;17&#34; among the first 10</td><td class=\"found\">at place 1");
    expect_text(page, ">published is &#34;true&#34;</td>");
    expect_text(page, ">price, from the last</td>");
    expect_text(page, ">title: title</td>");
    ck_assert_ptr_null(strstr(page, WORLD_API_KEY));
    ck_assert_ptr_null(strstr(page, PQuser(w.conn)));
    world_stop(&w);
}
END_TEST

START_TEST(the_page_has_what_could_not_be_tried_with_its_reason)
{
    struct world w;
    struct program_result r;
    char path[256];
    static char page[PAGE_BYTES];
    world_start(&w, 0, NULL);
    snprintf(path, sizeof(path), "%s/page.html", w.dir);
    rowferry_run(&r, w.config, "validate", "--html", path, NULL);
    ck_assert_msg(r.exit_code == 1, "%d %s%s", r.exit_code, r.out, r.err);
    ck_assert_str_eq(r.out, "");
    program_result_release(&r);
    read_page(page, path);
    expect_text(page, "<h2>articles</h2><span class=\"state\">not tried</span>");
    expect_text(page, "<p class=\"why\">");
    ck_assert_ptr_null(strstr(page, "<svg"));
    world_stop(&w);
}
END_TEST

START_TEST(a_page_that_finds_no_room_leaves_the_earlier_one)
{
    struct world w;
    struct program p;
    struct program_result r;
    char command[1024];
    static char page[PAGE_BYTES];
    world_start(&w, 5, NULL);
    char *path = scratch_write(w.dir, "page.html", "the earlier one");
    snprintf(command, sizeof(command),
             "trap '' XFSZ; ulimit -f 4; '%s' -c '%s' validate --html '%s'; code=$?; ls '%s'; "
             "exit $code",
             getenv("ROWFERRY_PROGRAM"), w.config, path, w.dir);
    program_start(&p, (const char *const[]){"/bin/sh", "-c", command, NULL}, NULL);
    program_finish(&p, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 6, "%d %s%s", r.exit_code, r.out, r.err);
    expect_text(r.err, "option \"--html\": could not write \"");
    ck_assert_ptr_null(strstr(r.out, ".new"));
    program_result_release(&r);
    read_page(page, path);
    ck_assert_str_eq(page, "the earlier one");
    free(path);
    world_stop(&w);
}
END_TEST

START_TEST(a_service_that_is_away_ends_with_6)
{
    struct world w;
    struct program_result r;
    world_start(&w, 5, NULL);
    char url[sizeof(w.service.url)];
    snprintf(url, sizeof(url), "%s", w.service.url);
    snprintf(w.service.url, sizeof(w.service.url), "http://127.0.0.1:%d", free_port());
    world_configure(&w, WORLD_PROPERTIES, "");
    rowferry_run(&r, w.config, "validate", NULL);
    ck_assert_msg(r.exit_code == 6, "%d %s%s", r.exit_code, r.out, r.err);
    program_result_release(&r);
    snprintf(w.service.url, sizeof(w.service.url), "%s", url);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/cli/validate", a_pipeline_that_is_right_passes_and_leaves_nothing,
           the_live_index_and_the_state_file_are_untouched, a_text_field_used_for_sorting_is_found,
           a_missing_field_is_found, a_name_that_means_something_in_a_search_is_no_fault,
           a_text_with_joined_words_is_no_fault, an_analyzer_that_the_service_lacks_is_found,
           a_wrong_dimension_is_found, searches_that_do_not_find_what_they_should_are_found,
           the_index_is_removed_whatever_fails, an_interrupt_removes_the_index,
           two_trials_run_side_by_side, the_page_needs_nothing_else,
           the_page_names_what_was_compared_and_shows_each_search,
           the_page_has_what_could_not_be_tried_with_its_reason,
           a_page_that_finds_no_room_leaves_the_earlier_one, a_service_that_is_away_ends_with_6)
