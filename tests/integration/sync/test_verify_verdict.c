/* SPDX-License-Identifier: Apache-2.0 */
/* verify: reports "equal" only if it is true; open, held-back and failed comparisons are named. */
#include <pthread.h>
#include <signal.h>

#include "verifies.h"

static void expect(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%.2000s", part, text);
}

static void expect_not(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) == NULL, "\"%s\" in:\n%.2000s", part, text);
}

static void people_are_told(struct world *w, int exit_code, const char *words)
{
    struct program_result r;
    rowferry_run(&r, w->config, "verify", NULL);
    ck_assert_msg(r.exit_code == exit_code, "%d: %.1500s%.1500s", r.exit_code, r.out, r.err);
    expect(r.out, words);
    expect_not(r.out, "equal");
    program_result_release(&r);
}

START_TEST(rows_that_wait_are_not_called_equal_and_hide_no_lost_document)
{
    struct world w;
    struct program_result r;
    synced(&w, 300);
    sql_exec(w.conn, "update articles set title = 'later' where source_id <= 40");
    document_goes(&w, 250);
    verify(&w, 4, &r);
    counts(&r, 1, 0, 0);
    ck_assert_int_eq(program_json_int(&r, "waiting"), 40);
    program_result_release(&r);
    rowferry_run(&r, w.config, "verify", "--repair", NULL);
    ck_assert_msg(r.exit_code == 6, "%.1500s%.1500s", r.out, r.err);
    program_result_release(&r);
    people_are_told(&w, 6, "articles: not known yet: 40 not yet synced; 300 rows");
    verify(&w, 6, &r);
    expect(r.out, "\"equal\":false");
    program_result_release(&r);
    world_sync(&w, 0, &r);
    program_result_release(&r);
    verify_clean(&w, 300);
    world_stop(&w);
}
END_TEST

START_TEST(what_the_guard_holds_back_is_not_called_equal)
{
    struct world w;
    struct program_result r;
    synced(&w, 300);
    sql_exec(w.conn, "truncate articles");
    people_are_told(&w, 6, "articles: not known yet: 300 not yet synced; 0 rows");
    world_sync(&w, 1, &r);
    program_result_release(&r);
    people_are_told(&w, 1, "articles: not known yet: 300 not yet synced; 0 rows");
    people_are_told(&w, 1, "the guard stopped the pipeline\n  next: rowferry status articles");
    verify(&w, 1, &r);
    expect(r.out, "\"equal\":false");
    expect(r.out, "\"guard_stopped\":true");
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(a_repair_that_the_guard_keeps_from_being_sent_says_so)
{
    struct world w;
    struct program run;
    struct program_result r;
    world_start(&w, 1000, NULL);
    world_install(&w);
    rowferry_start(&run, w.config, "run", NULL);
    program_await(&run, "event=following", WAIT_MS);
    sql_exec(w.conn, "delete from articles where source_id <= 900");
    program_await(&run, "guard", WAIT_MS);
    document_goes(&w, 950);
    index_does(&w, 200, "POST", "/shop-articles/_refresh", NULL);
    rowferry_run(&r, w.config, "verify", "--repair", NULL);
    ck_assert_msg(r.exit_code == 1, "%.1500s%.1500s", r.out, r.err);
    expect(r.out, "articles: 1 missing; ");
    expect(r.err, "were not sent because the guard stopped the pipeline; see: rowferry status");
    program_result_release(&r);
    program_signal(&run, SIGTERM);
    program_finish(&run, WAIT_MS, &r);
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

struct overwriter {
    const char *url;
    int stop;
};

static void *overwrite(void *context)
{
    struct overwriter *o = context;
    for (long n = 0; __atomic_load_n(&o->stop, __ATOMIC_RELAXED) == 0; n++) {
        struct reply reply;
        char body[100];
        snprintf(body, sizeof(body), "{\"source_id\":\"5\",\"title\":\"bad %ld\"}", n);
        reply_get(&reply, "PUT", o->url, "/shop-articles/_doc/5", body, AUTH);
        reply_release(&reply);
    }
    return NULL;
}

START_TEST(a_document_that_somebody_keeps_overwriting_differs)
{
    struct world w;
    struct program_result r;
    pthread_t thread;
    synced(&w, 300);
    struct overwriter o = {.url = w.service.url};
    document_becomes(&w, 5, ",\"title\":\"bad\"", 200);
    ck_assert_int_eq(pthread_create(&thread, NULL, overwrite, &o), 0);
    verify(&w, 4, &r);
    __atomic_store_n(&o.stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    counts(&r, 0, 0, 1);
    ck_assert_int_eq(program_json_int(&r, "waiting"), 0);
    expect(r.out, "\"key\":\"5\"");
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(an_interrupted_one_does_not_say_equal)
{
    struct world w;
    struct program p;
    struct program_result r;
    synced(&w, 3000);
    world_hold(&w, "_mget");
    rowferry_start(&p, w.config, "verify", NULL);
    world_await_held(&w);
    program_signal(&p, SIGINT);
    world_unfault(&w);
    program_finish(&p, VERIFY_MS, &r);
    ck_assert_msg(r.exit_code == 6, "%.1500s%.1500s", r.out, r.err);
    expect(r.out, "articles: stopped, no difference so far; ");
    expect_not(r.out, "equal");
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(one_that_failed_is_logged_as_failed)
{
    struct world w;
    struct program_result r;
    synced(&w, 50);
    char *generation = live_index(&w);
    char path[300];
    snprintf(path, sizeof(path), "/%s", generation);
    index_does(&w, 200, "DELETE", path, NULL);
    rowferry_run(&r, w.config, "verify", NULL);
    ck_assert_msg(r.exit_code == 1, "%.1500s%.1500s", r.out, r.err);
    expect(r.err, "error event=verify_failed pipeline=articles class=");
    expect_not(r.err, "verify_ended");
    program_result_release(&r);
    free(generation);
    world_stop(&w);
}
END_TEST

START_TEST(a_repair_that_leaves_dead_letters_open_ends_with_3)
{
    struct world w;
    struct program_result r;
    synced(&w, 100);
    sql_exec(w.conn, "update articles set price = 'NaN' where source_id = 5");
    world_sync(&w, 3, &r);
    program_result_release(&r);
    document_goes(&w, 7);
    rowferry_run(&r, w.config, "verify", "--repair", NULL);
    ck_assert_msg(r.exit_code == 3, "%.1500s%.1500s", r.out, r.err);
    expect(r.out, "articles: 1 missing, 1 dead letter; ");
    program_result_release(&r);
    verify(&w, 3, &r);
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(a_program_gets_its_line_of_what_was_never_synced)
{
    struct world w;
    struct program_result r;
    world_start(&w, 10, NULL);
    world_install(&w);
    verify(&w, 1, &r);
    expect(r.out, "{\"pipeline\":\"articles\",");
    expect(r.out, "\"equal\":false");
    expect(r.out, "\"error\":\"it has not been synced yet\"}");
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

static void refused(struct world *w, const char *option, const char *value, const char *words)
{
    struct program_result r;
    rowferry_run(&r, w->config, "verify", option, value, NULL);
    ck_assert_msg(r.exit_code == 1 || r.exit_code == 2, "%d %s", r.exit_code, r.err);
    expect(r.err, words);
    expect_not(r.err, "order by");
    program_result_release(&r);
}

START_TEST(an_option_that_is_wrong_is_named)
{
    struct world w;
    synced(&w, 10);
    refused(&w, "--where", "source_id > 3 /*", "--where");
    refused(&w, "--where", "source_id > > 3", "--where: ");
    refused(&w, "--where", "nothing_such = 1", "--where: ");
    refused(&w, "--allow-deletes", NULL, "option \"--allow-deletes\" needs \"--repair\"");
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/verify_verdict", rows_that_wait_are_not_called_equal_and_hide_no_lost_document,
           what_the_guard_holds_back_is_not_called_equal,
           a_repair_that_the_guard_keeps_from_being_sent_says_so,
           a_document_that_somebody_keeps_overwriting_differs,
           an_interrupted_one_does_not_say_equal, one_that_failed_is_logged_as_failed,
           a_repair_that_leaves_dead_letters_open_ends_with_3,
           a_program_gets_its_line_of_what_was_never_synced, an_option_that_is_wrong_is_named)
