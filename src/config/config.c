/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, reads and frees the configuration, and applies the environment's overrides. */
#include "rowferry/config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cross.h"
#include "read.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/file.h"
#include "rowferry/base/text.h"
#include "rowferry/document/json/json_build.h"
#include "secret.h"
#include "syntax/address.h"

#define FILE_MAX_BYTES 4194304
#define PIPE_TIMEOUT_MS 10000 /* for reading a whole pipe */
#define MAX_DEPTH 64
#define CONNECT_TIMEOUT_MS 10000
#define LOCK_TIMEOUT_MS 5000
#define STATE_NAME "rowferry.db"

static const char *config_environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

/* Chooses -c, $ROWFERRY_CONFIG, or the first existing file of the usual places. */
static int config_find_file(const char *path, const char **out, struct err *err)
{
    static const char *const usual[] = {"./rowferry.json", "/etc/rowferry/rowferry.json"};
    *out = path != NULL ? path : config_environment("ROWFERRY_CONFIG");
    for (size_t i = 0; *out == NULL && i < sizeof(usual) / sizeof(usual[0]); i++) {
        if (access(usual[i], F_OK) == 0) {
            *out = usual[i];
        }
    }
    if (*out == NULL) {
        err_set(err, ERR_CONFIG, "no configuration: neither \"%s\" nor \"%s\" exists", usual[0],
                usual[1]);
        return err_hint(err, "name the file with -c or $ROWFERRY_CONFIG");
    }
    return 0;
}

static int config_read_file(const char *path, struct buf *text, struct err *err)
{
    const char *reason = file_read(path, PIPE_TIMEOUT_MS, text, NULL);
    if (reason != NULL) {
        return err_set(err, ERR_CONFIG, "cannot read the configuration \"%s\": %s", path, reason);
    }
    if (text->failed) {
        return err_set(err, ERR_CONFIG, "the configuration \"%s\" is larger than 4 MiB", path);
    }
    return 0;
}

/* Builds the tree. The scanner has checked the syntax, but json-c may refuse values it cannot
 * hold. */
static int config_parse(const struct config_reader *r, struct json_object **root)
{
    struct json_tokener *tokener = json_build_tokener(MAX_DEPTH + 1);
    *root = json_build_parsed(tokener, r->text, r->len + 1);
    enum json_tokener_error error = json_tokener_get_error(tokener);
    json_tokener_free(tokener);
    if (*root == NULL) {
        return err_set(r->err, ERR_CONFIG, "%s: %s", r->file, json_tokener_error_desc(error));
    }
    return 0;
}

/* Returns a path in $STATE_DIRECTORY (the first one if systemd lists several), else beside the
 * file. */
static char *config_default_state_path(const char *file)
{
    const char *directory = config_environment("STATE_DIRECTORY");
    if (directory == NULL) {
        return value_beside(file, STATE_NAME);
    }
    struct buf path;
    buf_init(&path, FILE_MAX_BYTES);
    buf_push(&path, directory, strcspn(directory, ":"));
    buf_push_literal(&path, "/" STATE_NAME);
    return buf_detach(&path);
}

static int config_override_choice(const char *variable, const char *path, int *out, struct err *err)
{
    const char *value = config_environment(variable);
    if (value == NULL) {
        return 0;
    }
    const struct option *o = options_find(false, path);
    int number = value_choice(o->choices, value);
    if (number < 0) {
        char *list = value_choices(o->choices);
        err_set(err, ERR_CONFIG, "$%s is \"%s\"; it must be one of %s", variable, value, list);
        free(list);
        return ERR_CONFIG;
    }
    *out = number;
    return 0;
}

static int config_apply_environment(struct config *c, struct err *err)
{
    int result = config_override_choice("ROWFERRY_LOG_LEVEL", "log.level", &c->log_level, err);
    if (result == 0) {
        result = config_override_choice("ROWFERRY_LOG_FORMAT", "log.format", &c->log_format, err);
    }
    const char *listen = config_environment("ROWFERRY_LISTEN");
    if (result == 0 && listen != NULL) {
        result = address_check_listen(listen, err);
        if (result != 0) {
            err_context(err, "$ROWFERRY_LISTEN");
        }
        free(c->listen);
        c->listen = text_copy(listen);
    }
    return result;
}

/* Puts URLs in place of cloud ids, removes trailing slashes, and sets the default origins of
 * signing keys and state file. */
static void config_complete(struct config *c)
{
    secret_complete_aws(&c->service);
    for (size_t i = 0; i < c->service.url_count; i++) {
        char *of_cloud = address_of_cloud_id(c->service.urls[i]);
        if (of_cloud != NULL) {
            free(c->service.urls[i]);
            c->service.urls[i] = of_cloud;
        }
        char *url = c->service.urls[i];
        size_t len = strlen(url);
        while (len > 0 && url[len - 1] == '/') {
            url[--len] = '\0';
        }
    }
    if (c->state_path == NULL) {
        c->state_path = config_default_state_path(c->path);
    }
}

static int config_load_from_buf(struct config *c, struct buf *text, struct err *err)
{
    struct config_reader r = {.file = c->path, .config = c, .err = err};
    struct json_object *root = NULL;
    int result = scan_check(c->path, text->data, text->len, err);
    if (result != 0) {
        return result;
    }
    r.text = text->data;
    r.len = text->len;
    result = config_parse(&r, &root);
    if (result == 0) {
        result = read_tree(&r, root);
    }
    if (result == 0) {
        result = cross_check(&r);
    }
    if (result == 0) {
        result = config_apply_environment(c, err);
    }
    if (result == 0) {
        config_complete(c);
    }
    json_object_put(root);
    return result;
}

int config_load_text(struct config **out, const char *path, struct buf *text, struct err *err)
{
    struct config *c = mem_zero(1, sizeof(*c));
    *out = NULL;
    c->path = text_copy(path);
    (void)buf_text(text);
    int result = config_load_from_buf(c, text, err);
    if (result != 0) {
        config_free(c);
        return result;
    }
    *out = c;
    return 0;
}

int config_load(struct config **out, const char *path, struct err *err)
{
    *out = NULL;
    const char *found;
    struct err unseen = {.class = ERR_NONE};
    err = err != NULL ? err : &unseen;
    int result = config_find_file(path, &found, err);
    if (result != 0) {
        return result;
    }
    struct buf text;
    buf_init(&text, FILE_MAX_BYTES);
    result = config_read_file(found, &text, err);
    if (result == 0) {
        result = config_load_text(out, found, &text, err);
    }
    buf_release(&text);
    return result;
}

const struct pipeline_config *config_pipeline(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->pipeline_count; i++) {
        if (strcmp(c->pipelines[i].name, name) == 0) {
            return &c->pipelines[i];
        }
    }
    return NULL;
}

int config_check_uri(const char *uri, struct err *err)
{
    return address_check_uri(uri, err);
}

int config_check_url(const char *url, bool credential, struct err *err)
{
    int result = address_check_url(url, err);
    if (result == 0 && credential && address_is_open(url)) {
        err_set(err, ERR_CONFIG, "it would send a credential over http:// to another host");
        result = err_hint(err, "use https://");
    }
    return result;
}

struct key_routing config_routing(const struct pipeline_config *p)
{
    const struct from_config *from = &p->from;
    struct key_routing routing = {.hashed = p->to.id == ID_SHA256};
    for (size_t i = 0; p->to.routing != NULL && i < from->key_count; i++) {
        if (strcmp(from->key[i], p->to.routing) == 0) {
            routing.part = i;
            routing.count = from->key_count;
        }
    }
    return routing;
}

int config_mapping(const struct pipeline_config *p, struct mapping *out, struct err *err)
{
    int rc = mapping_parse(out, p->to.mappings, err);
    out->provenance = p->to.provenance;
    return rc;
}

const char *config_id(const struct pipeline_config *p)
{
    return p->to.id == ID_SHA256 ? "sha256" : NULL;
}

void config_source_options(const struct config *c, const char *application_name,
                           struct source_options *out)
{
    *out = (struct source_options){
        .uri = c->source.uri,
        .password = c->source.password.value,
        .renewal = c->source.password.renewal,
        .rds_region = c->source.password.origin == SECRET_RDS_IAM ? c->source.password.place : NULL,
        .connect_timeout_ms = CONNECT_TIMEOUT_MS,
        .lock_timeout_ms = LOCK_TIMEOUT_MS,
        .application_name = application_name,
        .primary = c->source.primary,
    };
}

void config_push_service_place(const struct service_config *service, struct buf *out)
{
    for (size_t i = 0; i < service->url_count; i++) {
        const char *authority = strstr(service->urls[i], "://") + strlen("://");
        buf_push_text(out, i > 0 ? ", " : "");
        buf_push(out, authority, strcspn(authority, "/?#"));
    }
}

void config_service_options(const struct config *c, const struct pipeline_config *pipeline,
                            struct service_options *out)
{
    const struct service_config *s = &c->service;
    *out = (struct service_options){
        .urls = (const char *const *)s->urls,
        .url_count = s->url_count,
        .user = s->user,
        .aws_region = s->aws_region,
        .aws_service = s->aws_service,
        .credentials = {[SERVICE_API_KEY] = {s->api_key.value, s->api_key.renewal},
                        [SERVICE_BEARER] = {s->bearer.value, s->bearer.renewal},
                        [SERVICE_PASSWORD] = {s->password.value, s->password.renewal},
                        [SERVICE_AWS_KEY_ID] = {s->aws_key_id.value, s->aws_key_id.renewal},
                        [SERVICE_AWS_SECRET_KEY] = {s->aws_secret_key.value,
                                                    s->aws_secret_key.renewal},
                        [SERVICE_AWS_TOKEN] = {s->aws_token.value, s->aws_token.renewal}},
        .proxy = s->proxy,
        .ca_file = s->ca_file,
        .client_cert = s->client_cert,
        .client_key = s->client_key,
        .routing = config_routing(pipeline),
        .stream = pipeline->to.kind == INDEX_KIND_DATA_STREAM,
        .request_timeout_ms = pipeline->limits.request_timeout_ms,
        .connect_timeout_ms = CONNECT_TIMEOUT_MS,
        .in_flight = (unsigned)pipeline->limits.in_flight,
    };
}

static void config_free_validate(struct validate_config *v)
{
    text_free_list(v->filter, v->filter_count);
    text_free_list(v->sort, v->sort_count);
    for (size_t i = 0; i < v->query_count; i++) {
        struct trial_query *q = &v->queries[i];
        free(q->name);
        free(q->q);
        free(q->body);
        free(q->search_pipeline);
        text_free_list(q->expect, q->expect_count);
        for (size_t j = 0; j < q->judgement_count; j++) {
            free(q->judgements[j].id);
        }
        free(q->judgements);
    }
    free(v->queries);
    free(v->queries_file);
}

static void config_free_pipeline(struct pipeline_config *p)
{
    free(p->name);
    free(p->from.table);
    text_free_list(p->from.key, p->from.key_count);
    free(p->from.where);
    free(p->from.cursor_column);
    free(p->from.query);
    depend_free_all(p->from.dependencies, p->from.dependency_count);
    free(p->to.index);
    free(p->to.mappings);
    free(p->to.settings);
    free(p->to.ingest_pipeline);
    free(p->to.routing);
    for (size_t i = 0; i < p->field_count; i++) {
        free(p->fields[i].property);
        free(p->fields[i].column);
        free(p->fields[i].zone);
    }
    free(p->fields);
    config_free_validate(&p->validate);
}

void config_free(struct config *c)
{
    if (c == NULL) {
        return;
    }
    for (size_t i = 0; i < c->pipeline_count; i++) {
        config_free_pipeline(&c->pipelines[i]);
    }
    free(c->pipelines);
    free(c->path);
    free(c->source.uri);
    free(c->source.primary);
    secret_free_all(c);
    text_free_list(c->service.urls, c->service.url_count);
    free(c->service.user);
    free(c->service.aws_region);
    free(c->service.aws_service);
    free(c->service.proxy);
    free(c->service.ca_file);
    free(c->service.client_cert);
    free(c->service.client_key);
    for (size_t i = 0; i < HOOK_EVENTS; i++) {
        free(c->on[i].command);
        free(c->on[i].url);
    }
    free(c->state_path);
    free(c->listen);
    text_free_list(c->listen_names, c->listen_name_count);
    text_free_list(c->warnings, c->warning_count);
    free(c);
}

bool config_listens_open(const struct config *c)
{
    return c->listen != NULL && address_listens_open(c->listen);
}
