/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of check about the service's account and the pipeline's index, and their remedies. Where
 * devsearch lacks an answer, it is scripted. */
#include <stdio.h>
#include <string.h>

#include "generations.h"
#include "http.h"
#include "lines.h"
#include "sql.h"
#include "suite.h"

#define ALL(table) planted_try_all(table, sizeof(table) / sizeof((table)[0]))
#define SAYS(path, status, answer)                                                                 \
    "{\"path\":\"" path "\",\"status\":" #status ",\"answer\":" answer "}"

/* Pretends another service than devsearch. Each path matches only its own requests. */
#define ELASTIC                                                                                    \
    SAYS("=/", 200, "{\"version\":{\"number\":\"8.19.0\"},\"tagline\":\"You Know, for Search\"}")
#define OPEN                                                                                       \
    SAYS("=/", 200, "{\"version\":{\"number\":\"2.19.4\",\"distribution\":\"opensearch\"}}")
#define FERRY SAYS("_security/_authenticate", 200, "{\"username\":\"ferry\"}")
#define NAME(all) "{\"read\":" all ",\"index\":true,\"delete\":true,\"manage\":" all "}"
#define MAY(all, others, ours)                                                                     \
    SAYS("_has_privileges", 200,                                                                   \
         "{\"cluster\":{\"all\":" all ",\"manage_security\":false},\"index\":{\"*\":{\"read\":"    \
         "" others ",\"delete_index\":" others                                                     \
         "},\"shop-articles\":" NAME(ours) ",\"shop-"                                              \
                                           "articles-*\":" NAME(ours) "}}")
#define ROLES(roles, backend)                                                                      \
    SAYS("_security/authinfo", 200,                                                                \
         "{\"user_name\":\"ferry\",\"roles\":[" roles "],\"backend_roles\":[" backend "]}")
#define REFUSED(path, action)                                                                      \
    SAYS(path, 403,                                                                                \
         "{\"error\":{\"type\":\"security_exception\",\"reason\":\"no permissions for [" action    \
         "] and User [name=ferry]\"},\"status\":403}")
#define CONFINED REFUSED("no-index-of-anybody", "indices:data/read/search")

START_TEST(an_account_with_too_much_or_too_little_is_found)
{
    static const struct planted faults[] = {
        {.line = "privileges",
         .status = "FAIL",
         .words = "lacks read, manage on \"shop-articles\"; read, manage on \"shop-articles-*\"",
         .faults = {ELASTIC, FERRY, MAY("false", "false", "false")},
         .remedy =
             "POST /_security/api_key {\"name\":\"rowferry-shop-articles\",\"role_descriptors\":{"
             "\"rowferry-shop-articles\":{\"indices\":[{\"names\":[\"shop-articles\",\"shop-"
             "articles-*\"],\"privileges\":[\"read\",\"index\",\"delete\",\"manage\"]}]}}}",
         .mend = MEND_SERVICE,
         .answers = {ELASTIC, FERRY, MAY("false", "false", "true")}},
        {.line = "account",
         .status = "WARN",
         .words = "may do more than its pipelines need: read on \"*\", delete_index on \"*\"",
         .faults = {ELASTIC, FERRY, MAY("false", "true", "true")},
         .remedy = "have it granted the role that \"privileges\" names",
         .mend = MEND_SERVICE,
         .answers = {ELASTIC, FERRY, MAY("false", "false", "true")}},
        {.line = "privileges",
         .status = "FAIL",
         .words = "lacks indices:data/read/mget",
         .faults = {OPEN, ROLES("\"own\"", ""), CONFINED,
                    REFUSED("/_mget", "indices:data/read/mget")},
         .remedy = "PUT /_plugins/_security/api/roles/rowferry-shop-articles {"
                   "\"cluster_permissions\":[\"indices:data/write/bulk\",\"indices:data/read/"
                   "mget\"],\"index_permissions\":[{\"index_patterns\":[\"shop-articles\",\"shop-"
                   "articles-*\"],\"allowed_actions\":[\"read\",\"write\",\"manage\"]}]}",
         .mend = MEND_SERVICE,
         .answers = {OPEN, ROLES("\"own\"", ""), CONFINED}},
        {.line = "account",
         .status = "WARN",
         .words = "search any index, create any index",
         .faults = {OPEN, ROLES("\"own\"", "")},
         .remedy = "have it granted the role that \"privileges\" names",
         .mend = MEND_SERVICE,
         .answers = {OPEN, ROLES("\"own\"", ""), CONFINED}},
        {.line = "account",
         .status = "WARN",
         .words = "asks for no credential",
         .faults = {OPEN},
         .remedy = "turn the service's security on",
         .mend = MEND_SERVICE,
         .answers = {OPEN, ROLES("\"own\"", ""), CONFINED}},
        {.line = "account",
         .status = "WARN",
         .words = "could not see",
         .faults = {OPEN, SAYS("_security/authinfo", 403, "{\"error\":\"forbidden\"}")},
         .remedy = "ask the operator of the service",
         .mend = MEND_SERVICE,
         .answers = {OPEN, ROLES("\"own\"", ""), CONFINED}},
    };
    ALL(faults);
}
END_TEST

START_TEST(a_service_that_fails_for_the_moment_has_a_remedy_too)
{
    static const struct planted faults[] = {
        {.line = "account",
         .status = "FAIL",
         .words = "503",
         .faults = {OPEN, SAYS("_security/authinfo", 503, "{}")},
         .remedy = "look for the server's problem, then run check again",
         .mend = MEND_SERVICE,
         .answers = {OPEN, ROLES("\"own\"", ""), CONFINED}},
    };
    ALL(faults);
}
END_TEST

/* Tests each sign of an administrator, for both products; --accept-admin accepts it. */
START_TEST(an_administrator_is_refused_unless_it_is_meant)
{
    static const struct {
        const char *root, *who, *may, *words;
    } administrators[] = {
        {ELASTIC, FERRY, MAY("true", "true", "true"), "cluster privilege all"},
        {OPEN, ROLES("\"all_access\"", ""), CONFINED, "role all_access"},
        {OPEN, ROLES("\"own\"", "\"admin\""), CONFINED, "backend role admin"},
        {OPEN, ROLES("\"security_manager\"", ""), CONFINED, "role security_manager"},
    };
    struct world w;
    struct lines l;
    world_start(&w, 5, NULL);
    world_install(&w);
    w.strict = true;
    world_configure(&w, WORLD_PROPERTIES, "");
    for (size_t i = 0; i < sizeof(administrators) / sizeof(administrators[0]); i++) {
        world_fault(&w, administrators[i].root);
        world_fault(&w, administrators[i].who);
        world_fault(&w, administrators[i].may);
        lines_look(&l, w.config, NULL, NULL);
        ck_assert_int_eq(l.exit_code, 4);
        const char *remedy = lines_expect(&l, "account", "FAIL", administrators[i].words);
        ck_assert_ptr_nonnull(strstr(remedy, "create an account for rowferry alone"));
        lines_release(&l);
        lines_look(&l, w.config, "--accept-admin", NULL);
        ck_assert_int_eq(l.exit_code, 0);
        lines_expect(&l, "account", "WARN", administrators[i].words);
        lines_release(&l);
        world_unfault(&w);
    }
    world_fault(&w, OPEN);
    world_fault(&w, ROLES("\"own\"", ""));
    world_fault(&w, CONFINED);
    lines_look(&l, w.config, "--accept-admin", NULL);
    lines_expect(&l, "account", "PASS", "\"ferry\" is not an administrator");
    lines_expect(&l, "privileges", "PASS", "enough for \"shop-articles\"");
    lines_release(&l);
    world_stop(&w);
}
END_TEST

#define TEMPLATE(stream)                                                                           \
    SAYS("/_index_template", 200,                                                                  \
         "{\"index_templates\":[{\"name\":\"shop-logs\",\"index_template\":{\"index_patterns\":["  \
         "\"shop-*\"],\"priority\":100" stream "}}]}")

START_TEST(what_a_name_means_to_the_service_is_told)
{
    static const struct planted faults[] = {
        {.line = "product",
         .status = "WARN",
         .words = "OpenSearch 1.3.20, which rowferry is not",
         .faults = {SAYS("=/", 200,
                         "{\"version\":{\"number\":\"1.3.20\",\"distribution\":"
                         "\"opensearch\"}}")},
         .remedy = "use a release that was tested: Elasticsearch 8.19.21, Elasticsearch 9.5.3, "
                   "OpenSearch 2.19.4, OpenSearch 3.4.0",
         .mend = MEND_SERVICE,
         .answers = {OPEN}},
        {.line = "product",
         .status = "FAIL",
         .words = "neither OpenSearch nor Elasticsearch",
         .faults = {SAYS("=/", 200, "{\"name\":\"something else\"}")},
         .remedy = "correct service.url",
         .mend = MEND_SERVICE,
         .answers = {OPEN}},
        {.line = "product",
         .status = "WARN",
         .words = "unknown: this credential may not ask",
         .faults = {SAYS("=/", 403, "{}")},
         .remedy = "expect OpenSearch or Elasticsearch at service.url",
         .mend = MEND_SERVICE,
         .answers = {OPEN}},
        {.line = "index name",
         .status = "FAIL",
         .words = "by the template \"shop-logs\"",
         .faults = {TEMPLATE(",\"data_stream\":{}")},
         .remedy = "DELETE /_index_template/shop-logs",
         .mend = MEND_SERVICE,
         .answers = {TEMPLATE("")}},
        {.line = "creation",
         .status = "WARN",
         .words = "creates an index of that name",
         .faults = {SAYS("/_cluster/settings", 200,
                         "{\"defaults\":{\"action\":{\"auto_create_index\":\"true\"}}}")},
         .remedy = "{\"persistent\":{\"action.auto_create_index\":\"-shop-articles,+*\"}}",
         .mend = MEND_SERVICE,
         .answers = {SAYS("/_cluster/settings", 200,
                          "{\"persistent\":{\"action\":{\"auto_create_index\":\"-shop-articles,+*"
                          "\"}},\"defaults\":{\"action\":{\"auto_create_index\":\"true\"}}}")}},
        {.line = "creation",
         .status = "WARN",
         .words = "creates an index of that name",
         .faults = {SAYS("/_cluster/settings", 200,
                         "{\"persistent\":{\"action\":{\"auto_create_index\":\"+shop*,-*\"}}}")},
         .remedy = "rowferry sync articles",
         .mend = MEND_ROWFERRY},
    };
    ALL(faults);
}
END_TEST

START_TEST(nodes_that_are_too_full_are_told)
{
    static const struct planted faults[] = {
        {.line = "storage",
         .status = "FAIL",
         .words = "are left below the low watermark",
         .faults = {SAYS("/_nodes/", 200,
                         "{\"nodes\":{\"a\":{\"fs\":{\"total\":{\"total_in_bytes\":1000000,"
                         "\"available_in_bytes\":150100}}}}}"),
                    SAYS("/_cluster/settings", 200,
                         "{\"defaults\":{\"action\":{\"auto_create_index\":\"false\"}}}")},
         .remedy = "give the nodes larger disks",
         .mend = MEND_SERVICE,
         .answers = {SAYS("/_nodes/", 200,
                          "{\"nodes\":{\"a\":{\"fs\":{\"total\":{\"total_in_bytes\":1000000000,"
                          "\"available_in_bytes\":900000000}}}}}"),
                     SAYS("/_cluster/settings", 200,
                          "{\"defaults\":{\"action\":{\"auto_create_index\":\"false\"}}}")}},
    };
    ALL(faults);
}
END_TEST

static void ask(const struct world *w, const char *method, const char *path, const char *body)
{
    json_object_put(reply_json(200, method, w->service.url, path, body, "ApiKey " WORLD_API_KEY));
}

static void found_and_gone(struct world *w, const char *line, const char *words, const char *remedy)
{
    struct lines l;
    lines_look(&l, w->config, "--accept-admin", NULL);
    ck_assert_int_eq(l.exit_code, 4);
    const char *said = lines_expect(&l, line, "FAIL", words);
    ck_assert_msg(strstr(said, remedy) != NULL, "%s", said);
    lines_release(&l);
}

static void passes(struct world *w, const char *line)
{
    struct lines l;
    lines_look(&l, w->config, "--accept-admin", NULL);
    lines_expect(&l, line, "PASS", "");
    ck_assert_int_eq(l.exit_code, 0);
    lines_release(&l);
}

START_TEST(a_name_that_others_have_is_told)
{
    struct world w;
    world_start(&w, 5, NULL);
    world_install(&w);
    ask(&w, "PUT", "/shop-articles", "{}");
    found_and_gone(&w, "index", "is an index", "rowferry reindex --adopt");
    rowferry_expect(0, w.config, "reindex", "--adopt", NULL);
    passes(&w, "index");
    world_stop(&w);

    world_start(&w, 5, NULL);
    world_install(&w);
    ask(&w, "PUT", "/others", "{\"aliases\":{\"shop-articles\":{}}}");
    found_and_gone(
        &w, "index", "which rowferry did not build",
        "POST /_aliases {\"actions\":[{\"remove\":{\"index\":\"others\",\"alias\":\"shop-"
        "articles\"}}]}");
    ask(&w, "PUT", "/more", "{\"aliases\":{\"shop-articles\":{}}}");
    found_and_gone(&w, "index", "points at several indices", "choose another to.index");
    ask(&w, "POST", "/_aliases",
        "{\"actions\":[{\"remove\":{\"index\":\"others\",\"alias\":\"shop-articles\"}},{\"remove\":"
        "{\"index\":\"more\",\"alias\":\"shop-articles\"}}]}");
    passes(&w, "index");
    world_stop(&w);
}
END_TEST

/* Follows a remedy to the letter: a request to the service, or a command, up to a ';'. */
static void follow(const struct world *w, const char *remedy)
{
    char text[512];
    char *save = NULL;
    snprintf(text, sizeof(text), "%.*s", (int)strcspn(remedy, ";"), remedy);
    const char *method = strtok_r(text, " ", &save);
    char *path = strtok_r(NULL, " ", &save);
    if (strcmp(method, "rowferry") == 0) {
        rowferry_expect(0, w->config, path, strtok_r(NULL, " ", &save), NULL);
    } else {
        struct reply reply;
        reply_get(&reply, method, w->service.url, path, strtok_r(NULL, "", &save),
                  GENERATIONS_AUTH);
        ck_assert_msg(reply.status == 200, "%s: %d %s", remedy, reply.status, reply.body);
        reply_release(&reply);
    }
}

#define ALIAS_ACTION(action, index)                                                                \
    "{\"" action "\":{\"index\":\"" index "\",\"alias\":\"shop-articles\"}}"

START_TEST(a_live_index_that_cannot_be_written_is_told)
{
    static const struct {
        const char *method, *path, *body; /* %s: the live index */
        const char *words;
    } faults[] = {
        {"POST", "/%s/_close", NULL, "is closed"},
        {"PUT", "/%s/_settings", "{\"index.blocks.write\":true}", "\"index.blocks.write\" is set"},
        {"PUT", "/%s/_settings", "{\"index.blocks.read_only\":true}",
         "\"index.blocks.read_only\" is set"},
        {"POST", "/_aliases", "{\"actions\":[" ALIAS_ACTION("remove", "%s") "]}",
         "alias \"shop-articles\" no longer exists"},
        {"POST", "/_aliases",
         "{\"actions\":[" ALIAS_ACTION("remove", "%s") "," ALIAS_ACTION("add", "other") "]}",
         "alias \"shop-articles\" points at \"other\" instead of"},
        {"DELETE", "/%s", NULL, "no longer exists"},
    };
    struct world w;
    world_start(&w, 20, NULL);
    world_install(&w);
    ask(&w, "PUT", "/other", "{}");
    rowferry_expect(0, w.config, "sync", NULL);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct lines l;
        char path[160];
        char body[320] = "";
        char *live = generations_live(&w, "shop-articles");
        snprintf(path, sizeof(path), faults[i].path, live);
        if (faults[i].body != NULL) {
            snprintf(body, sizeof(body), faults[i].body, live);
        }
        ask(&w, faults[i].method, path, faults[i].body != NULL ? body : NULL);
        lines_look(&l, w.config, "--accept-admin", NULL);
        const char *remedy = lines_expect(&l, "index", "FAIL", faults[i].words);
        bool refused = strstr(faults[i].words, "other") != NULL;
        ck_assert(!refused || strstr(remedy, "rowferry reindex") == NULL);
        follow(&w, remedy);
        lines_release(&l);
        passes(&w, "index");
        free(live);
    }
    world_stop(&w);
}
END_TEST

START_TEST(the_error_of_the_last_run_is_told_until_one_succeeds)
{
    struct world w;
    struct lines l;
    struct program_result result;
    world_start(&w, 20, NULL);
    world_install(&w);
    sql_exec(w.conn, "alter table articles rename column title to heading");
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_int_ne(result.exit_code, 0);
    expect_text(result.err, "error event=sync_ended pipeline=articles outcome=failed message=");
    program_result_release(&result);
    sql_exec(w.conn, "alter table articles rename column heading to title");
    lines_look(&l, w.config, "--accept-admin", NULL);
    follow(&w, strstr(lines_expect(&l, "standing", "WARN", "title"), "rowferry sync"));
    lines_release(&l);
    passes(&w, "standing");
    world_stop(&w);
}
END_TEST

static char *everything(const struct world *w)
{
    struct json_object *aliases =
        reply_json(200, "GET", w->service.url, "/_alias", NULL, "ApiKey " WORLD_API_KEY);
    struct json_object *mapping =
        reply_json(200, "GET", w->service.url, "/shop-articles", NULL, "ApiKey " WORLD_API_KEY);
    struct json_object *documents =
        reply_json(200, "GET", w->service.url, "/_count", NULL, "ApiKey " WORLD_API_KEY);
    char *log = sql_text(w->conn, "select string_agg(c::text, ' ' order by c::text) from (select "
                                  "x.*::text from rowferry.change x union all select x.*::text "
                                  "from rowferry.consumer x) c");
    char *text = NULL;
    ck_assert_int_gt(asprintf(&text, "%s%s%s%s", json_object_to_json_string(aliases),
                              json_object_to_json_string(mapping),
                              json_object_to_json_string(documents), log),
                     0);
    free(log);
    json_object_put(aliases);
    json_object_put(mapping);
    json_object_put(documents);
    return text;
}

/* This includes the requests that are sent to be refused. */
START_TEST(check_changes_nothing)
{
    struct world w;
    struct lines l;
    world_start(&w, 20, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    sql_exec(w.conn, "update articles set title = 'waits' where source_id = 3");
    world_fault(&w, OPEN);
    world_fault(&w, ROLES("\"own\"", ""));
    char *before = everything(&w);
    lines_look(&l, w.config, "--accept-admin", NULL);
    lines_expect(&l, "privileges", "PASS", "enough");
    lines_release(&l);
    char *after = everything(&w);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/check_index", check_changes_nothing,
           an_account_with_too_much_or_too_little_is_found,
           a_service_that_fails_for_the_moment_has_a_remedy_too,
           an_administrator_is_refused_unless_it_is_meant, what_a_name_means_to_the_service_is_told,
           nodes_that_are_too_full_are_told, a_name_that_others_have_is_told,
           a_live_index_that_cannot_be_written_is_told,
           the_error_of_the_last_run_is_told_until_one_succeeds)
