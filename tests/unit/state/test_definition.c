/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions by fingerprint, and extensions of a live generation. */
#include "rowferry/state/definition.h"

#include <stdlib.h>

#include "statefile.h"

#define NEVER_USED 200

static void expect_words(struct state *s, const char *fingerprint, const char *words)
{
    struct err err = {0};
    char *found;
    OK(definition_look(s, fingerprint, &found, &err));
    if (words == NULL) {
        ck_assert_ptr_null(found);
    } else {
        ck_assert_ptr_nonnull(found);
        ck_assert_str_eq(found, words);
    }
    free(found);
}

static void expect_lacking(struct state *s, const char *generation, const char *properties,
                           int64_t since_us)
{
    struct err err = {0};
    struct lacking lacking;
    OK(definition_extension_look(s, generation, &lacking, &err));
    if (properties == NULL) {
        ck_assert_ptr_null(lacking.properties);
    } else {
        ck_assert_ptr_nonnull(lacking.properties);
        ck_assert_str_eq(lacking.properties, properties);
    }
    ck_assert_int_eq(lacking.since_us, since_us);
    free(lacking.properties);
}

static void extend(struct state *s, const char *property, int64_t wall_us)
{
    struct err err = {0};
    const struct extension e = {"mapping 2", "table 2", &property, 1, wall_us};
    OK(definition_extension_note(s, &e, &err));
}

START_TEST(words_are_kept_as_long_as_a_pipeline_is_of_them)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    char name[32];
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1); /* of mapping and table "articles-1" */
    expect_words(s, "articles-1", NULL);
    OK(definition_note(s, "articles-1", "where published", &err));
    OK(definition_note(s, "articles-1", "other words of the same", &err));
    expect_words(s, "articles-1", "where published");
    for (int i = 0; i < NEVER_USED; i++) {
        snprintf(name, sizeof(name), "of nobody %d", i);
        OK(definition_note(s, name, name, &err));
    }
    expect_words(s, "articles-1", "where published");
    expect_words(s, "of nobody 0", NULL);
    expect_words(s, name, name);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(what_is_extended_keeps_position_and_letters_and_is_remembered_of_its_generation)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct checkpoint c;
    struct state *s = statefile_open(&f, "articles");
    const struct new_letter letter = {.key = span_of("7"), .reason = span_of("no"), .version = 3};
    statefile_begin(s, 1);
    OK(checkpoint_settle(
        s, &(struct settlement){.position = "5:5:", .letters = &letter, .letter_count = 1}, &err));
    OK(checkpoint_raise_ceiling(s, 77, &err));
    OK(checkpoint_go_live(s, 1, &err));
    expect_lacking(s, "articles-1", NULL, 0);
    extend(s, "title.raw", 10);
    extend(s, "body", 20);
    extend(s, "body", 30); /* again, after a crash */
    state_close(s);
    s = statefile_open(&f, "articles");
    expect_lacking(s, "articles-1", "body, title.raw", 10);
    expect_lacking(s, "articles-2", NULL, 0);
    OK(checkpoint_load(s, &c, &err));
    ck_assert_str_eq(c.mapping_fingerprint, "mapping 2");
    ck_assert_str_eq(c.table_fingerprint, "table 2");
    ck_assert_str_eq(c.position, "5:5:");
    ck_assert_int_eq(c.clock_ceiling, 77);
    checkpoint_release(&c);
    ck_assert_int_eq(statefile_letters(s), 1);
    statefile_begin(s, 2);
    OK(checkpoint_go_live(s, 40, &err));
    expect_lacking(s, "articles-2", NULL, 0);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(only_what_is_live_is_extended)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    const char *property = "body";
    const struct extension e = {"mapping 2", "table 2", &property, 1, 5};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    ck_assert_int_eq(definition_extension_note(s, &e, &err), ERR_STATE);
    expect_lacking(s, "articles-1", NULL, 0);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/definition", words_are_kept_as_long_as_a_pipeline_is_of_them,
           what_is_extended_keeps_position_and_letters_and_is_remembered_of_its_generation,
           only_what_is_live_is_extended)
