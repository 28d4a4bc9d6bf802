/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a request for a rebuild, and the hash that detects another configuration. */
#include "rowferry/daemon/rebuild_arguments.h"

#include "suite.h"

static struct pipeline_config pipeline(void)
{
    static char id[] = "id";
    static char table[] = "articles";
    static char index[] = "shop";
    static char mappings[] = "{\"properties\":{}}";
    static char *key[] = {id};
    return (struct pipeline_config){.name = table,
                                    .from = {.table = table, .key = key, .key_count = 1},
                                    .to = {.index = index, .mappings = mappings}};
}

/* Returns true if a request for `filed` may be carried out by a holder with the configuration
 * `held`. */
static bool agree(const struct pipeline_config *filed, const struct pipeline_config *held)
{
    struct buf text;
    struct rebuild_terms terms = {0};
    buf_init(&text, 1024);
    rebuild_arguments_push(&text, filed, &terms);
    bool same = rebuild_arguments_read(buf_text(&text), held, &terms);
    buf_release(&text);
    return same;
}

START_TEST(the_terms_arrive)
{
    const struct pipeline_config p = pipeline();
    for (int i = 0; i < 4; i++) {
        struct buf text;
        const struct rebuild_terms terms = {.adopt = i % 2 == 1, .allow_deletes = i >= 2};
        struct rebuild_terms read = {0};
        buf_init(&text, 1024);
        rebuild_arguments_push(&text, &p, &terms);
        ck_assert(rebuild_arguments_read(buf_text(&text), &p, &read));
        ck_assert_int_eq(read.adopt, terms.adopt);
        ck_assert_int_eq(read.allow_deletes, terms.allow_deletes);
        buf_release(&text);
    }
}
END_TEST

START_TEST(a_request_of_another_configuration_is_detected)
{
    const struct pipeline_config held = pipeline();
    struct field field = {.property = (char[]){"title"}, .column = (char[]){"headline"}};
    struct pipeline_config filed[10];
    for (size_t i = 0; i < 10; i++) {
        filed[i] = pipeline();
    }
    filed[0].to.mappings = (char[]){"{\"properties\":{\"a\":{\"type\":\"long\"}}}"};
    filed[1].to.settings = (char[]){"{}"};
    filed[2].to.routing = (char[]){"id"};
    filed[3].from.where = (char[]){"live"};
    filed[4].from.key_count = 0;
    filed[5].from.query = (char[]){"select 1"};
    filed[6].fields = &field;
    filed[6].field_count = 1;
    filed[7].to.ingest_pipeline = (char[]){"p"};
    filed[8].to.id = ID_SHA256;
    filed[9].to.provenance = true;
    for (size_t i = 0; i < 10; i++) {
        ck_assert_msg(!agree(&filed[i], &held), "difference %zu is not detected", i);
    }
    ck_assert(agree(&held, &held));
}
END_TEST

START_TEST(options_that_do_not_shape_the_index_may_differ)
{
    const struct pipeline_config held = pipeline();
    struct pipeline_config filed = pipeline();
    filed.limits.in_flight = 9;
    filed.delete_guard.count = 9;
    filed.to.keep = 3;
    ck_assert(agree(&filed, &held));
}
END_TEST

START_TEST(texts_that_are_cut_differently_are_not_the_same)
{
    char *one[] = {(char[]){"ab"}, (char[]){"c"}};
    char *other[] = {(char[]){"a"}, (char[]){"bc"}};
    struct pipeline_config a = pipeline();
    struct pipeline_config b = pipeline();
    a.from.key = one;
    b.from.key = other;
    a.from.key_count = b.from.key_count = 2;
    ck_assert(!agree(&a, &b));
}
END_TEST

START_TEST(arguments_that_are_not_ours_are_refused)
{
    static const char *const texts[] = {"", "null", "[]", "{}", "{\"configuration\":1}", "{"};
    const struct pipeline_config p = pipeline();
    struct rebuild_terms terms;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ck_assert(!rebuild_arguments_read(texts[i], &p, &terms));
        ck_assert(!terms.adopt && !terms.allow_deletes);
    }
}
END_TEST

SUITE_MAIN("daemon/rebuild_arguments", the_terms_arrive,
           a_request_of_another_configuration_is_detected,
           options_that_do_not_shape_the_index_may_differ,
           texts_that_are_cut_differently_are_not_the_same, arguments_that_are_not_ours_are_refused)
