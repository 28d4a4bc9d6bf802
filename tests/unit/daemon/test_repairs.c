/* SPDX-License-Identifier: Apache-2.0 */
/* Which differences are repaired, and when the delete guard forbids it. */
#include "rowferry/daemon/repairs.h"

#include <stdio.h>

#include "rowferry/base/text.h"
#include "suite.h"

static struct verify_found found(enum verify_kind kind, const char *key)
{
    return (struct verify_found){.kind = kind, .key = span_make(key, strlen(key))};
}

static void expect_keys(const struct repair_keys *k, const char *expected)
{
    char text[256] = "";
    struct span key;
    for (size_t at = 0; repairs_keys_next(k, &at, &key);) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof(text) - len, "%.*s,", (int)key.len, key.data);
    }
    ck_assert_str_eq(text, expected);
}

START_TEST(rows_are_sent_again_and_extra_documents_are_deleted)
{
    static const enum verify_kind kinds[] = {VERIFY_MISSING, VERIFY_EXTRA, VERIFY_ALTERED,
                                             VERIFY_LETTER};
    static const char *const keys[] = {"missing", "extra", "altered", "letter"};
    struct repairs r;
    repairs_init(&r);
    for (size_t i = 0; i < 4; i++) {
        const struct verify_found f = found(kinds[i], keys[i]);
        repairs_add(&r, false, &f);
    }
    expect_keys(&r.changed, "missing,altered,");
    expect_keys(&r.extra, "extra,");
    ck_assert_uint_eq(r.fixed + r.impossible, 0);
    repairs_reset(&r);
    expect_keys(&r.changed, "");
    repairs_release(&r);
}
END_TEST

START_TEST(an_id_that_no_row_can_have_is_counted_and_not_sent)
{
    struct verify_found f = found(VERIFY_EXTRA, "?");
    struct repairs r;
    repairs_init(&r);
    f.impossible = true;
    repairs_add(&r, false, &f);
    ck_assert_uint_eq(r.impossible, 1);
    expect_keys(&r.extra, "");
    repairs_release(&r);
}
END_TEST

START_TEST(a_data_stream_only_gets_missing_documents)
{
    const struct verify_found missing = found(VERIFY_MISSING, "m");
    const struct verify_found extra = found(VERIFY_EXTRA, "e");
    const struct verify_found altered = found(VERIFY_ALTERED, "a");
    struct repairs r;
    repairs_init(&r);
    repairs_add(&r, true, &missing);
    repairs_add(&r, true, &extra);
    repairs_add(&r, true, &altered);
    expect_keys(&r.changed, "m,");
    expect_keys(&r.extra, "");
    ck_assert_uint_eq(r.fixed, 2);
    repairs_release(&r);
}
END_TEST

START_TEST(keys_over_the_maximum_are_left_for_the_next_run)
{
    static char key[1 << 20];
    struct verify_found f = {.kind = VERIFY_MISSING, .key = span_make(key, sizeof(key))};
    struct repairs r;
    struct span got;
    size_t at = 0;
    repairs_init(&r);
    for (int i = 0; i < 6; i++) {
        repairs_add(&r, false, &f);
    }
    ck_assert_uint_eq(r.changed.left_out, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert(repairs_keys_next(&r.changed, &at, &got));
        ck_assert_uint_eq(got.len, sizeof(key));
    }
    ck_assert(!repairs_keys_next(&r.changed, &at, &got));
    repairs_release(&r);
}
END_TEST

START_TEST(the_guard_passes_few_deletes_by_count_or_by_share)
{
    const struct delete_guard_config guard = {.share = 0.1, .count = 5};
    struct verify_result r = {.documents = 100};
    r.found[VERIFY_EXTRA] = 5;
    ck_assert(repairs_guard_passes(&guard, &r));
    r.found[VERIFY_EXTRA] = 10;
    ck_assert(repairs_guard_passes(&guard, &r));
    r.found[VERIFY_EXTRA] = 11;
    ck_assert(!repairs_guard_passes(&guard, &r));
}
END_TEST

START_TEST(no_extra_document_is_deleted_while_the_guard_has_stopped_the_pipeline)
{
    const struct delete_guard_config guard = {.share = 1, .count = 1000};
    struct verify_result r = {.documents = 100, .halted = true};
    ck_assert(repairs_guard_passes(&guard, &r));
    r.found[VERIFY_EXTRA] = 1;
    ck_assert(!repairs_guard_passes(&guard, &r));
}
END_TEST

START_TEST(an_index_looks_restored_if_many_rows_differ_and_its_newest_document_is_old)
{
    struct verify_result r = {.newest_us = 1, .settled_us = 60000002};
    r.found[VERIFY_MISSING] = 6;
    r.found[VERIFY_ALTERED] = 4;
    ck_assert(repairs_look_restored(&r));
    r.settled_us = 60000001;
    ck_assert(!repairs_look_restored(&r));
    r.settled_us = INT64_C(600000000);
    r.newest_us = 0; /* unknown */
    ck_assert(!repairs_look_restored(&r));
    r.newest_us = 1;
    r.found[VERIFY_ALTERED] = 3;
    ck_assert(!repairs_look_restored(&r));
}
END_TEST

SUITE_MAIN("daemon/repairs", rows_are_sent_again_and_extra_documents_are_deleted,
           an_id_that_no_row_can_have_is_counted_and_not_sent,
           a_data_stream_only_gets_missing_documents,
           keys_over_the_maximum_are_left_for_the_next_run,
           the_guard_passes_few_deletes_by_count_or_by_share,
           no_extra_document_is_deleted_while_the_guard_has_stopped_the_pipeline,
           an_index_looks_restored_if_many_rows_differ_and_its_newest_document_is_old)
