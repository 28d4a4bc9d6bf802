/* SPDX-License-Identifier: Apache-2.0 */
/* A refused secret is read again, by only one of its users. */
#include "rowferry/base/rotating_secret.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "suite.h"

struct place {
    const char *text; /* null: cannot be read */
    int reads;
    bool dropped;
};

static char *read_place(const void *origin)
{
    struct place *p = *(struct place *const *)origin;
    p->reads++;
    return p->text != NULL ? text_copy(p->text) : NULL;
}

static void drop_place(void *origin)
{
    (*(struct place **)origin)->dropped = true;
    free(origin);
}

static struct rotating_secret *renewal_of(struct place *p)
{
    struct place **origin = malloc(sizeof(struct place *));
    ck_assert_ptr_nonnull(origin);
    *origin = p;
    return rotating_secret_new("first", read_place, origin, drop_place);
}

static void expect_taken(struct rotating_secret *r, const char *expected)
{
    char *text = rotating_secret_take(r, NULL);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(the_text_that_stays_is_no_other_one)
{
    struct place p = {.text = "first"};
    struct rotating_secret *r = renewal_of(&p);
    char *mine = rotating_secret_take(r, NULL);
    ck_assert(!rotating_secret_replace(r, &mine));
    ck_assert_str_eq(mine, "first");
    p.text = NULL;
    ck_assert(!rotating_secret_replace(r, &mine));
    ck_assert_int_eq(p.reads, 2);
    free(mine);
    rotating_secret_drop(r);
    ck_assert(p.dropped);
}
END_TEST

START_TEST(who_is_refused_late_gets_what_another_one_read)
{
    struct place p = {.text = "second"};
    struct rotating_secret *r = renewal_of(&p);
    char *mine = rotating_secret_take(r, NULL);
    char *theirs = rotating_secret_take(r, NULL);
    ck_assert(rotating_secret_replace(r, &mine));
    ck_assert(rotating_secret_replace(r, &theirs));
    ck_assert_str_eq(mine, "second");
    ck_assert_str_eq(theirs, "second");
    ck_assert_int_eq(p.reads, 1);
    expect_taken(r, "second");
    free(mine);
    free(theirs);
    rotating_secret_drop(r);
}
END_TEST

START_TEST(it_lives_as_long_as_one_uses_it)
{
    struct place p = {.text = "second"};
    struct rotating_secret *r = renewal_of(&p);
    ck_assert_ptr_eq(rotating_secret_hold(r), r);
    rotating_secret_drop(r);
    ck_assert(!p.dropped);
    expect_taken(r, "first");
    rotating_secret_drop(r);
    ck_assert(p.dropped);
}
END_TEST

START_TEST(a_fresh_one_is_read_whenever_it_is_taken)
{
    struct place p = {.text = "second"};
    struct rotating_secret *r = renewal_of(&p);
    rotating_secret_set_fresh(r);
    expect_taken(r, "second");
    p.text = "third";
    expect_taken(r, "third");
    ck_assert_int_eq(p.reads, 2);
    p.text = NULL;
    expect_taken(r, "third");
    rotating_secret_drop(r);
}
END_TEST

START_TEST(none_has_its_fallback_and_no_other_text)
{
    char *mine = rotating_secret_take(NULL, "mine");
    ck_assert_str_eq(mine, "mine");
    ck_assert(!rotating_secret_replace(NULL, &mine));
    ck_assert_ptr_null(rotating_secret_take(NULL, NULL));
    ck_assert_ptr_null(rotating_secret_hold(NULL));
    rotating_secret_drop(NULL);
    free(mine);
}
END_TEST

SUITE_MAIN("base/rotating_secret", the_text_that_stays_is_no_other_one,
           who_is_refused_late_gets_what_another_one_read, it_lives_as_long_as_one_uses_it,
           a_fresh_one_is_read_whenever_it_is_taken, none_has_its_fallback_and_no_other_text)
