/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a rebuild, where it ran and where it was requested. */
#include "output/rebuild_report.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "rowferry/daemon/rebuild_arguments.h"
#include "suite.h"

static struct rebuild_outcome some(void)
{
    struct rebuild_result result = {.rows = 63666, .documents = 63666, .removed = 2};
    struct rebuild_outcome r;
    result.checked.rows = 1000;
    result.counters.upserts = 63670;
    snprintf(result.generation, sizeof(result.generation), "shop-articles-20261122-2");
    snprintf(result.former, sizeof(result.former), "shop-articles-20261122-1");
    rebuild_outcome_fill(&r, REBUILD_NEW, 1, &result);
    return r;
}

static void expect(const struct rebuild_outcome *r, const struct rebuild_report_end *end,
                   const char *expected)
{
    struct buf out;
    buf_init(&out, 4096);
    rebuild_report_push(&out, false, r, end);
    ck_assert_str_eq(buf_text(&out), expected);
    buf_release(&out);
}

START_TEST(the_line_says_what_is_live_checked_and_kept)
{
    struct rebuild_outcome r = some();
    const struct rebuild_report_end end = {.pipeline = "articles", .took_ms = 12};
    expect(&r, &end,
           "articles: rebuilt as shop-articles-20261122-2 in 0.01 s: 63,666 documents, 0 dead "
           "letters; checked 1,000 of 63,666; shop-articles-20261122-1 is kept for --rollback\n");
    r.kind = REBUILD_OUTCOME_BACK;
    r.kept = false;
    r.rows = -1;
    r.dead_letters = 1;
    expect(&r, &end,
           "articles: rolled back to shop-articles-20261122-2 in 0.01 s: 63,666 documents, 1 dead "
           "letter; checked 1,000; shop-articles-20261122-1 is not kept\n"
           "articles: 1 dead letter open; see: rowferry deadletter list articles\n");
}
END_TEST

START_TEST(what_came_to_nothing_says_how_it_ended)
{
    struct err err;
    const struct rebuild_outcome none = {0};
    struct rebuild_report_end end = {.pipeline = "articles"};
    expect(&none, &end, "articles: no rebuild is under way\n");
    end.stopped = true;
    expect(&none, &end,
           "articles: stopped; rowferry reindex articles continues it, --abort removes it\n");
    end.back = true;
    expect(&none, &end,
           "articles: stopped; rowferry reindex --rollback articles continues it, --abort gives it "
           "up\n");
    end.asked = true;
    expect(&none, &end, "articles: left; the holder continues\n");
    err_set(&err, ERR_STATE, "refused");
    end =
        (struct rebuild_report_end){.pipeline = "articles", .err = &err, .exit_code = EXIT_FAILED};
    expect(&none, &end, "articles: not rebuilt\n");
    end.back = true;
    expect(&none, &end, "articles: not rolled back\n");
    end.abort = true;
    expect(&none, &end, "articles: not aborted\n");
}
END_TEST

static void expect_aborted(enum rebuild_kind kind, const char *generation, const char *expected)
{
    const struct rebuild_report_end end = {.pipeline = "articles", .abort = true};
    struct rebuild_aborted aborted = {.any = true, .kind = kind};
    struct rebuild_outcome r;
    struct rebuild_outcome read;
    struct buf answer;
    snprintf(aborted.generation, sizeof(aborted.generation), "%s", generation);
    rebuild_outcome_fill_aborted(&r, &aborted);
    expect(&r, &end, expected);
    buf_init(&answer, 4096);
    rebuild_outcome_push_answer(&answer, &r); /* the requesting command reports the same */
    ck_assert(rebuild_outcome_read_answer(&read, buf_text(&answer)));
    expect(&read, &end, expected);
    buf_release(&answer);
}

START_TEST(an_abort_says_what_is_gone_and_what_stays)
{
    expect_aborted(REBUILD_NEW, "shop-2", "articles: aborted, shop-2 is removed\n");
    expect_aborted(REBUILD_NEW, "", "articles: aborted, nothing was built yet\n");
    expect_aborted(REBUILD_BACK, "shop-1", "articles: aborted, shop-1 stays as it was: not live\n");
}
END_TEST

START_TEST(an_answer_tells_the_same_where_it_is_read)
{
    struct rebuild_outcome r = some();
    struct rebuild_outcome back;
    struct buf answer;
    r.dead_letters = 3;
    r.documents = -1;
    buf_init(&answer, 4096);
    rebuild_outcome_push_answer(&answer, &r);
    ck_assert(rebuild_outcome_read_answer(&back, buf_text(&answer)));
    ck_assert_str_eq(back.generation, r.generation);
    ck_assert_str_eq(back.former, r.former);
    ck_assert(back.kind == r.kind && back.kept == r.kept && back.rows == r.rows);
    ck_assert(back.documents == -1 && back.dead_letters == 3 && back.removed == 2);
    ck_assert(back.checked == 1000 && back.upserts == 63670);
    ck_assert(!rebuild_outcome_read_answer(&back, "{\"action\":\"danced\"}"));
    ck_assert(!rebuild_outcome_read_answer(&back, "nothing"));
    buf_release(&answer);
}
END_TEST

static bool same(const struct pipeline_config *asked, const struct pipeline_config *holder)
{
    struct buf arguments;
    struct rebuild_terms terms = {.adopt = true};
    buf_init(&arguments, 4096);
    rebuild_arguments_push(&arguments, asked, &terms);
    bool is = rebuild_arguments_read(buf_text(&arguments), holder, &terms);
    ck_assert(terms.adopt && !terms.allow_deletes);
    terms = (struct rebuild_terms){.allow_deletes = true};
    buf_reset(&arguments);
    rebuild_arguments_push(&arguments, asked, &terms);
    ck_assert_int_eq(is, rebuild_arguments_read(buf_text(&arguments), holder, &terms));
    ck_assert(!terms.adopt && terms.allow_deletes);
    buf_release(&arguments);
    return is;
}

START_TEST(a_request_is_known_to_be_of_another_configuration)
{
    char mapping[] = "{\"properties\":{}}";
    char other[] = "{\"properties\":{\"a\":{\"type\":\"long\"}}}";
    char table[] = "a";
    char where[] = "b";
    struct pipeline_config p = {.to = {.index = table, .mappings = mapping},
                                .from = {.table = table}};
    struct pipeline_config q = p;
    ck_assert(same(&p, &q));
    q.limits.in_flight = 7; /* does not change any document */
    ck_assert(same(&p, &q));
    q.to.mappings = other;
    ck_assert(!same(&p, &q));
    q = p;
    q.from.where = where;
    ck_assert(!same(&p, &q));
    q = p;
    q.from.query = where;
    p.from.where = where;
    ck_assert(!same(&p, &q)); /* the same content under another key */
}
END_TEST

SUITE_MAIN("cli/rebuild_report", the_line_says_what_is_live_checked_and_kept,
           what_came_to_nothing_says_how_it_ended, an_abort_says_what_is_gone_and_what_stays,
           an_answer_tells_the_same_where_it_is_read,
           a_request_is_known_to_be_of_another_configuration)
