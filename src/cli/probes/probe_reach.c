/* SPDX-License-Identifier: Apache-2.0 */
/* check: the connection to the service. Its name, port and certificate. */
#include <stdlib.h>
#include <string.h>

#include "probes/probe.h"
#include "rowferry/base/clock.h"
#include "rowferry/service/http/reach.h"

#define DAY_S 86400
#define DAYS_SOON 30

/* The result for each base URL. */
struct ways {
    struct reach *reached;
    struct err *errors;
    size_t count;
    size_t good;
};

static void probe_reach_report_name(struct check *c, const struct ways *w, size_t i,
                                    enum verdict bad)
{
    const struct reach *r = &w->reached[i];
    c->what = "service name";
    if (r->step == REACH_NAME) {
        check_report(c, bad, NULL, "%s", w->errors[i].message);
        check_remedy(c,
                     "correct the host in service.url, or the name server: \"getent hosts %s\" "
                     "shows what this machine finds",
                     r->host);
    } else if (strcmp(r->host, r->address) == 0) {
        check_pass(c, "%s is an address", r->host);
    } else {
        check_pass(c, "%s is %s%s", r->host, r->address, r->addresses > 1 ? ", among others" : "");
    }
}

static void probe_reach_report_port(struct check *c, const struct ways *w, size_t i,
                                    enum verdict bad)
{
    const struct reach *r = &w->reached[i];
    c->what = "service port";
    if (r->step == REACH_PORT) {
        check_report(c, bad,
                     "start the service, let this machine connect to it, or correct host and port "
                     "in service.url",
                     "%s", w->errors[i].message);
    } else {
        check_pass(c, "port %s is open", r->port);
    }
}

static void probe_reach_report_certificate(struct check *c, const struct reach *r)
{
    struct clock clock = clock_system();
    int64_t days = (r->expires_s - clock_wall_us(&clock) / 1000000) / DAY_S;
    if (r->expires_s == 0) {
        check_pass(c, "the certificate is verified");
    } else if (days < DAYS_SOON) {
        check_report(c, VERDICT_WARN, "give the service a new certificate before it expires",
                     "certificate of %s, by %s: %lld day%s left", r->subject, r->issuer,
                     (long long)days, days == 1 ? "" : "s");
    } else {
        check_pass(c, "certificate of %s, by %s: %lld days left", r->subject, r->issuer,
                   (long long)days);
    }
}

static void probe_reach_report_tls(struct check *c, const struct ways *w, size_t i,
                                   enum verdict bad)
{
    const struct reach *r = &w->reached[i];
    c->what = "service TLS";
    if (r->step == REACH_TLS) {
        const struct err *err = &w->errors[i];
        check_report(c, bad, err->hint[0] != '\0' ? err->hint : NULL, "%s", err->message);
    } else if (r->secure) {
        probe_reach_report_certificate(c, r);
    } else if (r->local) {
        check_pass(c, "none: http to this machine");
    } else {
        check_report(c, VERDICT_WARN, "enable https in the service, and use it in service.url",
                     "none: anyone on the network path can read documents and credential");
    }
}

/* If one of several URLs is reachable, an unreachable one is only a warning. */
static void probe_reach_report_way(struct check *c, const struct ways *w, size_t i)
{
    enum verdict bad = w->good > 0 ? VERDICT_WARN : VERDICT_FAIL;
    probe_reach_report_name(c, w, i, bad);
    if (w->reached[i].step > REACH_NAME) {
        probe_reach_report_port(c, w, i, bad);
    }
    if (w->reached[i].step > REACH_PORT) {
        probe_reach_report_tls(c, w, i, bad);
    }
}

static void probe_reach(struct check *c)
{
    struct service_options options;
    const struct service_config *service = &c->setup->config->service;
    config_service_options(c->setup->config, c->session.pipeline, &options);
    struct ways w = {mem_zero(service->url_count, sizeof(struct reach)),
                     mem_zero(service->url_count, sizeof(struct err)), service->url_count, 0};
    for (size_t i = 0; i < w.count; i++) {
        int rc = reach_look(&options, service->urls[i], &w.reached[i], &w.errors[i]);
        w.good += rc == 0;
    }
    for (size_t i = 0; i < w.count; i++) {
        probe_reach_report_way(c, &w, i);
    }
    free(w.reached);
    free(w.errors);
}

const struct probe probes_reach[] = {
    {"service name", FACT_SECRETS, FACT_WAY, probe_reach},
    {0},
};
