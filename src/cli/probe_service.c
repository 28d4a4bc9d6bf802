/* SPDX-License-Identifier: Apache-2.0 */
/* What check asks of the search service: whether it answers, what it is, who has the index. */
#include <string.h>

#include "probe.h"
#include "rowferry/service/index.h"

/* The releases that rowferry is tried on. */
static const struct tested {
    enum product product;
    int major;
} tested[] = {
    {PRODUCT_OPENSEARCH, 2},
    {PRODUCT_OPENSEARCH, 3},
    {PRODUCT_ELASTICSEARCH, 8},
    {PRODUCT_ELASTICSEARCH, 9},
};

static bool is_tested(const struct product_info *p)
{
    for (size_t i = 0; i < sizeof(tested) / sizeof(tested[0]); i++) {
        if (tested[i].product == p->product && tested[i].major == p->major) {
            return true;
        }
    }
    return false;
}

static void say_product(struct check *c, const struct product_info *p)
{
    const char *name = product_name(p->product);
    if (p->stand_in) {
        check_say(c, VERDICT_WARN, NULL, "devsearch %s, a stand-in for trying out", p->version);
    } else if (p->product == PRODUCT_UNKNOWN) {
        check_say(c, VERDICT_WARN, "expect OpenSearch or Elasticsearch at service.url",
                  "neither OpenSearch nor Elasticsearch by what it says of itself");
    } else if (p->major == 0) {
        check_say(c, VERDICT_PASS, NULL, "%s, version unknown: this credential may not ask", name);
    } else if (!is_tested(p)) {
        check_say(c, VERDICT_WARN, NULL, "%s %s, which rowferry is not tested with", name,
                  p->version);
    } else {
        check_say(c, VERDICT_PASS, NULL, "%s %s", name, p->version);
    }
}

static void probe_service(struct check *c)
{
    struct err err;
    struct product_info *product = &c->product;
    int rc = session_open_service(&c->session, &err);
    if (rc == 0) {
        rc = product_detect(c->session.service, product, &err);
    }
    if (rc < 0) {
        check_fail(c, &err);
        return;
    }
    const struct service_config *service = &c->setup->config->service;
    bool credential = service->user != NULL || service->api_key.origin != SECRET_NONE ||
                      service->bearer.origin != SECRET_NONE;
    check_say(c, VERDICT_PASS, NULL, "%s answers%s", service->urls[0],
              credential ? " and accepts the credential" : " without a credential");
    c->what = "product";
    say_product(c, product);
}

/* By which it is written: service/index.h. */
static void say_write_alias(struct check *c, const struct index_info *index)
{
    struct err err;
    bool given;
    char alias[INDEX_WRITE_ALIAS_BYTES];
    const struct generation generation = {index->name, index->uuid, index->pipeline};
    if (index_look_writes(c->session.service, &generation, alias, &given, &err) < 0) {
        check_fail(c, &err);
    } else if (!given) {
        check_say(c, VERDICT_WARN, "the next sync gives it", "index \"%s\" lacks its alias \"%s\"",
                  index->name, alias);
    }
}

static void say_owner(struct check *c, const struct index_info *index)
{
    const char *alias = c->pipeline->to.index;
    if (strcmp(index->pipeline, c->pipeline->name) == 0) {
        check_say(c, VERDICT_PASS, NULL, "alias \"%s\" points at \"%s\", which this pipeline built",
                  alias, index->name);
        say_write_alias(c, index);
    } else if (index->pipeline[0] != '\0') {
        check_say(c, VERDICT_FAIL, "choose another to.index, or remove the alias",
                  "alias \"%s\" points at \"%s\", which pipeline \"%s\" built", alias, index->name,
                  index->pipeline);
    } else {
        check_say(c, VERDICT_FAIL, "choose another to.index, or remove the alias",
                  "alias \"%s\" points at \"%s\", which rowferry did not build", alias,
                  index->name);
    }
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
    switch (kind) {
    case ALIAS_ABSENT:
        check_say(c, VERDICT_PASS, NULL, "\"%s\" is free: the first sync builds it", alias);
        break;
    case ALIAS_ONE:
        say_owner(c, &index);
        break;
    case ALIAS_SEVERAL:
        check_say(
            c, VERDICT_FAIL,
            "let the alias point at one index of the pipeline alone, or choose another to.index",
            "alias \"%s\" points at several indices", alias);
        break;
    case ALIAS_CONCRETE:
        check_say(c, VERDICT_FAIL,
                  "rowferry reindex --adopt builds an index beside it and turns the name into an "
                  "alias; or choose another to.index",
                  "\"%s\" is an index of its own, and an alias cannot bear its name", alias);
        break;
    }
}

const struct probe probes_service[] = {
    {"credential", FACT_SECRETS | FACT_WAY, FACT_SERVICE, probe_service},
    {0},
};

const struct probe probes_index[] = {
    {"index", FACT_SERVICE, 0, probe_index},
    {0},
};
