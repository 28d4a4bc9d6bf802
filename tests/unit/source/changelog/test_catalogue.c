/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue: what is asked of the source, and which differences from the recorded state are
 * gaps in the log. */
#include "changelog/catalogue.h"

#include <string.h>

#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "suite.h"

static char table_quoted[] = "\"public\".\"note\"";
static char definition[] = "";
static char triggers[] = "5 t public.note\n6 t public.part\n";
static char joined[] = "5 t public.note\n6 t public.part\n7 t public.new\n";
static char left[] = "5 t public.note\n";
static char disabled[] = "5 f public.note\n6 t public.part\n";

struct fixture {
    struct pg pg;
    struct table table;
    struct changelog_options options;
    struct catalogue catalogue;
    struct page_look look;
    struct err err;
};

static struct fixture *unchanged(void)
{
    struct fixture *f = mem_zero(1, sizeof(*f));
    struct catalogue *c = &f->catalogue;
    f->table.quoted = table_quoted;
    catalogue_init(c, &f->pg, &f->options);
    c->table = &f->table;
    c->consumer.definition = definition;
    c->consumer.triggers = triggers;
    f->look.same_table = true;
    f->look.definition = definition;
    f->look.triggers = triggers;
    f->look.snapshot = triggers;
    return f;
}

static int check(struct fixture *f, const char *last)
{
    return catalogue_check(&f->catalogue, &f->look, last, &f->err);
}

static void release(struct fixture *f)
{
    buf_release(&f->catalogue.watched);
    buf_release(&f->catalogue.types);
    buf_release(&f->catalogue.lock);
    buf_release(&f->catalogue.due);
    free(f);
}

START_TEST(an_unchanged_table_has_no_gap)
{
    struct fixture *f = unchanged();
    ck_assert_int_eq(check(f, NULL), 0);
    ck_assert_int_eq(f->catalogue.gap, GAP_NONE);
    release(f);
}
END_TEST

START_TEST(a_member_that_left_needs_a_reconcile_and_one_that_joined_a_new_look_up)
{
    struct fixture *f = unchanged();
    f->look.triggers = left;
    ck_assert_int_eq(check(f, NULL), 0);
    ck_assert_int_eq(f->catalogue.gap, GAP_MEMBER_LEFT);
    f->look.triggers = joined;
    ck_assert_int_eq(check(f, NULL), ERR_TRANSIENT);
    ck_assert_int_eq(f->catalogue.gap, GAP_MEMBER_JOINED);
    release(f);
}
END_TEST

START_TEST(changed_triggers_may_have_missed_changes)
{
    struct fixture *f = unchanged();
    f->look.triggers = disabled;
    ck_assert_int_eq(check(f, NULL), ERR_TRANSIENT);
    ck_assert_int_eq(f->catalogue.gap, GAP_MISSED);
    release(f);
}
END_TEST

START_TEST(another_table_of_the_same_name_is_drift)
{
    struct fixture *f = unchanged();
    f->look.same_table = false;
    ck_assert_int_eq(check(f, NULL), ERR_STATE);
    ck_assert_int_eq(f->catalogue.gap, GAP_NONE);
    release(f);
}
END_TEST

START_TEST(a_standby_must_have_replayed_what_was_read_before)
{
    static char earlier[] = "10:20:";
    static char later[] = "30:30:";
    struct fixture *f = unchanged();
    f->look.in_recovery = true;
    ck_assert_int_eq(check(f, "20:25:"), ERR_TRANSIENT); /* promoted, or not a standby before */
    f->pg.in_recovery = true;
    f->look.snapshot = earlier;
    ck_assert_int_eq(check(f, "20:25:"), ERR_TRANSIENT);
    ck_assert_int_eq(check(f, NULL), 0);
    f->look.snapshot = later;
    ck_assert_int_eq(check(f, "20:25:"), 0);
    release(f);
}
END_TEST

START_TEST(all_columns_are_watched_if_there_is_a_condition)
{
    struct fixture *f = unchanged();
    const struct position at = {.kind = POSITION_LOG};
    buf_push_literal(&f->catalogue.watched, "{\"id\"}");
    ck_assert_str_eq(catalogue_request(&f->catalogue, NULL).columns, "{\"id\"}");
    f->options.where = "true";
    struct page_request r = catalogue_request(&f->catalogue, &at);
    ck_assert_ptr_null(r.columns);
    ck_assert_ptr_eq(r.at, &at);
    ck_assert_ptr_null(r.lock);
    release(f);
}
END_TEST

START_TEST(facts_are_those_of_all_consumers)
{
    static char why[] = "no right";
    struct fixture *f = unchanged();
    struct depend items[2] = {{.consumer = {.horizon = 9, .more = true}},
                              {.consumer = {.horizon = 4, .unpruned = why}}};
    f->catalogue.consumer.horizon = 7;
    f->catalogue.depends = (struct depends){.items = items, .count = 2};
    struct catalogue_facts facts = catalogue_facts(&f->catalogue);
    ck_assert_uint_eq(facts.horizon, 9);
    ck_assert(facts.more);
    ck_assert(!facts.keeps);
    ck_assert_str_eq(facts.unpruned, why);
    ck_assert_ptr_eq(catalogue_consumer(&f->catalogue, 2), &items[1].consumer);
    ck_assert_ptr_null(catalogue_consumer(&f->catalogue, 3));
    release(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source/catalogue");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, an_unchanged_table_has_no_gap);
    tcase_add_test(tcase, a_member_that_left_needs_a_reconcile_and_one_that_joined_a_new_look_up);
    tcase_add_test(tcase, changed_triggers_may_have_missed_changes);
    tcase_add_test(tcase, another_table_of_the_same_name_is_drift);
    tcase_add_test(tcase, a_standby_must_have_replayed_what_was_read_before);
    tcase_add_test(tcase, all_columns_are_watched_if_there_is_a_condition);
    tcase_add_test(tcase, facts_are_those_of_all_consumers);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
