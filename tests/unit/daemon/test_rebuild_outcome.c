/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of a rebuild, and the answer to the process that requested it. */
#include "rowferry/daemon/rebuild_outcome.h"

#include <string.h>

#include "suite.h"

static struct rebuild_result result(const char *former)
{
    struct rebuild_result r = {.rows = 10,
                               .documents = 9,
                               .dead_letters = 1,
                               .removed = 2,
                               .generation = "shop-000002",
                               .swapped = true,
                               .checked = {.rows = 4},
                               .counters = {.upserts = 8, .deletes = 3, .rejected = 1}};
    strcpy(r.former, former);
    return r;
}

static struct rebuild_outcome filled(const char *former, enum rebuild_kind kind, int64_t keep)
{
    const struct rebuild_result r = result(former);
    struct rebuild_outcome o;
    rebuild_outcome_fill(&o, kind, keep, &r);
    return o;
}

START_TEST(a_former_generation_is_kept_if_the_configuration_says_so)
{
    ck_assert(!filled("shop-000001", REBUILD_NEW, 0).kept);
    ck_assert(filled("shop-000001", REBUILD_NEW, 1).kept);
    ck_assert(!filled("", REBUILD_NEW, 1).kept);
}
END_TEST

START_TEST(an_index_that_was_adopted_is_always_kept)
{
    struct rebuild_outcome o = filled("shop-before-rowferry", REBUILD_NEW, 0);
    ck_assert(o.adopted && o.kept);
    o = filled("-before-rowferry", REBUILD_NEW, 0);
    ck_assert(!o.adopted && !o.kept);
    o = filled("shop-before-rowferry-1", REBUILD_NEW, 0);
    ck_assert(!o.adopted);
}
END_TEST

START_TEST(a_rollback_has_a_kind_of_its_own)
{
    ck_assert_int_eq(filled("a", REBUILD_NEW, 0).kind, REBUILD_OUTCOME_NEW);
    ck_assert_int_eq(filled("a", REBUILD_BACK, 0).kind, REBUILD_OUTCOME_BACK);
}
END_TEST

START_TEST(a_failed_rebuild_shows_its_progress_and_no_former_generation)
{
    const struct rebuild_result r = result("shop-000001");
    struct rebuild_outcome o;
    rebuild_outcome_fill_failed(&o, &r);
    ck_assert_int_eq(o.kind, REBUILD_OUTCOME_NOTHING);
    ck_assert_str_eq(o.former, "");
    ck_assert_int_eq(o.upserts, 8);
}
END_TEST

START_TEST(an_abort_removes_the_next_generation_and_keeps_a_former_one)
{
    struct rebuild_aborted aborted = {.any = true, .kind = REBUILD_NEW, .generation = "shop-2"};
    struct rebuild_outcome o;
    rebuild_outcome_fill_aborted(&o, &aborted);
    ck_assert_int_eq(o.kind, REBUILD_OUTCOME_ABORTED);
    ck_assert_str_eq(o.generation, "shop-2");
    ck_assert(!o.kept);
    aborted.kind = REBUILD_BACK;
    rebuild_outcome_fill_aborted(&o, &aborted);
    ck_assert_str_eq(o.former, "shop-2");
    ck_assert(o.kept);
    aborted = (struct rebuild_aborted){0};
    rebuild_outcome_fill_aborted(&o, &aborted);
    ck_assert_int_eq(o.kind, REBUILD_OUTCOME_NOTHING);
}
END_TEST

START_TEST(an_answer_is_read_as_it_was_written)
{
    struct rebuild_outcome written = filled("shop-before-rowferry", REBUILD_NEW, 0);
    struct rebuild_outcome read;
    for (int kind = REBUILD_OUTCOME_NOTHING; kind <= REBUILD_OUTCOME_ABORTED; kind++) {
        struct buf text;
        buf_init(&text, 4096);
        written.kind = (enum rebuild_outcome_kind)kind;
        rebuild_outcome_push_answer(&text, &written);
        ck_assert(rebuild_outcome_read_answer(&read, buf_text(&text)));
        ck_assert_int_eq(read.kind, written.kind);
        ck_assert_str_eq(read.generation, written.generation);
        ck_assert_str_eq(read.former, written.former);
        ck_assert(read.kept && read.adopted);
        ck_assert_int_eq(read.rows, 10);
        ck_assert_int_eq(read.documents, 9);
        ck_assert_int_eq(read.checked, 4);
        ck_assert_int_eq(read.upserts, 8);
        ck_assert_int_eq(read.deletes, 3);
        ck_assert_int_eq(read.rejected, 1);
        ck_assert_int_eq(read.dead_letters, 1);
        ck_assert_int_eq(read.removed, 2);
        buf_release(&text);
    }
}
END_TEST

START_TEST(a_text_that_is_not_an_answer_is_recognized)
{
    static const char *const texts[] = {"", "{}", "[]", "{\"action\":\"flown\"}", "{\"action\":1}"};
    struct rebuild_outcome o;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ck_assert(!rebuild_outcome_read_answer(&o, texts[i]));
        ck_assert_int_eq(o.kind, REBUILD_OUTCOME_NOTHING);
        ck_assert_str_eq(o.generation, "");
    }
}
END_TEST

SUITE_MAIN("daemon/rebuild_outcome", a_former_generation_is_kept_if_the_configuration_says_so,
           an_index_that_was_adopted_is_always_kept, a_rollback_has_a_kind_of_its_own,
           a_failed_rebuild_shows_its_progress_and_no_former_generation,
           an_abort_removes_the_next_generation_and_keeps_a_former_one,
           an_answer_is_read_as_it_was_written, a_text_that_is_not_an_answer_is_recognized)
