/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of an index, page by page: exact to the byte, and an incomplete list is never accepted. */
#include "rowferry/service/index/scan.h"

#include "fixture.h"
#include "suite.h"

static void scan_once(const char *body, struct span after, struct scan_page *page, int wanted,
                      struct fixture *f)
{
    static char text[ANSWER_BYTES];
    static const char *answers[] = {text, NULL};
    answer_of(text, 200, body);
    *f = (struct fixture){0};
    start(f, answers, SIZE_MAX);
    scan_page_init(page);
    ck_assert_int_eq(scan_next(f->service, "shop", after, page, &f->err), wanted);
}

static void done(struct fixture *f, struct scan_page *page)
{
    scan_page_release(page);
    stop(f);
}

START_TEST(keys_are_returned_byte_for_byte)
{
    struct fixture f;
    struct scan_page page;
    scan_once("{\"timed_out\":false,\"_shards\":{\"failed\":0},\"hits\":{\"hits\":["
              "{\"sort\":[\"a\\nb\\u0001\\\"\\\\\\t\"]},{\"sort\":[\"\\uD83D\\uDE00\",42]},"
              "{\"sort\":[\"\"]}]}}",
              span_make(NULL, 0), &page, 0, &f);
    ck_assert_uint_eq(page.keys.count, 3);
    ck_assert(span_is(scan_list_get(&page.keys, 0), "a\nb\x01\"\\\t"));
    ck_assert(span_is(scan_list_get(&page.keys, 1), "\xf0\x9f\x98\x80"));
    ck_assert(span_is(scan_list_get(&page.keys, 2), ""));
    ck_assert(page.last);
    ck_assert_ptr_null(strstr(f.server->request, "search_after"));
    done(&f, &page);
}
END_TEST

START_TEST(the_next_page_starts_after_the_last_key)
{
    struct fixture f;
    struct scan_page page;
    scan_once("{\"timed_out\":false,\"_shards\":{\"failed\":0}}", span_make("x\"\n", 3), &page, 0,
              &f);
    ck_assert_uint_eq(page.keys.count, 0);
    ck_assert(page.last);
    ck_assert_ptr_nonnull(strstr(f.server->request, "\"search_after\":[\"x\\\"\\n\"]"));
    done(&f, &page);
}
END_TEST

START_TEST(documents_without_a_source_id_end_the_list)
{
    struct fixture f;
    struct scan_page page;
    scan_once("{\"timed_out\":false,\"hits\":{\"hits\":[{\"sort\":[\"a\"]},{\"sort\":[null]}]}}",
              span_make(NULL, 0), &page, 0, &f);
    ck_assert_uint_eq(page.keys.count, 1);
    ck_assert(page.last);
    done(&f, &page);
}
END_TEST

START_TEST(an_answer_of_some_shards_is_refused)
{
    static const char *const partial[] = {
        "{\"timed_out\":true,\"_shards\":{\"failed\":0},\"hits\":{\"hits\":[]}}",
        "{\"timed_out\":false,\"_shards\":{\"failed\":1},\"hits\":{\"hits\":[]}}",
        "{}",
        "{\"timed_out\":false,\"hits\":{\"hits\":[{\"sort\":[\"a",
    };
    for (size_t i = 0; i < sizeof(partial) / sizeof(partial[0]); i++) {
        struct fixture f;
        struct scan_page page;
        scan_once(partial[i], span_make(NULL, 0), &page, ERR_TRANSIENT, &f);
        done(&f, &page);
    }
}
END_TEST

START_TEST(a_key_that_is_too_long_is_reported)
{
    static char body[32768];
    struct fixture f;
    struct scan_page page;
    snprintf(body, sizeof(body),
             "{\"timed_out\":false,\"hits\":{\"hits\":[{\"sort\":[\"%0*d\"]}]}}", 20000, 7);
    scan_once(body, span_make(NULL, 0), &page, ERR_REJECTED, &f);
    ck_assert_ptr_nonnull(strstr(f.err.message, "longer than a key"));
    done(&f, &page);
}
END_TEST

SUITE_MAIN("service/scan", keys_are_returned_byte_for_byte, the_next_page_starts_after_the_last_key,
           documents_without_a_source_id_end_the_list, an_answer_of_some_shards_is_refused,
           a_key_that_is_too_long_is_reported)
