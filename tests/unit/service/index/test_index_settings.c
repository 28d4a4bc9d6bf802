/* SPDX-License-Identifier: Apache-2.0 */
/* Index settings in every spelling, while a generation is filled and after it is finished. */
#include "index/index_private.h"

#include "suite.h"

static void check(const char *configured, const char *filling, const char *finished)
{
    struct buf out;
    struct err err;
    buf_init(&out, 4096);
    ck_assert_int_eq(index_settings_filling(&out, configured, &err), 0);
    ck_assert_str_eq(buf_text(&out), filling);
    buf_reset(&out);
    ck_assert_int_eq(index_settings_finished(&out, configured, &err), 0);
    ck_assert_str_eq(buf_text(&out), finished);
    buf_release(&out);
}

#define FILLING "\"index.refresh_interval\":\"-1\",\"index.number_of_replicas\":0"
#define DELETES "\"index.gc_deletes\":\"1h\""
#define DEFAULT "{\"index\":{\"refresh_interval\":null,\"number_of_replicas\":null}}"
#define FIVE "{\"index\":{\"refresh_interval\":\"5s\",\"number_of_replicas\":null}}"

START_TEST(missing_settings_are_added)
{
    check(NULL, "{" FILLING "," DELETES "}", DEFAULT);
    check("{}", "{" FILLING "," DELETES "}", DEFAULT);
    check("{\"number_of_shards\": 3}", "{\"number_of_shards\":3," FILLING "," DELETES "}", DEFAULT);
}
END_TEST

START_TEST(the_configured_refresh_interval_waits_for_the_end)
{
    check("{\"refresh_interval\":\"5s\"}", "{" FILLING "," DELETES "}", FIVE);
    check("{\"index.refresh_interval\":\"5s\"}", "{" FILLING "," DELETES "}", FIVE);
    check("{\"index\":{\"refresh_interval\":\"5s\",\"number_of_shards\":3}}",
          "{\"index\":{\"number_of_shards\":3}," FILLING "," DELETES "}", FIVE);
    check("{\"refresh_interval\":-1}", "{" FILLING "," DELETES "}",
          "{\"index\":{\"refresh_interval\":-1,\"number_of_replicas\":null}}");
}
END_TEST

START_TEST(the_configured_replicas_wait_for_the_end)
{
    static const char *const spelt[] = {"{\"number_of_replicas\":2}",
                                        "{\"index.number_of_replicas\":2}",
                                        "{\"index\":{\"number_of_replicas\":2}}"};
    static const char *const filling[] = {"{" FILLING "," DELETES "}", "{" FILLING "," DELETES "}",
                                          "{\"index\":{}," FILLING "," DELETES "}"};
    for (size_t i = 0; i < 3; i++) {
        check(spelt[i], filling[i],
              "{\"index\":{\"refresh_interval\":null,\"number_of_replicas\":2}}");
    }
    check("{\"number_of_replicas\":1,\"index.number_of_replicas\":2,\"index\":{"
          "\"number_of_replicas\":3}}",
          "{\"index\":{}," FILLING "," DELETES "}",
          "{\"index\":{\"refresh_interval\":null,\"number_of_replicas\":2}}");
}
END_TEST

#define SHUT "\"index.auto_expand_replicas\":\"false\""
#define EXPANDED                                                                                   \
    "{\"index\":{\"refresh_interval\":null,\"number_of_replicas\":null,"                           \
    "\"auto_expand_replicas\":\"0-1\"}}"

START_TEST(auto_expanded_replicas_wait_too)
{
    check("{\"auto_expand_replicas\":\"0-1\"}", "{" FILLING "," SHUT "," DELETES "}", EXPANDED);
    check("{\"index.auto_expand_replicas\":\"0-1\"}", "{" FILLING "," SHUT "," DELETES "}",
          EXPANDED);
    check("{\"index\":{\"auto_expand_replicas\":\"0-1\"}}",
          "{\"index\":{}," FILLING "," SHUT "," DELETES "}", EXPANDED);
}
END_TEST

START_TEST(configured_gc_deletes_stays)
{
    check("{\"gc_deletes\":\"2h\"}", "{\"gc_deletes\":\"2h\"," FILLING "}", DEFAULT);
    check("{\"index.gc_deletes\":\"2h\"}", "{\"index.gc_deletes\":\"2h\"," FILLING "}", DEFAULT);
    check("{\"index\":{\"gc_deletes\":\"2h\"}}", "{\"index\":{\"gc_deletes\":\"2h\"}," FILLING "}",
          DEFAULT);
}
END_TEST

START_TEST(settings_that_are_not_an_object_are_a_configuration_error)
{
    static const char *const wrong[] = {"", "[]", "5", "\"x\"", "{", "{\"a\":}", "null"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct buf out;
        struct err err;
        buf_init(&out, 4096);
        ck_assert_msg(index_settings_filling(&out, wrong[i], &err) == ERR_CONFIG, "%s", wrong[i]);
        ck_assert_int_eq(index_settings_finished(&out, wrong[i], &err), ERR_CONFIG);
        ck_assert_uint_eq(out.len, 0);
        buf_release(&out);
    }
}
END_TEST

SUITE_MAIN("service/index_settings", missing_settings_are_added,
           the_configured_refresh_interval_waits_for_the_end,
           the_configured_replicas_wait_for_the_end, auto_expanded_replicas_wait_too,
           configured_gc_deletes_stays, settings_that_are_not_an_object_are_a_configuration_error)
