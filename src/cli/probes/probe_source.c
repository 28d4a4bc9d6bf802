/* SPDX-License-Identifier: Apache-2.0 */
/* check: the source. Whether it answers, its version, and the role. */
#include <stdio.h>
#include <string.h>

#include "probes/probe.h"

/* --- once ------------------------------------------------------------------------------------- */

static const char *probe_source_way_remedy(const struct err *err)
{
    return strcmp(err->sqlstate, "3D000") == 0 ? "correct the database in source.uri, or create it"
           : strcmp(err->sqlstate, "53300") == 0
               ? "end sessions, or raise the limit that it names: alter role (or database) ... "
                 "connection limit, or the server's max_connections"
           : strcmp(err->sqlstate, "28000") == 0
               ? "correct the role in source.uri, or let the server's pg_hba.conf admit it from "
                 "this machine"
               : "start the server, let this machine connect to it, or correct host and port in "
                 "source.uri";
}

static void probe_source(struct check *c)
{
    struct err err;
    struct source_options options;
    char managed[PG_SERVICE_BYTES] = "";
    session_source_options(&c->session, &options);
    int rc = pg_open(&c->pg, &options, &err);
    if (rc == 0) {
        rc = pg_identify(c->pg, &c->identity, &err);
    }
    if (rc == 0) {
        rc = pg_managed_service(c->pg, managed, &err);
    }
    if (rc < 0) {
        c->what = strcmp(err.sqlstate, PG_POOLER_SQLSTATE) == 0 ? "pooler" : c->what;
        check_fail_else(c, &err, probe_source_way_remedy(&err));
        return;
    }
    const struct pg_identity *id = &c->identity;
    check_pass(c, "PostgreSQL %d.%d%s%s answers, database \"%s\", role \"%s\"",
               id->server_version / 10000, id->server_version % 10000,
               managed[0] != '\0' ? " on " : "", managed, id->database, id->role);
    c->what = "pooler";
    if (pg_is_pooled(c->pg)) {
        check_report(c, VERDICT_INFO, NULL,
                     "there is a connection pooler or proxy, and it keeps sessions");
    } else {
        check_pass(c, "there is no connection pooler");
    }
}

static bool probe_source_needs_primary(const struct check *c)
{
    bool needs = false;
    for (size_t i = 0; i < c->setup->count; i++) {
        needs = needs || capture_traits(c->setup->pipelines[i]->from.capture_mode)->needs_primary;
    }
    return needs;
}

static void probe_source_server(struct check *c)
{
    struct err err;
    const struct pg_identity *id = &c->identity;
    char timeline[32] = "unknown (docs/postgresql.md)";
    if (id->timeline > 0) {
        snprintf(timeline, sizeof(timeline), "%d", id->timeline);
    }
    if (id->in_recovery && probe_source_needs_primary(c) && pg_check_primary(c->pg, &err) < 0) {
        check_fail(c, &err);
    } else if (id->in_recovery) {
        check_pass(c, "a standby%s, timeline %s",
                   probe_source_needs_primary(c) ? " whose primary answers" : "", timeline);
    } else {
        check_pass(c, "a primary, timeline %s", timeline);
    }
}

static void probe_source_role(struct check *c)
{
    const struct setup *setup = c->setup;
    bool one = setup->count == 1;
    if (c->identity.superuser) {
        check_report(c, setup->config->accept_admin ? VERDICT_WARN : VERDICT_FAIL, NULL,
                     "role \"%s\" is a superuser: it may change everything", c->identity.role);
        check_remedy(c,
                     "create one for rowferry alone: create role rowferry login; rowferry source "
                     "install %s%s--reader rowferry; then name it in source.uri; or --accept-admin "
                     "if this is intended",
                     one ? setup->pipelines[0]->name : "", one ? " " : "");
    } else {
        check_pass(c, "\"%s\" is no superuser", c->identity.role);
    }
}

const struct probe probes_source[] = {
    {"source", FACT_SECRETS, FACT_SOURCE, probe_source},
    {"server", FACT_SOURCE, 0, probe_source_server},
    {"role", FACT_SOURCE, FACT_ROLE, probe_source_role},
    {0},
};
