/* SPDX-License-Identifier: Apache-2.0 */
/* The write alias of a generation: created if it is missing, refused if it belongs to another. */
#include "rowferry/service/index/index.h"

#include "fixture.h"
#include "suite.h"

#define NAME "shop-20261122-1"
#define ALIAS NAME "-WRITE-00000000000000ab"
#define INDEX(aliases)                                                                             \
    "{\"aliases\":" aliases ",\"mappings\":{\"_meta\":{\"rowferry\":{\"pipeline\":\"articles\","   \
    "\"creator\":\"00000000000000ab\"}}},\"settings\":{\"index\":{\"uuid\":\"u1\"}}}"
#define BARE INDEX("{\"shop\":{}}")
#define GIVEN INDEX("{\"shop\":{},\"" ALIAS "\":{}}")

#define FORMER NAME "-WRITE-00000000000000aa"
static const char *place; /* expected */

struct opened {
    int rc;
    size_t requests;
    char alias[INDEX_WRITE_ALIAS_BYTES];
    char request[4096]; /* the last one */
    struct err err;
};

static void open_writes(const char *first, const char *second, const char *uuid,
                        const char *pipeline, struct opened *out)
{
    char texts[2][ANSWER_BYTES];
    const char *const answers[] = {answer_of(texts[0], 200, first),
                                   answer_of(texts[1], 200, second), NULL};
    const struct generation_id generation = {NAME, uuid, pipeline, place};
    struct fixture f = {0};
    *out = (struct opened){0};
    start(&f, answers, SIZE_MAX);
    out->rc = write_alias_open(f.service, &generation, out->alias, &f.err);
    out->requests = f.server->requests;
    out->err = f.err;
    snprintf(out->request, sizeof(out->request), "%.*s", (int)sizeof(out->request) - 1,
             f.server->request);
    stop(&f);
}

#define GET "GET /" NAME "," NAME "-WRITE*?"
#define DONE "{\"acknowledged\":true}"

START_TEST(no_index_can_have_the_name_of_a_write_alias)
{
    char alias[INDEX_WRITE_ALIAS_BYTES];
    struct err err;
    write_alias_of(alias, NAME, "00000000000000ab");
    ck_assert_str_eq(alias, ALIAS);
    ck_assert_int_eq(index_name_check(alias, &err), ERR_CONFIG);
    write_alias_of(alias, NAME, ""); /* created by an older version */
    ck_assert_str_eq(alias, NAME "-WRITE");
    write_alias_of(alias, NAME, "*,b"); /* created by another program */
    ck_assert_str_eq(alias, NAME "-WRITE");
}
END_TEST

START_TEST(a_generation_with_its_write_alias_needs_one_request)
{
    struct opened o;
    open_writes("{\"" NAME "\":" GIVEN "}", DONE, "u1", "articles", &o);
    ck_assert_msg(o.rc == 0, "%s", o.err.message);
    ck_assert_str_eq(o.alias, ALIAS);
    ck_assert_uint_eq(o.requests, 1);
    ck_assert_int_eq(strncmp(o.request, GET, sizeof(GET) - 1), 0);
}
END_TEST

START_TEST(a_missing_write_alias_is_added)
{
    static const char *const lacking[] = {
        "{\"" NAME "\":" BARE "}",
        "{\"" NAME "\":" INDEX("{\"" ALIAS "\":{\"is_write_index\":false}}") "}",
        "{\"" NAME "\":" INDEX("{\"" ALIAS "\":{\"index_routing\":\"1\"}}") "}",
        /* belongs to another index that had the name */
        "{\"" NAME "\":" BARE ",\"b\":" INDEX("{\"" NAME "-WRITE-00000000000000aa\":{}}") "}"};
    for (size_t i = 0; i < sizeof(lacking) / sizeof(lacking[0]); i++) {
        struct opened o;
        open_writes(lacking[i], DONE, "u1", "articles", &o);
        ck_assert_msg(o.rc == 0, "%s", o.err.message);
        ck_assert_uint_eq(o.requests, 2);
        ck_assert_int_eq(strncmp(o.request, "POST /_aliases ", 15), 0);
        ck_assert_msg(
            strstr(o.request, "{\"add\":{\"index\":\"" NAME "\",\"alias\":\"" ALIAS "\"}}") != NULL,
            "%s", o.request);
    }
}
END_TEST

START_TEST(the_aliases_of_writers_that_were_replaced_are_removed)
{
    struct opened o;
    open_writes("{\"" NAME "\":" INDEX("{\"shop\":{},\"" ALIAS "\":{},\"" FORMER "\":{},\"" NAME
                                       "-WRITE\":{}}") "}",
                DONE, "u1", "articles", &o);
    ck_assert_msg(o.rc == 0, "%s", o.err.message);
    ck_assert_uint_eq(o.requests, 2);
    ck_assert_ptr_nonnull(
        strstr(o.request, "{\"remove\":{\"index\":\"" NAME "\",\"alias\":\"" FORMER "\"}}"));
    ck_assert_ptr_nonnull(
        strstr(o.request, "{\"remove\":{\"index\":\"" NAME "\",\"alias\":\"" NAME "-WRITE\"}}"));
    ck_assert_ptr_null(strstr(o.request, "\"shop\""));
}
END_TEST

START_TEST(an_alias_that_is_not_acknowledged_is_tried_again)
{
    struct opened o;
    open_writes("{\"" NAME "\":" BARE "}", "{\"acknowledged\":false}", "u1", "articles", &o);
    ck_assert_int_eq(o.rc, ERR_TRANSIENT);
}
END_TEST

static void refused(const char *answer, const char *uuid, const char *pipeline, int rc,
                    const char *words)
{
    struct opened o;
    open_writes(answer, DONE, uuid, pipeline, &o);
    ck_assert_int_eq(o.rc, rc);
    ck_assert_msg(strstr(o.err.message, words) != NULL, "%s", o.err.message);
    ck_assert_msg(o.requests == 1, "nothing may be changed: %s", o.request);
}

START_TEST(a_foreign_or_shared_index_is_named_and_not_changed)
{
    refused("{\"" NAME "\":" GIVEN "}", "u2", "articles", ERR_STATE,
            "was deleted and created again by another program");
    refused("{\"" NAME "\":" BARE "}", "u1", "authors", ERR_INTERNAL, "its _meta does not name");
    refused("{\"" NAME "\":" BARE "}", "u1", "", ERR_INTERNAL, "its _meta does not name");
    refused("{}", "u1", "articles", ERR_TRANSIENT, "could not read the answer");
    refused("{\"b\":" BARE "}", "u1", "articles", ERR_STATE, "is gone");
    refused("{\"" NAME "\":" BARE ",\"b\":" INDEX("{\"" ALIAS "\":{}}") "}", "u1", "articles",
            ERR_STATE, "points at index \"b\"");
    place = "1 2026 - shop on db";
    refused("{\"" NAME "\":" GIVEN "}", "u1", "articles", ERR_TRANSIENT, "from another server");
    place = NULL;
    refused("{\"" NAME "\":" GIVEN ",\"b\":" INDEX("{\"" ALIAS "\":{\"is_write_index\":true}}") "}",
            "u1", "articles", ERR_STATE, "points at index \"b\"");
}
END_TEST

SUITE_MAIN("service/write_alias", no_index_can_have_the_name_of_a_write_alias,
           a_generation_with_its_write_alias_needs_one_request, a_missing_write_alias_is_added,
           the_aliases_of_writers_that_were_replaced_are_removed,
           an_alias_that_is_not_acknowledged_is_tried_again,
           a_foreign_or_shared_index_is_named_and_not_changed)
