/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that involve several options. */
#include "cross.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/document/mapping/mapping.h"
#include "syntax/address.h"

#define MAX_PATH_BYTES 4096

/* Returns "pipelines[2].from.table"; the caller frees. */
static char *cross_pipeline_path(size_t index, const char *rest)
{
    struct buf path;
    buf_init(&path, MAX_PATH_BYTES);
    buf_printf(&path, "pipelines[%zu].%s", index, rest);
    return buf_detach(&path);
}

static int cross_fail_in_pipeline(const struct config_reader *r, size_t index, const char *rest,
                                  const char *message)
{
    char *path = cross_pipeline_path(index, rest);
    int result = read_fail(r, path, SCAN_VALUE, "\"%s\" %s", path, message);
    free(path);
    return result;
}

static bool cross_has_credential(const struct service_config *s)
{
    return s->api_key.origin != SECRET_NONE || s->bearer.origin != SECRET_NONE || s->user != NULL ||
           s->aws_region != NULL;
}

static bool cross_names_aws(const struct service_config *s)
{
    return s->aws_region != NULL || s->aws_service != NULL || s->aws_key_id.origin != SECRET_NONE ||
           s->aws_secret_key.origin != SECRET_NONE || s->aws_token.origin != SECRET_NONE;
}

/* A key and its secret belong together, so both must be named. */
static int cross_check_aws(const struct config_reader *r)
{
    const struct service_config *s = &r->config->service;
    bool key = s->aws_key_id.origin != SECRET_NONE;
    if (cross_names_aws(s) && s->aws_region == NULL) {
        return read_fail(r, "service.auth.aws_sigv4", SCAN_VALUE,
                         "\"service.auth.aws_sigv4.region\" is missing");
    }
    if (key != (s->aws_secret_key.origin != SECRET_NONE)) {
        return read_fail(r, "service.auth.aws_sigv4", SCAN_VALUE,
                         "\"service.auth.aws_sigv4.%s\" is missing",
                         key ? "secret_access_key" : "access_key_id");
    }
    return 0;
}

static int cross_check_auth(const struct config_reader *r)
{
    const struct service_config *s = &r->config->service;
    bool password = s->password.origin != SECRET_NONE;
    int kinds = (s->api_key.origin != SECRET_NONE) + (s->bearer.origin != SECRET_NONE) +
                (s->user != NULL || password) + cross_names_aws(s);
    if (kinds > 1) {
        return read_fail(
            r, "service.auth", SCAN_VALUE,
            "\"service.auth\" must be one of api_key, bearer, user with password, aws_sigv4");
    }
    if ((s->user != NULL) != password) {
        return read_fail(r, "service.auth", SCAN_VALUE, "\"service.auth.%s\" is missing",
                         password ? "user" : "password");
    }
    if (s->user != NULL && strchr(s->user, ':') != NULL) {
        return read_fail(
            r, "service.auth.user", SCAN_VALUE,
            "\"service.auth.user\" has a colon, which basic authentication does not permit");
    }
    return 0;
}

static int cross_check_tls(const struct config_reader *r)
{
    const struct service_config *s = &r->config->service;
    if ((s->client_cert != NULL) != (s->client_key != NULL)) {
        return read_fail(r, "service.tls", SCAN_VALUE, "\"service.tls.%s\" is missing",
                         s->client_cert != NULL ? "client_key" : "client_cert");
    }
    return 0;
}

/* Returns true for http:// to another host, or through a proxy to any host. */
static bool cross_leaves_open(const struct service_config *s, size_t url)
{
    return address_is_open(s->urls[url]) ||
           (s->proxy != NULL && strncasecmp(s->urls[url], "http://", 7) == 0);
}

static int cross_check_cleartext(const struct config_reader *r)
{
    const struct service_config *s = &r->config->service;
    for (size_t i = 0; i < s->url_count; i++) {
        if (cross_has_credential(s) && !s->allow_cleartext_credentials && cross_leaves_open(s, i)) {
            read_fail(r, "service.url", SCAN_VALUE,
                      "\"service.url\" would send a credential over http:// to another host");
            return err_hint(
                r->err,
                "use https://, or set \"allow_cleartext_credentials\": true if a sidecar does TLS");
        }
    }
    return 0;
}

static int cross_compare_polls(const struct config_reader *r, const struct limits_config *l,
                               const char *scope)
{
    if (l->poll_min_ms <= l->poll_max_ms) {
        return 0;
    }
    struct buf path;
    buf_init(&path, MAX_PATH_BYTES);
    buf_printf(&path, "%slimits.poll_min", scope);
    int result =
        read_fail(r, buf_text(&path), SCAN_VALUE,
                  "\"%slimits.poll_min\" is longer than \"%slimits.poll_max\"", scope, scope);
    buf_release(&path);
    return result;
}

static int cross_check_polls(const struct config_reader *r, size_t index)
{
    char *scope = cross_pipeline_path(index, "");
    int result = cross_compare_polls(r, &r->config->pipelines[index].limits, scope);
    free(scope);
    return result;
}

static int cross_unknown_property(const struct config_reader *r, size_t index, const char *property,
                                  const struct mapping *m)
{
    struct buf member;
    buf_init(&member, MAX_PATH_BYTES);
    buf_printf(&member, "pipelines[%zu].fields.%s", index, property);
    read_fail(r, buf_text(&member), SCAN_KEY, "\"%s\" is not a property of the mapping",
              buf_text(&member));
    buf_release(&member);
    const char **names = mem_zero(m->count + 1, sizeof(*names));
    for (size_t i = 0; i < m->count; i++) {
        names[i] = m->properties[i].name;
    }
    const char *nearest = text_nearest(property, names);
    if (nearest != NULL) {
        err_hint(r->err, "did you mean \"%s\"?", nearest);
    }
    free(names);
    return ERR_CONFIG;
}

/* A field of an unknown property would be ignored silently, so it is refused. */
static int cross_check_fields(const struct config_reader *r, size_t index)
{
    const struct pipeline_config *p = &r->config->pipelines[index];
    struct mapping mapping;
    int result = mapping_parse(&mapping, p->to.mappings, r->err);
    if (result != 0) {
        return result;
    }
    if (p->to.provenance && mapping_find(&mapping, MAPPING_PROVENANCE) != NULL) {
        result = cross_fail_in_pipeline(r, index, "to.mappings",
                                        "has a property \"" MAPPING_PROVENANCE
                                        "\", which \"to.provenance\" adds itself");
    }
    for (size_t i = 0; result == 0 && i < p->field_count; i++) {
        const char *property = p->fields[i].property;
        if (mapping_find(&mapping, property) == NULL && strcmp(property, "source_id") != 0) {
            result = cross_unknown_property(r, index, property, &mapping);
        }
    }
    mapping_release(&mapping);
    return result;
}

static int cross_check_key(const struct config_reader *r, size_t index)
{
    const struct from_config *from = &r->config->pipelines[index].from;
    for (size_t i = 1; i < from->key_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(from->key[i], from->key[j]) == 0) {
                return cross_fail_in_pipeline(r, index, "from.key", "names a column twice");
            }
        }
    }
    return 0;
}

/* Only the key of a deleted row is known, so the routing must be part of it. A change of routing
 * makes it another document. */
static int cross_check_routing(const struct config_reader *r, size_t index)
{
    const struct pipeline_config *p = &r->config->pipelines[index];
    if (p->to.routing == NULL || config_routing(p).count > 0) {
        return 0;
    }
    cross_fail_in_pipeline(r, index, "to.routing", "is not a column of \"from.key\"");
    return err_hint(r->err,
                    "name it there, over a unique index with it: of a deleted row only the key is "
                    "known, and a row whose routing changes has to become another document");
}

static int cross_check_timestamp(const struct config_reader *r, size_t index)
{
    struct mapping mapping;
    int result = mapping_parse(&mapping, r->config->pipelines[index].to.mappings, r->err);
    if (result != 0) {
        return result;
    }
    const struct property *at = mapping_find(&mapping, "@timestamp");
    bool good =
        at != NULL && (strcmp(at->type, "date") == 0 || strcmp(at->type, "date_nanos") == 0);
    mapping_release(&mapping);
    if (good) {
        return 0;
    }
    cross_fail_in_pipeline(
        r, index, "to.mappings",
        "has no property \"@timestamp\" of type date, which a data stream needs");
    return err_hint(r->err, "add \"@timestamp\": {\"type\": \"date\"} to its properties, and name "
                            "its column: \"fields\": {\"@timestamp\": \"created_at\"}");
}

/* Refuses options that contradict the capture mode or the kind of index: a data stream only grows,
 * so it takes no updates, deletes or rebuilds. */
static int cross_check_options(const struct config_reader *r, size_t index)
{
    const struct pipeline_config *p = &r->config->pipelines[index];
    const struct from_config *from = &p->from;
    const struct capture_traits *traits = capture_traits(from->capture_mode);
    bool stream = p->to.kind == INDEX_KIND_DATA_STREAM;
    const struct {
        bool wrong;
        const char *path;
        const char *message;
    } rows[] = {
        {!traits->follows_column && from->cursor_column != NULL, "from.capture.column",
         "belongs to mode \"cursor\""},
        {!traits->follows_column && from->overlap_ms > 0, "from.capture.overlap",
         "belongs to mode \"cursor\""},
        {traits->follows_column && from->cursor_column == NULL, "from.capture.mode",
         "is cursor, without \"column\""},
        {!traits->may_query && from->query != NULL, "from.query",
         "needs the capture mode \"changelog\""},
        {stream && p->to.routing != NULL, "to.routing",
         "is not for a data stream, which takes no routing"},
        {stream && from->dependency_count > 0, "from.depends_on",
         "sends documents again when other tables change, and a data stream takes no updates"},
        {stream && from->reconcile_ms > 0, "from.capture.deletes",
         "looks for documents to delete, and a data stream takes no deletes"},
        {stream && p->on_schema_change == ON_SCHEMA_CHANGE_REBUILD, "on_schema_change",
         "is \"rebuild\", and a data stream is never rebuilt: leave it at \"stop\" here"},
        {from->dependency_count > 0 && from->query == NULL, "from.depends_on", "needs \"query\""},
        {p->verify.repair && p->verify.every_ms == 0, "verify.repair", "needs \"verify.every\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].wrong) {
            return cross_fail_in_pipeline(r, index, rows[i].path, rows[i].message);
        }
    }
    return stream ? cross_check_timestamp(r, index) : 0;
}

static int cross_check_unique(const struct config_reader *r, size_t index)
{
    const struct pipeline_config *all = r->config->pipelines;
    for (size_t i = 0; i < index; i++) {
        if (strcmp(all[i].name, all[index].name) == 0) {
            return cross_fail_in_pipeline(r, index, "name", "is the name of another pipeline");
        }
        if (strcmp(all[i].to.index, all[index].to.index) == 0) {
            return cross_fail_in_pipeline(r, index, "to.index", "is the index of another pipeline");
        }
    }
    return 0;
}

static int cross_check_hooks(const struct config_reader *r)
{
    static const char *const paths[HOOK_EVENTS] = {
        [HOOK_GUARD] = "on.guard.url",
        [HOOK_STOPPED] = "on.stopped.url",
        [HOOK_DEAD_LETTERS] = "on.dead_letters.url",
        [HOOK_REBUILT] = "on.rebuilt.url",
        [HOOK_HEALED] = "on.healed.url",
    };
    for (size_t i = 0; i < HOOK_EVENTS; i++) {
        const struct hook_config *hook = &r->config->on[i];
        if (hook->command != NULL && hook->url != NULL) {
            return read_fail(r, paths[i], SCAN_KEY,
                             "\"%s\": a hook has a command or a URL, not both", paths[i]);
        }
    }
    return 0;
}

int cross_check(const struct config_reader *r)
{
    int (*const of_file[])(const struct config_reader *) = {cross_check_auth, cross_check_aws,
                                                            cross_check_tls, cross_check_cleartext,
                                                            cross_check_hooks};
    int (*const of_pipeline[])(const struct config_reader *, size_t) = {
        cross_check_unique,  cross_check_polls,  cross_check_key,
        cross_check_options, cross_check_fields, cross_check_routing};
    for (size_t i = 0; i < sizeof(of_file) / sizeof(of_file[0]); i++) {
        int result = of_file[i](r);
        if (result != 0) {
            return result;
        }
    }
    int top = cross_compare_polls(r, &r->inherited.limits, "");
    if (top != 0) {
        return top;
    }
    for (size_t p = 0; p < r->config->pipeline_count; p++) {
        for (size_t i = 0; i < sizeof(of_pipeline) / sizeof(of_pipeline[0]); i++) {
            int result = of_pipeline[i](r, p);
            if (result != 0) {
                return result;
            }
        }
    }
    return 0;
}
