/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a change log: the copy shares nothing with the original and has the defaults. */
#include <string.h>

#include "changelog/changelog_private.h"
#include "suite.h"

START_TEST(a_copy_shares_no_text_with_the_original)
{
    char table[] = "public.note";
    char key[] = "id";
    char keys_sql[] = "select 1";
    char *dependency_key[] = {key};
    const char *const columns[] = {table, key};
    const struct dependency dependency = {table, dependency_key, 1, keys_sql};
    const struct changelog_options from = {.consumer = "one",
                                           .table = table,
                                           .key = (const char *const *)dependency_key,
                                           .key_count = 1,
                                           .dependencies = &dependency,
                                           .dependency_count = 1,
                                           .columns = columns,
                                           .column_count = 2,
                                           .page_rows = 7,
                                           .retain_age_ms = 9};
    struct changelog_options *copy = changelog_options_copy(&from);
    memset(table, 'x', sizeof(table) - 1);
    memset(key, 'x', sizeof(key) - 1);
    memset(keys_sql, 'x', sizeof(keys_sql) - 1);
    ck_assert_str_eq(copy->consumer, "one");
    ck_assert_str_eq(copy->table, "public.note");
    ck_assert_str_eq(copy->key[0], "id");
    ck_assert_str_eq(copy->columns[0], "public.note");
    ck_assert_str_eq(copy->columns[1], "id");
    ck_assert_str_eq(copy->dependencies[0].table, "public.note");
    ck_assert_str_eq(copy->dependencies[0].key[0], "id");
    ck_assert_str_eq(copy->dependencies[0].keys, "select 1");
    ck_assert_ptr_null(copy->where);
    ck_assert_ptr_null(copy->query);
    ck_assert_uint_eq(copy->page_rows, 7);
    ck_assert_int_eq(copy->retain_age_ms, 9);
    changelog_options_free(copy);
    changelog_options_free(NULL);
}
END_TEST

START_TEST(sizes_that_are_not_set_have_defaults)
{
    const struct changelog_options from = {.consumer = "one", .table = "note"};
    struct changelog_options *copy = changelog_options_copy(&from);
    ck_assert_uint_eq(copy->page_rows, 5000);
    ck_assert_uint_eq(copy->page_blocks, 1024);
    ck_assert_uint_eq(copy->chunk_bytes, 1 << 20);
    ck_assert_int_eq(copy->retain_size, 0);
    changelog_options_free(copy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source/changelog_options");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, a_copy_shares_no_text_with_the_original);
    tcase_add_test(tcase, sizes_that_are_not_set_have_defaults);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
