/* SPDX-License-Identifier: Apache-2.0 */
/* A valid file: values, defaults, precedence. */
#include "rowferry/config/config.h"

#include "configfile.h"

#define PIPELINE_TWO                                                                               \
    "{\"name\": \"authors\", \"from\": {\"table\": \"authors\"}, \"limits\": {\"window_bytes\": "  \
    "\"1MiB\"}, \"to\": {\"index\": \"shop-authors\", " MAPPINGS "}}"

static const char whole[] =
    "// the shop\n"
    "{\n"
    "  \"source\": { \"uri\": \"postgresql://rowferry@db.internal/shop\",\n"
    "              \"password\": { \"file\": \"secrets/pg\" } }, /* two\n lines */\n"
    "  \"service\": { \"url\": [\"https://a:9200/search/\", \"https://b\"],\n"
    "               \"auth\": { \"api_key\": { \"env\": \"ROWFERRY_TEST_KEY\" } },\n"
    "               \"tls\": { \"ca_file\": \"/etc/ssl/search-ca.pem\" } },\n"
    "  \"state\": { \"path\": \"/var/lib/rowferry/shop.db\" },\n"
    "  \"listen\": \"127.0.0.1:9187\",\n"
    "  \"log\": { \"level\": \"debug\", \"format\": \"json\" },\n"
    "  \"limits\": { \"batch_bytes\": \"2MiB\", \"in_flight\": 3, \"poll_max\": \"5s\" },\n"
    "  \"delete_guard\": { \"share\": 0.5, \"count\": 7 },\n"
    "  \"pipelines\": [ {\n"
    "    \"name\": \"articles\",\n"
    "    \"from\": { \"table\": \"public.articles\", \"key\": [\"tenant\", \"id\"],\n"
    "              \"where\": \"deleted_at is null\", \"capture\": { \"mode\": \"changelog\" } },\n"
    "    \"to\": { \"index\": \"shop-articles\", \"kind\": \"index\",\n"
    "            \"mappings\": { \"properties\": { \"title\": { \"type\": \"text\" },\n"
    "                                         \"env\": { \"type\": \"keyword\" } } },\n"
    "            \"settings\": { \"number_of_replicas\": 1, \"a/b\": \"\\u00e9\" },\n"
    "            \"ingest_pipeline\": null, \"keep\": 2 },\n"
    "    \"fields\": { \"title\": \"headline\", \"env\": null },\n"
    "    \"limits\": { \"in_flight\": 5 },\n"
    "    \"validate\": { \"k\": 3, \"sort\": [\"env\"], \"queries\": [ { \"q\": \"title:x\",\n"
    "      \"expect\": [\"1\", \"2\"], \"judgements\": { \"1\": 3, \"9\": 0 } } ] },\n"
    "    \"capacity\": { \"growth\": 1 }\n"
    "  }, " PIPELINE_TWO " ]\n"
    "}\n";

START_TEST(no_option_is_without_effect)
{
    configfile_enter();
    struct err err;
    struct config *c = configfile_load(whole, &err);
    ck_assert_msg(c != NULL, "%s", err.message);
    ck_assert_uint_eq(c->warning_count, 0);
    config_free(c);
}
END_TEST

START_TEST(every_part_of_the_file_arrives)
{
    configfile_enter();
    struct err err;
    struct config *c = configfile_load(whole, &err);
    ck_assert_msg(c != NULL, "%s", err.message);
    ck_assert_str_eq(c->path, "shop.json");
    ck_assert_str_eq(c->source.uri, "postgresql://rowferry@db.internal/shop");
    ck_assert_int_eq(c->source.password.origin, SECRET_FILE);
    ck_assert_str_eq(c->source.password.place, "secrets/pg");
    ck_assert_ptr_null(c->source.password.value);
    ck_assert_uint_eq(c->service.url_count, 2);
    ck_assert_str_eq(c->service.urls[0], "https://a:9200/search");
    ck_assert_str_eq(c->service.urls[1], "https://b");
    ck_assert_int_eq(c->service.api_key.origin, SECRET_ENV);
    ck_assert_str_eq(c->service.api_key.place, "ROWFERRY_TEST_KEY");
    ck_assert_str_eq(c->service.ca_file, "/etc/ssl/search-ca.pem");
    ck_assert_str_eq(c->state_path, "/var/lib/rowferry/shop.db");
    ck_assert_str_eq(c->listen, "127.0.0.1:9187");
    ck_assert_int_eq(c->log_level, LOG_DEBUG);
    ck_assert_int_eq(c->log_format, LOG_JSON);
    ck_assert_uint_eq(c->pipeline_count, 2);
    const struct pipeline_config *p = config_pipeline(c, "articles");
    ck_assert_ptr_eq(p, &c->pipelines[0]);
    ck_assert_str_eq(p->from.table, "public.articles");
    ck_assert_uint_eq(p->from.key_count, 2);
    ck_assert_str_eq(p->from.key[1], "id");
    ck_assert_str_eq(p->from.where, "deleted_at is null");
    ck_assert_int_eq(p->from.capture_mode, CAPTURE_MODE_CHANGELOG);
    ck_assert_str_eq(p->to.index, "shop-articles");
    ck_assert_str_eq(p->to.mappings, "{\"properties\":{\"title\":{\"type\":\"text\"},"
                                     "\"env\":{\"type\":\"keyword\"}}}");
    ck_assert_str_eq(p->to.settings, "{\"number_of_replicas\":1,\"a/b\":\"\xc3\xa9\"}");
    ck_assert_ptr_null(p->to.ingest_pipeline);
    ck_assert_int_eq(p->to.keep, 2);
    ck_assert_uint_eq(p->field_count, 2);
    ck_assert_str_eq(p->fields[0].property, "title");
    ck_assert_str_eq(p->fields[0].column, "headline");
    ck_assert_str_eq(p->fields[1].property, "env");
    ck_assert_ptr_null(p->fields[1].column);
    config_free(c);
    configfile_leave();
}
END_TEST

START_TEST(limits_are_the_pipelines_own_else_the_top_levels_else_the_default)
{
    configfile_enter();
    struct err err;
    struct config *c = configfile_load(whole, &err);
    ck_assert_msg(c != NULL, "%s", err.message);
    const struct limits_config *own = &c->pipelines[0].limits;
    const struct limits_config *other = &c->pipelines[1].limits;
    ck_assert_int_eq(own->in_flight, 5);
    ck_assert_int_eq(other->in_flight, 3);
    ck_assert_int_eq(own->batch_bytes, 2 << 20);
    ck_assert_int_eq(own->poll_max_ms, 5000);
    ck_assert_int_eq(own->batch_operations, 5000);
    ck_assert_int_eq(own->window_bytes, 6 << 20);
    ck_assert_int_eq(other->window_bytes, 1 << 20);
    ck_assert_int_eq(other->batch_bytes, 2 << 20);
    ck_assert_double_eq(c->pipelines[0].delete_guard.share, 0.5);
    ck_assert_int_eq(c->pipelines[1].delete_guard.count, 7);
    config_free(c);
    configfile_leave();
}
END_TEST

START_TEST(a_small_file_has_the_designs_defaults)
{
    configfile_enter();
    struct err err;
    struct config *c = configfile_load("{" SOURCE "," SERVICE "," PIPELINES "}", &err);
    ck_assert_msg(c != NULL, "%s", err.message);
    const struct pipeline_config *p = &c->pipelines[0];
    ck_assert_int_eq(p->limits.batch_bytes, 5 << 20);
    ck_assert_int_eq(p->limits.batch_operations, 5000);
    ck_assert_int_eq(p->limits.in_flight, 8);
    ck_assert_int_eq(p->limits.window_bytes, 12 << 20);
    ck_assert_int_eq(p->limits.document_bytes, 16 << 20);
    ck_assert_int_eq(p->limits.request_timeout_ms, 60000);
    ck_assert_int_eq(p->limits.retry_budget_ms, 120000);
    ck_assert_int_eq(p->limits.poll_min_ms, 20);
    ck_assert_int_eq(p->limits.poll_max_ms, 1000);
    ck_assert_int_eq(p->limits.linger_ms, 20);
    ck_assert_double_eq(p->delete_guard.share, 0.1);
    ck_assert_int_eq(p->delete_guard.count, 100);
    ck_assert_int_eq(p->on_schema_change, ON_SCHEMA_CHANGE_STOP);
    ck_assert_int_eq(p->to.keep, 1);
    ck_assert_int_eq(c->log_level, LOG_INFO);
    ck_assert_int_eq(c->log_format, LOG_TEXT);
    ck_assert_str_eq(c->state_path, "rowferry.db");
    ck_assert_ptr_null(c->listen);
    ck_assert_ptr_null(config_pipeline(c, "authors"));
    struct service_options service;
    struct source_options source;
    config_service_options(c, p, &service);
    ck_assert_int_eq(service.request_timeout_ms, 60000);
    ck_assert_uint_eq(service.in_flight, 8);
    ck_assert_str_eq(service.urls[0], "https://search:9200");
    ck_assert_ptr_null(service.credentials[SERVICE_API_KEY].value);
    config_source_options(c, "rowferry sync articles", &source);
    ck_assert_str_eq(source.uri, "postgresql://db/shop");
    ck_assert_str_eq(source.application_name, "rowferry sync articles");
    config_free(c);
    configfile_leave();
}
END_TEST

START_TEST(the_environment_fills_strings_and_has_the_last_word)
{
    configfile_enter();
    struct err err;
    setenv("ROWFERRY_TEST_URI", "postgresql://other/shop", 1);
    unsetenv("ROWFERRY_TEST_NONE");
    static const char text[] =
        "{\"source\": {\"uri\": {\"env\": \"ROWFERRY_TEST_URI\", \"default\": \"x\"}},"
        "\"service\": {\"url\": [{\"env\": \"ROWFERRY_TEST_NONE\", \"default\": "
        "\"http://localhost\"}]},\"listen\": \"localhost:1\",\"log\": {\"level\": \"warn\"},"
        "\"limits\": {\"linger\": {\"env\": \"ROWFERRY_TEST_NONE\", \"default\": "
        "\"3ms\"}}," PIPELINES "}";
    setenv("ROWFERRY_LOG_LEVEL", "error", 1);
    setenv("ROWFERRY_LOG_FORMAT", "json", 1);
    setenv("ROWFERRY_LISTEN", "[::1]:9187", 1);
    setenv("STATE_DIRECTORY", "/var/lib/rowferry:/other", 1);
    struct config *c = configfile_load(text, &err);
    ck_assert_msg(c != NULL, "%s", err.message);
    ck_assert_str_eq(c->source.uri, "postgresql://other/shop");
    ck_assert_str_eq(c->service.urls[0], "http://localhost");
    ck_assert_int_eq(c->pipelines[0].limits.linger_ms, 3);
    ck_assert_int_eq(c->log_level, LOG_ERROR);
    ck_assert_int_eq(c->log_format, LOG_JSON);
    ck_assert_str_eq(c->listen, "[::1]:9187");
    ck_assert_str_eq(c->state_path, "/var/lib/rowferry/rowferry.db");
    config_free(c);
    setenv("ROWFERRY_LISTEN", "nowhere", 1);
    ck_assert_ptr_null(configfile_load(text, &err));
    ck_assert_str_eq(err.message, "$ROWFERRY_LISTEN: host:port is "
                                  "expected, like \"127.0.0.1:9187\"");
    setenv("ROWFERRY_LOG_LEVEL", "loud", 1);
    ck_assert_ptr_null(configfile_load(text, &err));
    ck_assert_str_eq(err.message, "$ROWFERRY_LOG_LEVEL is \"loud\"; it must "
                                  "be one of debug, info, warn, error");
    configfile_leave();
}
END_TEST

START_TEST(the_file_is_searched_in_order)
{
    configfile_enter();
    struct err err = {0};
    struct config *c;
    static const char good[] = "{" SOURCE "," SERVICE "," PIPELINES "}";
    ck_assert_int_eq(mkdir("conf", 0700), 0);
    configfile_write("rowferry.json", good);
    configfile_write("conf/other.json", good);
    ck_assert_int_eq(config_load(&c, NULL, &err), 0);
    ck_assert_str_eq(c->path, "./rowferry.json");
    ck_assert_str_eq(c->state_path, "./rowferry.db");
    config_free(c);
    setenv("ROWFERRY_CONFIG", "conf/other.json", 1);
    ck_assert_int_eq(config_load(&c, NULL, &err), 0);
    ck_assert_str_eq(c->path, "conf/other.json");
    ck_assert_str_eq(c->state_path, "conf/rowferry.db");
    config_free(c);
    ck_assert_int_eq(config_load(&c, "none.json", &err), ERR_CONFIG);
    ck_assert_str_eq(err.message,
                     "cannot read the configuration \"none.json\": No such file or directory");
    ck_assert_int_eq(config_load(&c, "conf", &err), ERR_CONFIG);
    ck_assert_str_eq(err.message, "cannot read the configuration \"conf\": Is a directory");
    unlink("conf/other.json");
    rmdir("conf");
    unlink("rowferry.json");
    configfile_leave();
}
END_TEST

START_TEST(searches_and_what_they_find_arrive)
{
    configfile_enter();
    struct err err;
    struct config *c = configfile_load(whole, &err);
    ck_assert_msg(c != NULL, "%s", err.message);
    const struct validate_config *v = &c->pipelines[0].validate;
    ck_assert_int_eq(v->sample, 500);
    ck_assert_int_eq(v->k, 3);
    ck_assert_uint_eq(v->sort_count, 1);
    ck_assert_uint_eq(v->filter_count, 0);
    ck_assert_uint_eq(v->query_count, 1);
    ck_assert_str_eq(v->queries[0].q, "title:x");
    ck_assert_ptr_null(v->queries[0].body);
    ck_assert_uint_eq(v->queries[0].expect_count, 2);
    ck_assert_str_eq(v->queries[0].expect[1], "2");
    ck_assert_uint_eq(v->queries[0].judgement_count, 2);
    ck_assert_str_eq(v->queries[0].judgements[1].id, "9");
    ck_assert_int_eq(v->queries[0].judgements[0].grade, 3);
    config_free(c);
}
END_TEST

SUITE_MAIN("config/config", no_option_is_without_effect, every_part_of_the_file_arrives,
           limits_are_the_pipelines_own_else_the_top_levels_else_the_default,
           a_small_file_has_the_designs_defaults,
           the_environment_fills_strings_and_has_the_last_word, the_file_is_searched_in_order,
           searches_and_what_they_find_arrive)
