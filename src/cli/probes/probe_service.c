/* SPDX-License-Identifier: Apache-2.0 */
/* check: the search service. Whether it answers, its product and version, and the account. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/probe.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/units.h"
#include "rowferry/service/cluster/cluster.h"
#include "rowferry/service/cluster/privilege.h"

#define CLOCK_APART_S 5 /* a Date header has whole seconds */

static void probe_service_report_release(struct check *c, const struct product_info *p)
{
    const char *name = product_name(p->product);
    struct buf tested;
    buf_init(&tested, 1024);
    switch (product_tested(p, &tested)) {
    case PRODUCT_TESTED:
        check_pass(c, "%s %s, tested %s", name, p->version, buf_text(&tested));
        break;
    case PRODUCT_TESTED_NEAR:
        check_report(c, VERDICT_INFO, NULL, "%s %s; the nearest release that was tested is %s",
                     name, p->version, buf_text(&tested));
        break;
    case PRODUCT_UNTESTED:
        check_report(c, VERDICT_WARN, NULL, "%s %s, which rowferry is not tested with", name,
                     p->version);
        check_remedy(c, "use a release that was tested: %s", buf_text(&tested));
        break;
    }
    buf_release(&tested);
}

static void probe_service_report_product(struct check *c, const struct product_info *p)
{
    const char *name = product_name(p->product);
    if (p->stand_in) {
        check_report(c, VERDICT_WARN, "try it on a real service before anything depends on it",
                     "devsearch %s, a stand-in for trying out", p->version);
    } else if (p->product == PRODUCT_UNKNOWN && p->permitted) {
        check_report(c, VERDICT_FAIL,
                     "correct service.url: it must name OpenSearch or Elasticsearch",
                     "the answer identifies neither OpenSearch nor Elasticsearch");
    } else if (p->product == PRODUCT_UNKNOWN) {
        check_report(c, VERDICT_WARN, "expect OpenSearch or Elasticsearch at service.url",
                     "unknown: this credential may not ask");
    } else if (p->major == 0) {
        check_report(c, VERDICT_SKIP, NULL, "%s, version unknown: this credential may not ask",
                     name);
    } else {
        probe_service_report_release(c, p);
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
        check_fail_else(c, &err,
                        "let service.url name the search service itself, and see that it answers");
        return;
    }
    const struct service_config *service = &c->setup->config->service;
    bool credential = service->user != NULL || service->api_key.origin != SECRET_NONE ||
                      service->bearer.origin != SECRET_NONE;
    check_pass(c, "%s answers%s", service->urls[0],
               credential ? " and accepts the credential" : " without a credential");
    c->what = "product";
    probe_service_report_product(c, product);
}

static void probe_service_report_administrator(struct check *c, const struct account *a)
{
    check_report(c, c->setup->config->accept_admin ? VERDICT_WARN : VERDICT_FAIL,
                 "create an account for rowferry alone and name it in service.auth: \"privileges\" "
                 "then names the role that it needs; or --accept-admin if this is intended",
                 "\"%s\" is an administrator (%s): it may change everything", a->name,
                 a->administrator);
}

static void probe_service_report_account(struct check *c, const struct account *a)
{
    if (a->state == ACCOUNT_OPEN && c->product.stand_in) {
        check_pass(c, "a stand-in has no accounts: every client may do everything");
    } else if (a->state == ACCOUNT_OPEN) {
        check_report(c, VERDICT_WARN,
                     "turn the service's security on, or make its port unreachable for others",
                     "the service asks for no credential: any client of it may do everything");
    } else if (a->state == ACCOUNT_UNSEEN) {
        check_report(c, VERDICT_WARN, "ask the operator of the service what role the account has",
                     "could not see what it may do beyond its pipelines: %s", a->why);
    } else if (a->administrator[0] != '\0') {
        probe_service_report_administrator(c, a);
    } else if (a->surplus.len > 0) {
        check_report(
            c, VERDICT_WARN, "have it granted the role that \"privileges\" names, and no other",
            "\"%s\" may do more than its pipelines need: %s", a->name, buf_text(&a->surplus));
    } else {
        check_pass(c,
                   "\"%s\" is not an administrator, and may do nothing beyond its pipelines that "
                   "can be seen",
                   a->name);
    }
}

static void probe_service_account(struct check *c)
{
    struct err err;
    struct account a;
    if (privilege_account_look(c->session.service, &c->product, &a, &err) < 0) {
        check_fail(c, &err);
    } else {
        probe_service_report_account(c, &a);
        c->open_service = a.state == ACCOUNT_OPEN;
        if (a.name[0] != '\0') {
            snprintf(c->account, sizeof(c->account), "\"%s\"", a.name);
        }
    }
    privilege_account_release(&a);
}

static void probe_service_clock(struct check *c)
{
    struct err err;
    int64_t theirs_s;
    char apart[UNITS_BYTES];
    struct clock clock = clock_system();
    int rc = cluster_clock(c->session.service, &theirs_s, &err);
    int64_t apart_s = llabs(theirs_s - clock_wall_us(&clock) / 1000000);
    if (rc < 0) {
        check_fail(c, &err);
    } else if (theirs_s == 0) {
        check_report(c, VERDICT_SKIP, NULL, "unknown: neither a Date nor _cat/health shows it");
    } else if (apart_s > CLOCK_APART_S) {
        check_report(
            c, VERDICT_WARN,
            "let both machines keep time by NTP: \"timedatectl\" shows whether this one does",
            "the service's clock and this machine's are %s apart",
            units_duration(apart, apart_s * 1000));
    } else {
        check_pass(c, "the service's and this machine's agree within %s",
                   units_duration(apart, CLOCK_APART_S * 1000));
    }
}

const struct probe probes_service[] = {
    {"credential", FACT_SECRETS | FACT_WAY, FACT_SERVICE, probe_service},
    {"account", FACT_SERVICE, 0, probe_service_account},
    {"service clock", FACT_SERVICE, 0, probe_service_clock},
    {0},
};
