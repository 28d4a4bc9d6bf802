/* SPDX-License-Identifier: Apache-2.0 */
/* A data stream: how it is identified, created, and distinguished from another of the same name. */
#include "rowferry/service/index/stream.h"

#include "fixture.h"
#include "suite.h"

#define OURS(more)                                                                                 \
    "{\"aliases\":{},\"mappings\":{\"_meta\":{\"rowferry\":{\"pipeline\":\"events\",\"creator\":"  \
    "\"c\"" more "}}},"
#define BARE "{\"aliases\":{},\"mappings\":{},"
#define OF(uuid) "\"settings\":{\"index\":{\"uuid\":\"" uuid "\"}},\"data_stream\":\"ev\"}"
#define FIRST "\".ds-ev-2026.11.22-000001\":"
#define SECOND "\".ds-ev-2026.11.22-000002\":"
#define TENTH "\".ds-ev-2026.11.30-000010\":"
#define SHRUNK "\"shrink-ab1c-.ds-ev-2026.11.22-000001\":"
#define NOTED ",\"stream\":\"u1\""
#define MAPPINGS                                                                                   \
    "{\"properties\":{\"@timestamp\":{\"type\":\"date\"},\"source_id\":{\"type\":\"keyword\"}},"   \
    "\"_meta\":{\"rowferry\":{\"pipeline\":\"events\"}}}"
#define DONE "{\"acknowledged\":true}"
#define ABSENT "{\"error\":{\"type\":\"index_not_found_exception\"},\"status\":404}"
#define ANSWERS 8

/* Answers with their status, in order. */
struct told {
    int status;
    const char *body;
};

struct talk {
    char texts[ANSWERS][ANSWER_BYTES];
    const char *answers[ANSWERS + 1];
    struct fixture f;
};

static void talk_start(struct talk *t, const struct told *told)
{
    *t = (struct talk){0};
    for (size_t i = 0; told[i].body != NULL; i++) {
        t->answers[i] = answer_of(t->texts[i], told[i].status, told[i].body);
    }
    start(&t->f, t->answers, SIZE_MAX);
}

START_TEST(its_uuid_is_that_of_its_first_index_while_it_is_known)
{
    static const struct {
        const char *body;
        const char *uuid;
        const char *pipeline;
    } cases[] = {
        {"{" FIRST OURS("") OF("u1") "}", "u1", "events"},
        {"{" SECOND OURS(NOTED) OF("u2") "," FIRST OURS(NOTED) OF("u1") "}", "u1", "events"},
        {"{" TENTH OURS(NOTED) OF("u10") "," SECOND OURS(NOTED) OF("u2") "}", "u1", "events"},
        /* created by a foreign template, without our data */
        {"{" TENTH BARE OF("u10") "," SECOND OURS(NOTED) OF("u2") "}", "u1", "events"},
        {"{" TENTH BARE OF("u10") "}", "", ""},
        /* a lifecycle has shrunk the first index */
        {"{" SECOND OURS(NOTED) OF("u2") "," SHRUNK OURS(NOTED) OF("u7") "}", "u1", "events"},
        /* deleted and created again by our template, which has the old data */
        {"{" FIRST OURS(NOTED) OF("u9") "}", "u9", "events"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct talk t;
        enum alias_kind kind;
        struct index_info info;
        talk_start(&t, (const struct told[]){{200, cases[i].body}, {0, NULL}});
        ck_assert_int_eq(index_resolve(t.f.service, "ev", &kind, &info, &t.f.err), 0);
        ck_assert_int_eq(kind, ALIAS_STREAM);
        ck_assert_str_eq(info.name, "ev");
        ck_assert_str_eq(info.uuid, cases[i].uuid);
        ck_assert_str_eq(info.pipeline, cases[i].pipeline);
        stop(&t.f);
    }
}
END_TEST

#define NO_TEMPLATES "{\"index_templates\":[]}"
#define TEMPLATES(name, stream)                                                                    \
    "{\"index_templates\":[{\"name\":\"" name                                                      \
    "\",\"index_template\":{\"index_patterns\":[\"ev*\"],"                                         \
    "\"priority\":700" stream "}}]}"
#define STREAMS ",\"data_stream\":{}"

/* Checks the last request and that it contained these words. */
static void expect_last(const struct talk *t, const char *line, const char *words)
{
    const char *request = t->f.server->request;
    ck_assert_msg(strncmp(request, line, strlen(line)) == 0, "%s", request);
    ck_assert_msg(strstr(request, words) != NULL, "no %s in %s", words, request);
}

START_TEST(it_is_created_with_our_template_and_its_uuid_is_recorded)
{
    struct talk t;
    talk_start(&t, (const struct told[]){{404, ABSENT},
                                         {200, NO_TEMPLATES},
                                         {200, DONE},
                                         {200, DONE},
                                         {200, "{" FIRST OURS("") OF("u1") "}"},
                                         {200, DONE},
                                         {200, DONE},
                                         {0, NULL}});
    int rc = stream_create(t.f.service, "ev", MAPPINGS, "{\"number_of_replicas\":0}", &t.f.err);
    ck_assert_msg(rc == 0, "%s", t.f.err.message);
    ck_assert_uint_eq(t.f.server->requests, 7);
    expect_last(&t, "PUT /ev/_mapping ", "\"stream\":\"u1\"");
    stop(&t.f);
}
END_TEST

/* Checks the index template in the single request that creates it. */
START_TEST(our_template_has_priority_over_one_for_plain_indices)
{
    struct talk t;
    talk_start(&t, (const struct told[]){{404, ABSENT},
                                         {200, TEMPLATES("all", "")},
                                         {400, "{\"error\":{\"type\":\"x\",\"reason\":\"y\"}}"},
                                         {0, NULL}});
    ck_assert_int_eq(stream_create(t.f.service, "ev", MAPPINGS, NULL, &t.f.err), ERR_REJECTED);
    expect_last(&t, "PUT /_index_template/rowferry-ev ",
                "{\"index_patterns\":[\"ev\"],\"priority\":701,\"data_stream\":{},\"template\":{"
                "\"settings\":{},\"mappings\":{");
    stop(&t.f);
}
END_TEST

START_TEST(a_foreign_template_must_have_every_property)
{
    struct talk t;
    talk_start(&t, (const struct told[]){{404, ABSENT},
                                         {200, TEMPLATES("theirs", STREAMS)},
                                         {200, "{\"template\":{\"mappings\":{\"properties\":{}}}}"},
                                         {0, NULL}});
    ck_assert_int_eq(stream_create(t.f.service, "ev", MAPPINGS, NULL, &t.f.err), ERR_REJECTED);
    ck_assert_str_eq(
        t.f.err.message,
        "index template \"theirs\", which makes data streams of \"ev\", does not map property "
        "\"source_id\" as to.mappings does");
    expect_last(&t, "POST /_index_template/_simulate_index/ev ", "");
    stop(&t.f);
}
END_TEST

START_TEST(a_stream_filled_by_another_writer_is_refused)
{
    static const struct {
        const char *body;
        const char *message;
    } cases[] = {
        {"{" FIRST BARE OF("u1") "}",
         "data stream \"ev\" holds documents that pipeline \"events\" did not write"},
        {"{\"ev\":{\"aliases\":{},\"mappings\":{},\"settings\":{}}}",
         "\"ev\" is already the name of an index or alias, so no data stream can have it"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct talk t;
        talk_start(&t, (const struct told[]){
                           {200, cases[i].body}, {200, "{\"count\":3,\"_shards\":{}}"}, {0, NULL}});
        ck_assert_int_eq(stream_create(t.f.service, "ev", MAPPINGS, NULL, &t.f.err), ERR_REJECTED);
        ck_assert_str_eq(t.f.err.message, cases[i].message);
        stop(&t.f);
    }
}
END_TEST

START_TEST(an_empty_stream_is_adopted_and_marked)
{
    struct talk t;
    talk_start(&t, (const struct told[]){{200, "{" FIRST BARE OF("u1") "}"},
                                         {200, "{\"count\":0,\"_shards\":{}}"},
                                         {403, "{}"}, /* reading templates is not permitted */
                                         {200, DONE},
                                         {0, NULL}});
    ck_assert_int_eq(stream_create(t.f.service, "ev", MAPPINGS, NULL, &t.f.err), 0);
    expect_last(&t, "PUT /ev/_mapping ", "\"stream\":\"u1\"");
    stop(&t.f);
    const struct generation_id stream = {"ev", "u1", "events", NULL};
    talk_start(&t, (const struct told[]){
                       {200, "{" SECOND BARE OF("u2") "," FIRST OURS(NOTED) OF("u1") "}"},
                       {200, DONE},
                       {0, NULL}});
    ck_assert_int_eq(stream_mark(t.f.service, &stream, &t.f.err), 0);
    ck_assert_uint_eq(t.f.server->requests, 2);
    expect_last(&t, "PUT /ev/_mapping ",
                "{\"_meta\":{\"rowferry\":{\"pipeline\":\"events\",\"creator\":\"c\","
                "\"stream\":\"u1\"}}}");
    stop(&t.f);
}
END_TEST

START_TEST(a_missing_or_recreated_stream_is_not_written)
{
    static const struct {
        int status;
        const char *body;
        int rc;
    } cases[] = {
        {404, ABSENT, ERR_STATE},
        {200, "{" FIRST OURS(NOTED) OF("u9") "}", ERR_STATE},
        {200, "{\"ev\":{\"aliases\":{},\"mappings\":{},\"settings\":{}}}", ERR_STATE},
        {200, "{" FIRST BARE OF("u1") "}", ERR_INTERNAL},
    };
    const struct generation_id stream = {"ev", "u1", "events", NULL};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct talk t;
        talk_start(&t, (const struct told[]){{cases[i].status, cases[i].body}, {0, NULL}});
        ck_assert_int_eq(stream_mark(t.f.service, &stream, &t.f.err), cases[i].rc);
        ck_assert_uint_eq(t.f.server->requests, 1);
        stop(&t.f);
    }
}
END_TEST

SUITE_MAIN("service/stream", its_uuid_is_that_of_its_first_index_while_it_is_known,
           it_is_created_with_our_template_and_its_uuid_is_recorded,
           our_template_has_priority_over_one_for_plain_indices,
           a_foreign_template_must_have_every_property,
           a_stream_filled_by_another_writer_is_refused, an_empty_stream_is_adopted_and_marked,
           a_missing_or_recreated_stream_is_not_written)
