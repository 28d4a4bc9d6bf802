/* SPDX-License-Identifier: Apache-2.0 */
/* check: a pipeline's index in the service. Privileges, the owner of the name, and other uses of
 * the name. */
#include <stdlib.h>
#include <string.h>

#include "probes/probe.h"
#include "rowferry/base/units.h"
#include "rowferry/service/cluster/cluster.h"
#include "rowferry/service/cluster/privilege.h"
#include "rowferry/service/index/index.h"
#include "rowferry/service/trial/leftovers.h"

#define LIST_MAX_BYTES ((size_t)64 * 1024)

/* An administrator of the service grants privileges, by a role or by a new key. */
static void probe_index_report_missing(struct check *c, const struct buf *missing)
{
    struct buf grant;
    bool key = c->setup->config->service.api_key.origin != SECRET_NONE &&
               c->product.product == PRODUCT_ELASTICSEARCH;
    buf_init(&grant, LIST_MAX_BYTES);
    privilege_push_grant(&grant, c->product.product, key, c->pipeline->to.index);
    check_report(c, VERDICT_FAIL, NULL, "%s lacks %s",
                 c->account[0] != '\0' ? c->account : "the account", buf_text(missing));
    if (key) {
        check_remedy(c, "have an administrator create another key: %s", buf_text(&grant));
    } else {
        check_remedy(c, "have an administrator give %s this role: %s",
                     c->account[0] != '\0' ? c->account : "it", buf_text(&grant));
    }
    buf_release(&grant);
}

static void probe_index_privileges(struct check *c)
{
    bool told;
    struct err err;
    struct buf missing;
    buf_init(&missing, LIST_MAX_BYTES);
    if (c->open_service) {
        check_pass(c, "the service has none to ask for");
    } else if (privilege_missing(c->session.service, &c->product, c->pipeline->to.index, &missing,
                                 &told, &err) < 0) {
        check_fail(c, &err);
    } else if (!told) {
        check_report(c, VERDICT_WARN, NULL,
                     "unknown until they are used: the service does not report them");
        check_remedy(c, "rowferry smoke %s tries what can be tried", c->pipeline->name);
    } else if (missing.len > 0) {
        probe_index_report_missing(c, &missing);
    } else {
        check_pass(c, "enough for \"%s\" and \"%s-*\"%s", c->pipeline->to.index,
                   c->pipeline->to.index,
                   c->product.product == PRODUCT_OPENSEARCH ? ", as far as refusals show" : "");
    }
    buf_release(&missing);
}

/* Checks the alias for writes (service/index/index.h). */
static void probe_index_report_write_alias(struct check *c, const struct index_info *index)
{
    struct err err;
    bool given;
    char alias[INDEX_WRITE_ALIAS_BYTES];
    const struct generation_id generation = {index->name, index->uuid, index->pipeline, NULL};
    if (write_alias_look(c->session.service, &generation, alias, &given, &err) < 0) {
        check_fail(c, &err);
    } else if (!given) {
        check_report(c, VERDICT_WARN, "the next sync adds it",
                     "index \"%s\" lacks its alias \"%s\"", index->name, alias);
    }
}

static void probe_index_report_owner(struct check *c, const struct index_info *index)
{
    const char *alias = c->pipeline->to.index;
    if (strcmp(index->pipeline, c->pipeline->name) == 0) {
        if (!probe_live_is_open(c, index)) {
            return;
        }
        check_pass(c, "alias \"%s\" points at \"%s\", which this pipeline built", alias,
                   index->name);
        probe_index_report_write_alias(c, index);
    } else if (index->pipeline[0] != '\0') {
        check_report(c, VERDICT_FAIL, "choose another to.index, or remove the alias",
                     "alias \"%s\" points at \"%s\", which pipeline \"%s\" built", alias,
                     index->name, index->pipeline);
    } else {
        check_report(c, VERDICT_FAIL, NULL,
                     "alias \"%s\" points at \"%s\", which rowferry did not build", alias,
                     index->name);
        check_remedy(c,
                     "choose another to.index, or remove the alias: POST /_aliases "
                     "{\"actions\":[{\"remove\":{\"index\":\"%s\",\"alias\":\"%s\"}}]}",
                     index->name, alias);
    }
}

static void probe_index_report_stream(struct check *c, const struct index_info *stream)
{
    if (c->pipeline->to.kind != INDEX_KIND_DATA_STREAM) {
        check_report(
            c, VERDICT_FAIL,
            "choose another to.index; for rows that are only added: \"kind\": \"data_stream\"",
            "\"%s\" is a data stream, and an alias cannot have its name", stream->name);
    } else if (strcmp(stream->pipeline, c->pipeline->name) == 0 && !probe_live_is_open(c, stream)) {
        return; /* reported */
    } else if (strcmp(stream->pipeline, c->pipeline->name) == 0) {
        check_pass(c, "data stream \"%s\" is this pipeline's", stream->name);
    } else if (stream->pipeline[0] != '\0') {
        check_report(c, VERDICT_FAIL, "choose another to.index",
                     "data stream \"%s\" is that of pipeline \"%s\"", stream->name,
                     stream->pipeline);
    } else {
        check_report(
            c, VERDICT_WARN, NULL,
            "data stream \"%s\" belongs to no pipeline: the first sync uses it if it is empty",
            stream->name);
        check_remedy(c, "choose another to.index, or: DELETE /_data_stream/%s", stream->name);
    }
}

/* A data stream is configured, but something else has its name. */
static void probe_index_report_in_its_place(struct check *c)
{
    check_report(c, VERDICT_FAIL, "choose another to.index",
                 "\"%s\" is an index or alias, and a data stream cannot have its name",
                 c->pipeline->to.index);
}

static void probe_index(struct check *c)
{
    struct err err;
    enum alias_kind kind;
    struct index_info index;
    const char *alias = c->pipeline->to.index;
    if (index_resolve(c->session.service, alias, &kind, &index, &err) < 0) {
        check_fail(c, &err);
        return;
    }
    if (!probe_live_is_there(c, kind, &index)) {
        return;
    }
    if (c->pipeline->to.kind == INDEX_KIND_DATA_STREAM && kind != ALIAS_ABSENT &&
        kind != ALIAS_STREAM) {
        probe_index_report_in_its_place(c);
        return;
    }
    switch (kind) {
    case ALIAS_ABSENT:
        check_pass(c, "\"%s\" is free: the first sync builds it", alias);
        break;
    case ALIAS_STREAM:
        probe_index_report_stream(c, &index);
        break;
    case ALIAS_ONE:
        probe_index_report_owner(c, &index);
        break;
    case ALIAS_SEVERAL:
        check_report(
            c, VERDICT_FAIL,
            "let the alias point at one index of the pipeline alone, or choose another to.index",
            "alias \"%s\" points at several indices", alias);
        break;
    case ALIAS_CONCRETE:
        check_report(c, VERDICT_FAIL, NULL, "\"%s\" is an index, and an alias cannot have its name",
                     alias);
        check_remedy(c,
                     "rowferry reindex --adopt %s builds an index beside it and turns the name "
                     "into an alias; or choose another to.index",
                     c->pipeline->name);
        break;
    }
}

/* Checks the index name. If it matches a template for data streams, creating the index would
 * fail. */
static void probe_index_name(struct check *c)
{
    struct err err;
    struct buf name;
    struct cluster_template template;
    const char *alias = c->pipeline->to.index;
    buf_init(&name, LIST_MAX_BYTES);
    buf_printf(&name, "%s-20000101-1", alias);
    if (c->pipeline->to.kind == INDEX_KIND_DATA_STREAM) {
        check_pass(c, "\"%s\" is legal", alias);
    } else if (cluster_template(c->session.service, buf_text(&name), &template, &err) < 0) {
        check_fail(c, &err);
    } else if (template.stream) {
        check_report(c, VERDICT_FAIL, NULL,
                     "names like \"%s\" become data streams by the template \"%s\", and rows that "
                     "change need an index",
                     buf_text(&name), template.name);
        check_remedy(c, "choose another to.index, or: DELETE /_index_template/%s", template.name);
    } else if (template.alias[0] != '\0') {
        check_report(c, VERDICT_FAIL, NULL,
                     "indices like \"%s\" get the alias \"%s\" by the template \"%s\", and would "
                     "be searched while they fill",
                     buf_text(&name), template.alias, template.name);
        check_remedy(c, "take the alias out of the template, or \"%s-*\" out of its index_patterns",
                     alias);
    } else {
        check_pass(c, "\"%s\" is legal, and %s", alias,
                   template.known ? "no template makes it a data stream"
                                  : "could not see if a template makes it a data stream");
    }
    buf_release(&name);
}

/* Checks automatic index creation. Rowferry writes to names that no index can have. If other
 * clients write to the alias while it does not exist, the service creates an index with its
 * name. */
static void probe_index_report_automatic(struct check *c, const char *value, bool there)
{
    const char *alias = c->pipeline->to.index;
    if (!cluster_creates(value, alias)) {
        check_pass(c, "no write creates \"%s\"", alias);
    } else if (there) {
        check_pass(c, "\"%s\" exists: no write creates it", alias);
    } else {
        check_report(c, VERDICT_WARN, NULL,
                     "a write to \"%s\" before the first sync creates an index of that "
                     "name, which then prevents the alias",
                     alias);
        check_remedy(c,
                     "rowferry sync %s, before any other write; or: PUT /_cluster/settings "
                     "{\"persistent\":{\"action.auto_create_index\":\"-%s,%s\"}}",
                     c->pipeline->name, alias, strcmp(value, "true") == 0 ? "+*" : value);
    }
}

static void probe_index_automatic(struct check *c)
{
    struct err err;
    struct buf value;
    enum alias_kind kind;
    struct index_info index;
    buf_init(&value, LIST_MAX_BYTES);
    if (cluster_auto_create(c->session.service, &value, &err) < 0 ||
        index_resolve(c->session.service, c->pipeline->to.index, &kind, &index, &err) < 0) {
        check_fail(c, &err);
    } else if (value.len == 0) {
        check_report(c, VERDICT_SKIP, NULL,
                     "unknown: this account may not read action.auto_create_index");
    } else {
        probe_index_report_automatic(c, buf_text(&value), kind != ALIAS_ABSENT);
    }
    buf_release(&value);
}

static void probe_index_leftovers(struct check *c)
{
    struct err err;
    char age[UNITS_BYTES];
    struct clock clock = clock_system();
    const struct pipeline_config *p = c->pipeline;
    struct leftover *list = mem_zero(LEFTOVERS_MOST, sizeof(*list));
    size_t count;
    if (leftovers_list(c->session.service, p->to.index, p->name, clock_wall_us(&clock), list,
                       &count, &err) < 0) {
        check_report(c, VERDICT_SKIP, NULL, "unknown: %s", err.message);
    } else if (count == 0) {
        check_pass(c, "no temporary index of a killed trial is left");
    } else {
        check_report(c, VERDICT_INFO, NULL,
                     "%zu temporary ind%s of killed trials: \"%s\"%s, %s old", count,
                     count == 1 ? "ex" : "ices", list[0].index, count == 1 ? "" : " first",
                     units_duration(age, list[0].age_s * 1000));
        check_remedy(c, "rowferry smoke --clean %s, when no trial is at work", p->name);
    }
    free(list);
}

const struct probe probes_index[] = {
    {"privileges", FACT_SERVICE, FACT_RIGHTS, probe_index_privileges},
    {"index", FACT_SERVICE | FACT_RIGHTS, 0, probe_index},
    {"index name", FACT_SERVICE, 0, probe_index_name},
    {"creation", FACT_SERVICE | FACT_RIGHTS, 0, probe_index_automatic},
    {"leftovers", FACT_SERVICE | FACT_RIGHTS, 0, probe_index_leftovers},
    {0},
};
