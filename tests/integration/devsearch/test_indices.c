/* SPDX-License-Identifier: Apache-2.0 */
/* Indices, mappings, settings and aliases in the form of OpenSearch 2.19. */
#include "steps.h"

#include <curl/curl.h>
#include <stdio.h>

#define MAPPED                                                                                     \
    "{\"settings\":{\"number_of_replicas\":0,\"index\":{\"refresh_interval\":\"-1\"}},"            \
    "\"mappings\":{\"dynamic\":\"strict\",\"_meta\":{\"a\":1},\"properties\":{"                    \
    "\"k\":{\"type\":\"keyword\"},\"d\":{\"type\":\"date\"},"                                      \
    "\"o\":{\"properties\":{\"x\":{\"type\":\"keyword\"}}}}},\"aliases\":{\"ta\":{}}}"

START_TEST(an_index_is_created_shown_and_deleted)
{
    CONVERSATION(
        NULL,
        {"PUT", "/t", MAPPED, 200,
         "{\"acknowledged\":true,\"shards_acknowledged\":true,\"index\":\"t\"}", NULL},
        {"PUT", "/t", "{}", 400,
         "\"type\":\"resource_already_exists_exception\",\"reason\":\"index [t/", NULL},
        {"GET", "/t", NULL, 200, "{\"t\":{\"aliases\":{\"ta\":{}},\"mappings\":{", NULL},
        {"GET", "/ta/_mapping", NULL, 200, "{\"t\":{\"mappings\":{\"dynamic\":\"strict\"", NULL},
        {"GET", "/t/_settings", NULL, 200, "\"refresh_interval\":\"-1\"", NULL},
        {"GET", "/t/_settings?flat_settings=true", NULL, 200, "\"index.number_of_replicas\":\"0\"",
         NULL},
        {"GET", "/nope", NULL, 404,
         "\"type\":\"index_not_found_exception\",\"reason\":\"no such index "
         "[nope]\",\"index\":\"nope\","
         "\"resource.id\":\"nope\",\"resource.type\":\"index_or_alias\",\"index_uuid\":\"_na_\"}",
         NULL},
        {"DELETE", "/ta", NULL, 400,
         "The provided expression [ta] matches an alias, specify the corresponding concrete "
         "indices "
         "instead.",
         NULL},
        {"DELETE", "/t*", NULL, 400, "devsearch does not know deleting [t*]", NULL},
        {"DELETE", "/t", NULL, 200, "{\"acknowledged\":true}", NULL},
        {"GET", "/t", NULL, 404, NULL, NULL}, );
}
END_TEST

START_TEST(an_index_is_deleted_while_a_document_of_another_was_just_read)
{
    CONVERSATION(NULL, {"PUT", "/t", MAPPED, 200, NULL, NULL},
                 {"PUT", "/u", MAPPED, 200, NULL, NULL},
                 {"PUT", "/u/_doc/1", "{\"k\":\"a\"}", 201, NULL, NULL},
                 {"GET", "/u/_doc/1", NULL, 200, "\"found\":true", NULL},
                 {"DELETE", "/t", NULL, 200, "{\"acknowledged\":true}", NULL},
                 {"GET", "/u/_doc/1", NULL, 200, "\"found\":true", NULL}, );
}
END_TEST

START_TEST(bad_names_are_refused_in_the_words_of_the_service)
{
    CONVERSATION(
        NULL, {"PUT", "/o%8C", NULL, 400, "Invalid index name [?], must be UTF-8", NULL},
        {"PUT", "/Big", NULL, 400, "Invalid index name [Big], must be lowercase", NULL},
        {"PUT", "/_x", NULL, 400, "must not start with '_', '-', or '+'", NULL},
        {"PUT", "/a%20b", NULL, 400,
         "must not contain the following characters [ , \\\", *, \\\\, <, |, ,, >, /, ?]", NULL},
        {"PUT", "/t", MAPPED, 200, NULL, NULL},
        {"PUT", "/ta", NULL, 400, "Invalid index name [ta], already exists as alias", NULL}, );
}
END_TEST

START_TEST(what_a_mapping_cannot_be_is_refused)
{
    CONVERSATION(
        NULL,
        {"PUT", "/b", "{\"mappings\":{\"properties\":{\"a\":{\"type\":\"bogus\"}}}}", 400,
         "\"reason\":\"Failed to parse mapping [_doc]: No handler for type [bogus] declared on "
         "field "
         "[a]\",\"caused_by\":{\"type\":\"mapper_parsing_exception\"",
         NULL},
        {"PUT", "/b", "{\"mappings\":{\"properties\":{\"a\":{\"type\":\"dense_vector\"}}}}", 400,
         "No handler for type [dense_vector]", NULL},
        {"PUT", "/b", "{\"mappings\":{\"properties\":{\"a\":{\"type\":\"keyword\",\"bogus\":1}}}}",
         400, "unknown parameter [bogus] on mapper [a] of type [keyword]", NULL},
        {"PUT", "/b", "{\"mappings\":{\"properties\":{\"a\":{}}}}", 400,
         "No type specified for field [a]", NULL},
        {"PUT", "/b", "{\"settings\":{\"bogus\":true}}", 400, "unknown setting [index.bogus]",
         NULL},
        {"PUT", "/b", "{\"bogus\":{}}", 400, "unknown key [bogus] for create index", NULL},
        {"GET", "/b", NULL, 404, NULL, NULL}, );
}
END_TEST

START_TEST(a_mapping_grows_but_never_changes_a_type)
{
    CONVERSATION(
        NULL, {"PUT", "/t", MAPPED, 200, NULL, NULL},
        {"PUT", "/t/_mapping", "{\"properties\":{\"new\":{\"type\":\"keyword\"}}}", 200,
         "{\"acknowledged\":true}", NULL},
        {"GET", "/t/_mapping", NULL, 200, "\"_meta\":{\"a\":1}", NULL},
        {"PUT", "/t/_mapping", "{\"_meta\":{\"z\":9}}", 200, NULL, NULL},
        {"GET", "/t/_mapping", NULL, 200, "\"_meta\":{\"z\":9}", "\"a\":1"},
        {"GET", "/t/_mapping", NULL, 200, "\"new\":{\"type\":\"keyword\"}", NULL},
        {"PUT", "/t/_mapping", "{\"properties\":{\"k\":{\"type\":\"long\"}}}", 400,
         "mapper [k] cannot be changed from type [keyword] to [long]", NULL},
        {"PUT", "/t/_mapping",
         "{\"properties\":{\"d\":{\"type\":\"date\",\"format\":\"epoch_millis\"}}}", 400,
         "Mapper for [d] conflicts with existing mapper:\\n\\tCannot update parameter [format] "
         "from "
         "[strict_date_optional_time||epoch_millis] to [epoch_millis]",
         NULL},
        {"PUT", "/t/_mapping", "{\"properties\":{\"o\":{\"type\":\"keyword\"}}}", 400,
         "can't merge a non object mapping [o] with an object mapping", NULL},
        {"PUT", "/t/_mapping", "{\"properties\":{\"o\":{\"type\":\"nested\"}}}", 400,
         "cannot change object mapping from non-nested to nested", NULL},
        {"PUT", "/t/_mapping",
         "{\"properties\":{\"k\":{\"type\":\"keyword\",\"fields\":{\"raw\":{\"type\":\"keyword\"}}}"
         "}}",
         200, NULL, NULL},
        {"PUT", "/t/_mapping",
         "{\"properties\":{\"k\":{\"type\":\"keyword\",\"fields\":{\"raw\":{\"type\":\"long\"}}}}}",
         400, "mapper [k.raw] cannot be changed from type [keyword] to [long]", NULL},
        {"PUT", "/t/_settings", "{\"index\":{\"refresh_interval\":\"5s\"}}", 200,
         "{\"acknowledged\":true}", NULL},
        {"GET", "/t/_settings", NULL, 200, "\"refresh_interval\":\"5s\"", NULL},
        {"PUT", "/t/_settings", "{\"refresh_interval\":null}", 200, NULL, NULL},
        {"GET", "/t/_settings", NULL, 200, NULL, "refresh_interval"},
        {"PUT", "/t/_settings", "{\"refresh_interval\":\"xx\"}", 400,
         "failed to parse setting [index.refresh_interval] with value [xx] as a time value", NULL},
        {"PUT", "/t/_settings", "{\"number_of_shards\":3}", 400,
         "Can't update non dynamic settings [[index.number_of_shards]]", NULL}, );
}
END_TEST

#define ADD(index, alias) "{\"add\":{\"index\":\"" index "\",\"alias\":\"" alias "\"}}"
#define REMOVE(index, alias, more)                                                                 \
    "{\"remove\":{\"index\":\"" index "\",\"alias\":\"" alias "\"" more "}}"
#define ACTIONS(list) "{\"actions\":[" list "]}"

START_TEST(an_alias_is_swapped_whole_or_not_at_all)
{
    CONVERSATION(
        NULL, {"PUT", "/a1", NULL, 200, NULL, NULL}, {"PUT", "/a2", NULL, 200, NULL, NULL},
        {"POST", "/_aliases", ACTIONS(ADD("a1", "live")), 200, "{\"acknowledged\":true}", NULL},
        {"POST", "/_aliases", ACTIONS(REMOVE("a1", "live", "") "," ADD("a2", "live")), 200, NULL,
         NULL},
        {"GET", "/_alias/live", NULL, 200, "{\"a2\":{\"aliases\":{\"live\":{}}}}", "a1"},
        {"POST", "/_aliases",
         ACTIONS(REMOVE("a1", "live", ",\"must_exist\":true") "," ADD("a1", "other")), 404,
         "\"type\":\"aliases_not_found_exception\",\"reason\":\"aliases [live] missing\"", NULL},
        {"GET", "/_alias/other", NULL, 404, "{\"error\":\"alias [other] missing\",\"status\":404}",
         NULL},
        {"POST", "/_aliases", ACTIONS(REMOVE("a1", "live", "") "," ADD("a1", "other")), 200, NULL,
         NULL},
        {"POST", "/_aliases", ACTIONS(ADD("a1", "a2")), 400,
         "Invalid alias name [a2], an index exists with the same name as the alias", NULL},
        {"POST", "/_aliases", ACTIONS("{\"remove_index\":{\"index\":\"a2\"}}," ADD("a1", "a2")),
         200, NULL, NULL},
        {"GET", "/a2", NULL, 200, "{\"a1\":{", NULL},
        {"POST", "/_aliases", ACTIONS(ADD("nope", "live")), 404, "no such index [nope]", NULL},
        {"POST", "/_aliases", ACTIONS(""), 400, "No action specified", NULL}, );
}
END_TEST

START_TEST(an_alias_of_two_indices_needs_a_write_index)
{
    CONVERSATION(
        NULL, {"PUT", "/a1", NULL, 200, NULL, NULL}, {"PUT", "/a2", NULL, 200, NULL, NULL},
        {"POST", "/_aliases", ACTIONS(ADD("a1", "two") "," ADD("a2", "two")), 200, NULL, NULL},
        {"POST", "/_bulk", "{\"index\":{\"_index\":\"two\",\"_id\":\"1\"}}\n{}\n", 200,
         "\"status\":400,\"error\":{\"type\":\"illegal_argument_exception\",\"reason\":\"no write "
         "index "
         "is defined for alias [two].",
         NULL},
        {"GET", "/two/_doc/1", NULL, 400,
         "alias [two] has more than one index associated with it [a1, a2], can't execute a single "
         "index op",
         NULL},
        {"POST", "/_aliases",
         ACTIONS("{\"add\":{\"index\":\"a2\",\"alias\":\"two\",\"is_write_index\":true}}"), 200,
         NULL, NULL},
        {"POST", "/_bulk", "{\"index\":{\"_index\":\"two\",\"_id\":\"1\"}}\n{}\n", 200,
         "{\"index\":{\"_index\":\"a2\",\"_id\":\"1\",\"_version\":1,\"result\":\"created\"",
         NULL}, );
}
END_TEST

START_TEST(a_closed_index_is_there_but_neither_read_nor_written)
{
    CONVERSATION(
        NULL, {"PUT", "/t", MAPPED, 200, NULL, NULL},
        {"PUT", "/t/_doc/1", "{\"k\":\"a\"}", 201, NULL, NULL},
        {"POST", "/t/_close", NULL, 200,
         "{\"acknowledged\":true,\"shards_acknowledged\":true,\"indices\":{\"t\":{\"closed\":true}}"
         "}",
         NULL},
        {"POST", "/t/_close", NULL, 200, "\"shards_acknowledged\":false,\"indices\":{}", NULL},
        {"GET", "/t/_doc/1", NULL, 400, "\"type\":\"index_closed_exception\",\"reason\":\"closed\"",
         NULL},
        {"POST", "/t/_search", "{}", 400, "index_closed_exception", NULL},
        {"GET", "/ta/_count", NULL, 400, "index_closed_exception", NULL},
        {"POST", "/t/_refresh", NULL, 400, "index_closed_exception", NULL},
        {"POST", "/t*/_search", "{}", 200, "\"value\":0", NULL},
        {"GET", "/t*", NULL, 200, NULL, "mappings"},
        {"GET", "/t*?expand_wildcards=all", NULL, 200, "\"verified_before_close\":\"true\"", NULL},
        {"PUT", "/t/_mapping", "{\"_meta\":{\"z\":9}}", 200, NULL, NULL},
        {"POST", "/t/_clone/u", NULL, 400, "index_closed_exception", NULL},
        {"POST", "/t/_open", NULL, 200, "\"shards_acknowledged\":true", NULL},
        {"GET", "/t", NULL, 200, NULL, "verified_before_close"},
        {"GET", "/t/_doc/1", NULL, 200, "\"found\":true", NULL},
        {"POST", "/nope/_close", NULL, 404, "index_not_found_exception", NULL}, );
}
END_TEST

START_TEST(a_clone_has_the_documents_and_their_versions)
{
    CONVERSATION(
        NULL, {"PUT", "/t", MAPPED, 200, NULL, NULL},
        {"PUT", "/t/_doc/1?version=7&version_type=external", "{\"k\":\"a\"}", 201, NULL, NULL},
        {"POST", "/t/_clone/u", NULL, 500,
         "index t must block write operations to resize index. use \\\"index.blocks.write=true\\\"",
         NULL},
        {"PUT", "/t/_settings", "{\"index.blocks.write\":true}", 200, NULL, NULL},
        {"PUT", "/t/_doc/2", "{\"k\":\"b\"}", 403, "FORBIDDEN/8/index write (api)", NULL},
        {"POST", "/t/_clone/u", "{\"mappings\":{}}", 400,
         "[resize_request] unknown field [mappings]", NULL},
        {"POST", "/t/_clone/u", "{\"settings\":{\"index.blocks.write\":null}}", 200,
         "{\"acknowledged\":true,\"shards_acknowledged\":true,\"index\":\"u\"}", NULL},
        {"POST", "/t/_clone/u", NULL, 400, "resource_already_exists_exception", NULL},
        {"POST", "/t/_clone/Bad", NULL, 400, "invalid_index_name_exception", NULL},
        {"GET", "/u/_doc/1", NULL, 200, "\"_version\":7", NULL},
        {"GET", "/u/_search?q=k:a", NULL, 200, "\"value\":1", NULL},
        {"GET", "/u", NULL, 200, "\"aliases\":{},\"mappings\":{\"dynamic\":\"strict\"",
         "\"write\""},
        {"PUT", "/u/_doc/2", "{\"k\":\"b\"}", 201, NULL, NULL},
        {"DELETE", "/t", NULL, 200, NULL, NULL},
        {"GET", "/u/_doc/1", NULL, 200, "\"found\":true", NULL}, );
}
END_TEST

START_TEST(a_read_only_index_changes_in_nothing_but_its_blocks)
{
    CONVERSATION(
        NULL, {"PUT", "/t", MAPPED, 200, NULL, NULL},
        {"PUT", "/t/_settings", "{\"index.blocks.read_only\":true}", 200, NULL, NULL},
        {"PUT", "/t/_mapping", "{\"_meta\":{}}", 403, "FORBIDDEN/5/index read-only (api)", NULL},
        {"POST", "/_aliases", ACTIONS(ADD("t", "live")), 403, "cluster_block_exception", NULL},
        {"PUT", "/t/_settings", "{\"index.refresh_interval\":\"5s\"}", 403,
         "cluster_block_exception", NULL},
        {"POST", "/t/_close", NULL, 403, "cluster_block_exception", NULL},
        {"DELETE", "/t", NULL, 403, "cluster_block_exception", NULL},
        {"PUT", "/t/_settings", "{\"index\":{\"blocks\":{\"read_only\":null}}}", 200, NULL, NULL},
        {"DELETE", "/t", NULL, 200, NULL, NULL}, );
}
END_TEST

/* HEAD has no body, so it needs a separate function. */
static long head(const char *url, const char *path)
{
    char target[256];
    long status = 0;
    CURL *curl = curl_easy_init();
    snprintf(target, sizeof(target), "%s%s", url, path);
    curl_easy_setopt(curl, CURLOPT_URL, target);
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (curl_easy_perform(curl) == CURLE_OK) {
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_easy_cleanup(curl);
    return status;
}

START_TEST(a_head_request_tells_what_is_there)
{
    struct devsearch service;
    static const struct step steps[] = {{"PUT", "/t", MAPPED, 200, NULL, NULL},
                                        {"PUT", "/t/_doc/1", "{}", 201, NULL, NULL}};
    devsearch_start(&service, NULL);
    steps_take(service.url, steps, 2);
    ck_assert_int_eq(head(service.url, "/"), 200);
    ck_assert_int_eq(head(service.url, "/t"), 200);
    ck_assert_int_eq(head(service.url, "/nope"), 404);
    ck_assert_int_eq(head(service.url, "/_alias/ta"), 200);
    ck_assert_int_eq(head(service.url, "/_alias/nope"), 404);
    ck_assert_int_eq(head(service.url, "/t/_doc/1"), 200);
    ck_assert_int_eq(head(service.url, "/t/_doc/2"), 404);
    devsearch_stop(&service);
}
END_TEST

SUITE_MAIN("devsearch/indices", a_head_request_tells_what_is_there,
           an_index_is_created_shown_and_deleted,
           an_index_is_deleted_while_a_document_of_another_was_just_read,
           bad_names_are_refused_in_the_words_of_the_service, what_a_mapping_cannot_be_is_refused,
           a_mapping_grows_but_never_changes_a_type,
           a_closed_index_is_there_but_neither_read_nor_written,
           a_clone_has_the_documents_and_their_versions,
           a_read_only_index_changes_in_nothing_but_its_blocks,
           an_alias_is_swapped_whole_or_not_at_all, an_alias_of_two_indices_needs_a_write_index)
