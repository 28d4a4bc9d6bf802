/* SPDX-License-Identifier: Apache-2.0 */
/* Hits as searches print them, and texts that are none. */
#include "rowferry/document/json/hit.h"

#include <string.h>

#include "suite.h"

static void expect_hit(const char *text, const char *index, const char *id, const char *source_id,
                       const char *pipeline)
{
    struct err err;
    struct hit hit;
    ck_assert_msg(hit_read(&hit, span_make(text, strlen(text)), &err) == 0, "%s", text);
    ck_assert_pstr_eq(hit.index, index);
    ck_assert_pstr_eq(hit.id, id);
    ck_assert_pstr_eq(hit.source_id, source_id);
    ck_assert_pstr_eq(hit.pipeline, pipeline);
    hit_release(&hit);
}

static void expect_none(const char *text, const char *words)
{
    struct err err;
    struct hit hit;
    ck_assert_int_eq(hit_read(&hit, span_make(text, strlen(text)), &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, words) != NULL, "%s: %s", text, err.message);
}

START_TEST(a_hit_is_read_alone_and_as_the_first_of_an_answer)
{
    static const char alone[] =
        "{\"_index\":\"a-1\",\"_id\":\"7\",\"_source\":{\"source_id\":\"8\","
        "\"provenance\":{\"pipeline\":\"p\"}}}";
    expect_hit(alone, "a-1", "7", "8", "p");
    expect_hit("{\"hits\":{\"total\":{\"value\":2},\"hits\":[{\"_id\":\"7\",\"_source\":{}},"
               "{\"_id\":\"9\"}]}}",
               NULL, "7", NULL, NULL);
    expect_hit("{\"_source\":{\"source_id\":\"\\u00e9\\n\"}}", NULL, NULL, "\xc3\xa9\n", NULL);
}
END_TEST

START_TEST(a_member_of_another_type_or_with_a_nul_is_absent)
{
    expect_hit("{\"_index\":7,\"_id\":\"1\",\"_source\":[],\"hits\":{}}", NULL, "1", NULL, NULL);
    expect_hit("{\"_id\":\"1\",\"_source\":{\"source_id\":\"1\\u00002\",\"provenance\":"
               "{\"pipeline\":[\"p\"]}}}",
               NULL, "1", NULL, NULL);
}
END_TEST

START_TEST(what_is_no_hit_is_refused)
{
    expect_none("", "not JSON");
    expect_none("{\"_id\":\"1\"", "not JSON");
    expect_none("null", "the search has no hit");
    expect_none("{\"hits\":{\"hits\":[]}}", "the search has no hit");
    expect_none("{\"_index\":\"a\",\"_id\":\"7\",\"found\":false}", "does not exist");
    expect_none("[1]", "neither \"_id\" nor \"source_id\"");
    expect_none("{\"_id\":\"\",\"_source\":{\"source_id\":1}}", "neither \"_id\" nor");
}
END_TEST

SUITE_MAIN("document/hit", a_hit_is_read_alone_and_as_the_first_of_an_answer,
           a_member_of_another_type_or_with_a_nul_is_absent, what_is_no_hit_is_refused)
