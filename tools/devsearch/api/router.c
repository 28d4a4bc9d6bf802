/* SPDX-License-Identifier: Apache-2.0 */
/* Table of endpoints: method, path, allowed parameters, handler. */
#include "api/server.h"
#include "base/filter.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#define WRITES                                                                                     \
    "refresh,version,version_type,op_type,timeout,routing,pipeline,require_alias,"                 \
    "wait_for_active_shards"
#define ADMIN "timeout,master_timeout,cluster_manager_timeout,wait_for_active_shards"
#define LIST ",ignore_unavailable,allow_no_indices,expand_wildcards"
#define LOOK                                                                                       \
    "flat_settings,include_defaults,local,ignore_unavailable,allow_no_indices,"                    \
    "expand_wildcards,master_timeout,cluster_manager_timeout"
#define SEARCH                                                                                     \
    "q,size,from,_source,track_total_hits,version,ignore_unavailable,"                             \
    "allow_no_indices,expand_wildcards,request_cache,timeout,preference,"                          \
    "allow_partial_search_results,search_pipeline"

/* {i} matches an index expression, {x} any single segment. The first matching entry wins. */
static const struct {
    unsigned methods;
    const char *path;
    const char *parameters;
    handler *run;
} routes[] = {
    {GET | HEAD, "", "", get_root},
    {POST | PUT, "_bulk",
     "refresh,timeout,routing,pipeline,require_alias,wait_for_active_shards,_source", bulk},
    {POST | PUT, "{i}/_bulk",
     "refresh,timeout,routing,pipeline,require_alias,wait_for_active_shards,_source", bulk},
    {POST, "_aliases", ADMIN, post_aliases},
    {GET | HEAD, "_alias", LOOK, get_alias},
    {GET | HEAD, "_alias/{x}", LOOK, get_alias},
    {GET | HEAD, "{i}/_alias", LOOK, get_alias},
    {GET | HEAD, "{i}/_alias/{x}", LOOK, get_alias},
    {GET | HEAD, "{i}/_mapping", LOOK, get_mapping},
    {PUT | POST, "{i}/_mapping", ADMIN, put_mapping},
    {GET, "{i}/_settings", LOOK, get_settings},
    {PUT, "{i}/_settings", ADMIN ",preserve_existing", put_settings},
    {POST | GET, "_refresh", "", refresh},
    {POST | GET, "{i}/_refresh", "", refresh},
    {GET | POST, "_search", SEARCH, search},
    {GET | POST, "{i}/_search", SEARCH, search},
    {GET | POST, "_count", "q", count},
    {GET | POST, "{i}/_count", "q,ignore_unavailable,allow_no_indices", count},
    {GET, "_stats", "", get_stats},
    {GET, "{i}/_stats", "", get_stats},
    {GET, "{i}/_stats/{x}", "", get_stats},
    {GET, "{i}/_segments", "verbose", get_segments},
    {GET, "_cluster/health", "wait_for_status,timeout,level,local,master_timeout", health},
    {GET, "_cluster/health/{x}", "wait_for_status,timeout,level,local,master_timeout", health},
    {POST, "{i}/_close", ADMIN LIST, close_index},
    {POST, "{i}/_open", ADMIN LIST, open_index},
    {PUT | POST, "{i}/_clone/{x}", ADMIN, clone_index},
    {GET | POST, "_analyze", "", analyze},
    {GET | POST, "{i}/_analyze", "", analyze},
    {GET | POST, "_mget", "_source,realtime", multi_get},
    {GET | POST, "{i}/_mget", "_source,realtime", multi_get},
    {POST, "{i}/_doc", WRITES, post_document},
    {PUT | POST, "{i}/_doc/{x}", WRITES, put_document},
    {PUT | POST, "{i}/_create/{x}", WRITES, put_document},
    {GET | HEAD, "{i}/_doc/{x}", "_source,realtime,routing,refresh,preference", get_document},
    {DELETE, "{i}/_doc/{x}", WRITES, delete_document},
    {GET | HEAD, "{i}/_source/{x}", "realtime,routing", get_source},
    {PUT | POST, "_index_template/{x}", "create,cause,master_timeout", put_template},
    {POST, "_index_template/_simulate_index/{x}", "master_timeout", simulate_template},
    {GET, "_index_template", "local,flat_settings,master_timeout", get_template},
    {GET, "_index_template/{x}", "local,flat_settings,master_timeout", get_template},
    {DELETE, "_index_template/{x}", ADMIN, delete_template},
    {PUT, "_data_stream/{x}", ADMIN, put_stream},
    {GET, "_data_stream", "expand_wildcards", get_stream},
    {GET, "_data_stream/{x}", "expand_wildcards", get_stream},
    {DELETE, "_data_stream/{x}", ADMIN, delete_stream},
    {POST, "{i}/_rollover", ADMIN, rollover},
    {POST, "_devsearch/faults", "", post_faults},
    {DELETE, "_devsearch/faults", "", delete_faults},
    {GET, "_devsearch/stats", "", get_fault_stats},
    {PUT, "{i}", ADMIN, create_index},
    {GET | HEAD, "{i}", LOOK, get_index},
    {DELETE, "{i}", ADMIN LIST, delete_index},
};

/* Endpoints that differ between the products. */
static const struct {
    enum product product;
    unsigned methods;
    const char *path;
    const char *parameters;
    handler *run;
} product_routes[] = {
    {OPENSEARCH, POST, "{i}/_search/point_in_time", "keep_alive,preference,routing", open_pit},
    {OPENSEARCH, DELETE, "_search/point_in_time", "", close_pit},
    {ELASTICSEARCH, POST, "{i}/_pit", "keep_alive,preference,routing", open_pit},
    {ELASTICSEARCH, DELETE, "_pit", "", close_pit},
};

static bool path_fits(const struct request *q, const char *path)
{
    size_t at = 0;
    while (*path != '\0') {
        size_t n = strcspn(path, "/");
        if (at == q->segment_count) {
            return false;
        }
        bool index = strncmp(path, "{i}", 3) == 0;
        bool any = strncmp(path, "{x}", 3) == 0;
        if (index ? q->segments[at][0] == '_' && q->segment_count > 1 &&
                        strcmp(q->segments[at], "_all") != 0
                  : !any &&
                        (strlen(q->segments[at]) != n || strncmp(q->segments[at], path, n) != 0)) {
            return false;
        }
        at++;
        path += n + (path[n] == '/');
    }
    return at == q->segment_count;
}

static bool in_list(const char *list, const char *name)
{
    size_t len = strlen(name);
    while (*list != '\0') {
        size_t n = strcspn(list, ",");
        if (n == len && strncmp(list, name, n) == 0) {
            return true;
        }
        list += n + (list[n] == ',');
    }
    return false;
}

static int check_parameters(const struct server *s, const struct request *q, const char *allowed,
                            struct refusal *refusal)
{
    const char *everywhere = s->options->product == OPENSEARCH
                                 ? "filter_path,pretty,human,error_trace"
                                 : "filter_path,pretty,human,error_trace,include_source_on_error";
    for (size_t i = 0; i < q->parameter_count; i++) {
        const char *name = q->parameters[i].name;
        if (!in_list(everywhere, name) && !in_list(allowed, name)) {
            return refuse(refusal, 400, "illegal_argument_exception",
                          "request [%s] contains unrecognized parameter: [%s]", q->path, name);
        }
    }
    return 0;
}

static const struct {
    enum method method;
    const char *name;
} method_names[] = {{GET, "GET"}, {HEAD, "HEAD"}, {PUT, "PUT"}, {POST, "POST"}, {DELETE, "DELETE"}};

static void no_route(const struct request *q, unsigned allowed, struct answer *a)
{
    struct buf text;
    size_t listed = 0;
    buf_init(&text, 65536);
    if (allowed == 0) {
        a->status = 400;
        buf_printf(&text, "no handler found for uri [%s] and method [%s]", q->path, q->method_name);
        buf_reset(&a->body);
        buf_push_literal(&a->body, "{\"error\":");
        push_json(&a->body, span_make(buf_text(&text), text.len));
        buf_push_char(&a->body, '}');
    } else {
        buf_printf(&text, "Incorrect HTTP method for uri [%s] and method [%s], allowed: [", q->path,
                   q->method_name);
        for (size_t i = 0; i < sizeof(method_names) / sizeof(method_names[0]); i++) {
            if ((allowed & method_names[i].method) != 0) {
                buf_printf(&text, "%s%s", listed++ > 0 ? ", " : "", method_names[i].name);
            }
        }
        buf_push_char(&text, ']');
        answer_plain_error(a, 405, buf_text(&text));
    }
    buf_release(&text);
}

static handler *find(const struct server *s, const struct request *q, const char **parameters,
                     unsigned *allowed)
{
    for (size_t i = 0; i < sizeof(product_routes) / sizeof(product_routes[0]); i++) {
        if (product_routes[i].product == s->options->product &&
            path_fits(q, product_routes[i].path)) {
            *allowed |= product_routes[i].methods;
            *parameters = product_routes[i].parameters;
            if ((product_routes[i].methods & q->method) != 0) {
                return product_routes[i].run;
            }
        }
    }
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (path_fits(q, routes[i].path)) {
            *allowed |= routes[i].methods;
            *parameters = routes[i].parameters;
            if ((routes[i].methods & q->method) != 0) {
                return routes[i].run;
            }
        }
    }
    return NULL;
}

static void shape(const struct request *q, struct answer *a)
{
    const char *paths = request_parameter(q, "filter_path");
    struct buf out;
    /* refusals are never filtered */
    if (paths != NULL && paths[0] != '\0' && a->content_type == NULL && a->status < 400) {
        buf_init(&out, ANSWER_MAX_BYTES);
        if (filter_answer(span_make(buf_text(&a->body), a->body.len), paths, &out) == 0) {
            buf_release(&a->body);
            a->body = out;
            if (a->body.len == 0) {
                buf_push_literal(&a->body, "{}");
            }
        } else {
            buf_release(&out);
        }
    }
    if (request_flag(q, "pretty") && a->content_type == NULL) {
        struct json_object *json = json_tokener_parse(buf_text(&a->body));
        buf_reset(&a->body);
        buf_push_text(&a->body, json_object_to_json_string_ext(
                                    json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                              JSON_C_TO_STRING_NOSLASHESCAPE));
        buf_push_char(&a->body, '\n');
        json_object_put(json);
    }
}

void route(struct server *s, const struct request *q, struct answer *a)
{
    struct refusal refusal;
    const char *parameters = "";
    unsigned allowed = 0;
    handler *run = find(s, q, &parameters, &allowed);
    a->status = 200;
    refusal_init(&refusal);
    if (run == NULL) {
        no_route(q, allowed, a);
    } else if (check_parameters(s, q, parameters, &refusal) != 0 || run(s, q, a, &refusal) != 0) {
        answer_refuse(a, &refusal);
    } else if (a->body.failed) {
        refuse(&refusal, 429, "circuit_breaking_exception",
               "devsearch does not give answers of more than %zu bytes", ANSWER_MAX_BYTES);
        answer_refuse(a, &refusal);
    }
    refusal_release(&refusal);
    shape(q, a);
}
