/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials, limits, the other product, fault injection, and data after a restart. */
#include "steps.h"

#define WRITE "{\"index\":{\"_id\":\"1\"}}\n{}\n"
#define FILTERED "/t/_bulk?filter_path=errors,items.*.status,items.*.error"

static int status_with(const char *url, const char *authorization, const char *body_holds)
{
    struct reply reply;
    reply_get(&reply, "GET", url, "/", NULL, authorization);
    int status = reply.status;
    ck_assert_ptr_nonnull(strstr(reply.body, body_holds));
    reply_release(&reply);
    return status;
}

START_TEST(a_wrong_credential_is_unauthorized)
{
    struct devsearch service;
    char *dir = scratch_new();
    char *key = scratch_write(dir, "key", "c2VjcmV0\n");
    char *password = scratch_write(dir, "password", "pass\n");
    const char *const options[] = {"--api-key-file",  key,      "--user", "ada",
                                   "--password-file", password, NULL};
    devsearch_start(&service, options);
    ck_assert_int_eq(status_with(service.url, NULL, "Unauthorized"), 401);
    ck_assert_int_eq(status_with(service.url, "ApiKey wrong", "Unauthorized"), 401);
    ck_assert_int_eq(status_with(service.url, "Basic YWRhOnBhc3M", "Unauthorized"), 401);
    ck_assert_int_eq(status_with(service.url, "ApiKey c2VjcmV0", "2.19.4"), 200);
    ck_assert_int_eq(status_with(service.url, "apikey c2VjcmV0", "2.19.4"), 200);
    ck_assert_int_eq(status_with(service.url, "Basic YWRhOnBhc3M=", "2.19.4"), 200);
    devsearch_stop(&service);
    free(key);
    free(password);
    scratch_remove(dir);
}
END_TEST

START_TEST(a_body_over_the_limit_answers_413)
{
    const char *const options[] = {"--max-content-length", "20B", NULL};
    CONVERSATION(options, {"POST", "/t/_bulk", WRITE, 413, NULL, "error"},
                 {"POST", "/t/_doc", "{}", 201, NULL, NULL}, );
}
END_TEST

START_TEST(as_elasticsearch_it_differs_where_elasticsearch_does)
{
    const char *const options[] = {"--product", "elasticsearch", NULL};
    CONVERSATION(
        options, {"GET", "/", NULL, 200, "\"build_flavor\" : \"default\"", "distribution"},
        {"PUT", "/t",
         "{\"mappings\":{\"dynamic\":\"strict\",\"properties\":{\"n\":{\"type\":\"long\"},\"source_"
         "id\":{"
         "\"type\":\"keyword\"}}}}",
         200, NULL, NULL},
        {"POST", "/t/_bulk?include_source_on_error=false", WRITE, 200,
         "{\"errors\":false,\"took\":", NULL},
        {"POST", "/t/_doc", "{\"n\":\"abc\"}", 400,
         "\"type\":\"document_parsing_exception\",\"reason\":\"[1:6] failed to parse field [n] of "
         "type "
         "[long]",
         NULL},
        {"PUT", "/v", "{\"mappings\":{\"properties\":{\"a\":{\"type\":\"knn_vector\"}}}}", 400,
         "The mapper type [knn_vector] declared on field [a] does not exist", NULL},
        {"POST", "/t/_search", "{\"sort\":[\"_id\"]}", 400,
         "Fielddata access on the _id field is disallowed", NULL},
        {"POST", "/t/_pit?keep_alive=1m", NULL, 200, "{\"id\":\"", NULL},
        {"POST", "/t/_search/point_in_time?keep_alive=1m", NULL, 400, "no handler found", NULL},
        {"POST", "/_aliases",
         "{\"actions\":[{\"remove\":{\"index\":\"t\",\"alias\":\"x\"}},{\"add\":{\"index\":\"t\","
         "\"alias\":\"y\"}}]}",
         200, "{\"acknowledged\":true,\"errors\":true", NULL}, );
}
END_TEST

START_TEST(faults_come_as_often_as_asked)
{
    const char *const options[] = {"--faults", NULL};
    CONVERSATION(
        options, {"PUT", "/t", NULL, 200, NULL, NULL},
        {"POST", "/_devsearch/faults", "{\"status\":503,\"count\":1}", 200, NULL, NULL},
        {"POST", FILTERED, WRITE, 503, "cluster_block_exception", NULL},
        {"POST", FILTERED, WRITE, 200, "\"status\":201", NULL},
        {"POST", "/_devsearch/faults", "{\"items_status\":429,\"every\":2,\"count\":1}", 200, NULL,
         NULL},
        {"POST", FILTERED, WRITE WRITE WRITE WRITE, 200,
         "{\"errors\":true,\"items\":[{\"index\":{\"status\":200}},{\"index\":{\"status\":429,"
         "\"error\":{"
         "\"type\":\"rejected_execution_exception\"",
         NULL},
        {"POST", FILTERED, WRITE WRITE, 200, "{\"errors\":false", NULL},
        {"POST", "/_devsearch/faults", "{\"close\":\"after\",\"count\":1}", 200, NULL, NULL},
        {"POST", FILTERED, "{\"index\":{\"_id\":\"cut\"}}\n{}\n", 0, NULL, NULL},
        {"GET", "/t/_doc/cut", NULL, 200, "\"found\":true", NULL},
        {"POST", "/_devsearch/faults", "{\"close\":\"before\",\"count\":1}", 200, NULL, NULL},
        {"POST", FILTERED, "{\"index\":{\"_id\":\"lost\"}}\n{}\n", 0, NULL, NULL},
        {"GET", "/t/_doc/lost", NULL, 404, NULL, NULL},
        {"POST", "/_devsearch/faults", "{\"close\":\"middle\",\"count\":1}", 200, NULL, NULL},
        {"POST", FILTERED, WRITE, 0, NULL, NULL},
        {"POST", "/_devsearch/faults", "{\"bogus\":1}", 400, "devsearch does not know [bogus]",
         NULL},
        {"GET", "/_devsearch/stats", NULL, 200,
         "\"documents\":2,\"faults_pending\":0,\"faults_fired\":5", NULL}, );
}
END_TEST

START_TEST(without_the_option_there_are_no_faults)
{
    CONVERSATION(NULL, {"POST", "/_devsearch/faults", "{\"status\":503}", 403, "--faults", NULL}, );
}
END_TEST

START_TEST(data_in_a_folder_survives_a_restart)
{
    char *dir = scratch_new();
    const char *const options[] = {"--data", dir, NULL};
    CONVERSATION(
        options,
        {"PUT", "/t",
         "{\"mappings\":{\"properties\":{\"title\":{\"type\":\"text\"}}},\"aliases\":{\"live\":{"
         "\"is_write_index\":true}}}",
         200, NULL, NULL},
        {"PUT", "/live/_doc/1?version=7&version_type=external", "{\"title\":\"a kept word\"}", 201,
         NULL, NULL}, );
    CONVERSATION(options, {"GET", "/live/_doc/1", NULL, 200, "\"_version\":7", NULL},
                 {"GET", "/live/_search?q=title:kept", NULL, 200, "\"_id\":\"1\"", NULL},
                 {"GET", "/_alias/live", NULL, 200,
                  "{\"t\":{\"aliases\":{\"live\":{\"is_write_index\":true}}}}", NULL},
                 {"PUT", "/live/_doc/2", "{\"title\":\"written later\"}", 201, NULL, NULL},
                 {"PUT", "/u", NULL, 200, NULL, NULL}, );
    scratch_remove(dir);
}
END_TEST

SUITE_MAIN("devsearch/options", a_wrong_credential_is_unauthorized,
           a_body_over_the_limit_answers_413, as_elasticsearch_it_differs_where_elasticsearch_does,
           faults_come_as_often_as_asked, without_the_option_there_are_no_faults,
           data_in_a_folder_survives_a_restart)
