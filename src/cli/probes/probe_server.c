/* SPDX-License-Identifier: Apache-2.0 */
/* check: the source server. Its encoding, its clock, open transactions, and enough sessions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/probe.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/units.h"
#include "rowferry/source/catalog/review.h"

#define IDLE_LONG_MS 10000 /* idle in a transaction, or prepared */
#define OPEN_LONG_MS 60000
#define CLOCK_APART_MS 2000
#define LEASE_SESSIONS 1    /* daemon/lease_holder.h */
#define VERIFIER_SESSIONS 2 /* daemon/verifier.h: pipelines take turns */
#define COMMAND_SESSIONS 5  /* room for check, verify and others beside the run */

/* Returns true if UTF8 contains every character of the encoding. */
static bool probe_server_is_within_utf8(const char *encoding)
{
    static const char *const names[] = {"UTF8",   "LATIN1", "LATIN2",  "LATIN4", "LATIN5",
                                        "LATIN6", "LATIN7", "LATIN8",  "LATIN9", "LATIN10",
                                        "KOI8R",  "KOI8U",  "WIN1256", "WIN866", "ISO_8859_5"};
    bool is = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        is = is || strcmp(encoding, names[i]) == 0;
    }
    return is;
}

static void probe_server_report_encoding(struct check *c, const struct review_server *r)
{
    c->what = "encoding";
    if (strcmp(r->encoding, "SQL_ASCII") == 0) {
        check_report(c, VERDICT_WARN,
                     "dump the database and restore it into one made with: create database NAME "
                     "encoding 'UTF8' template template0",
                     "SQL_ASCII takes any bytes: a row that is not UTF-8 cannot be read and stops "
                     "the pipeline");
    } else if (!probe_server_is_within_utf8(r->encoding)) {
        check_report(
            c, VERDICT_WARN, NULL,
            "%s has characters that UTF8 does not have: a row with one becomes a dead letter",
            r->encoding);
    } else {
        check_pass(c, "%s", r->encoding);
    }
}

static void probe_server_report_clock(struct check *c, int64_t apart_us)
{
    char apart[UNITS_BYTES];
    int64_t apart_ms = llabs(apart_us) / 1000;
    c->what = "source clock";
    if (apart_ms > CLOCK_APART_MS) {
        check_report(
            c, VERDICT_WARN,
            "let both machines keep time by NTP: \"timedatectl\" shows whether this one does",
            "the source's clock is %s %s this machine's", units_duration(apart, apart_ms),
            apart_us > 0 ? "ahead of" : "behind");
    } else {
        check_pass(c, "the source's and this machine's agree within %s",
                   units_duration(apart, CLOCK_APART_MS));
    }
}

/* Old transactions keep the entries of the change log and hold a cursor back. */
static void probe_server_report_transactions(struct check *c, const struct review_server *r)
{
    char age[UNITS_BYTES];
    size_t before = c->count;
    c->what = "transactions";
    if (r->open.pid != 0 && r->open.age_ms > (r->open.idle ? IDLE_LONG_MS : OPEN_LONG_MS)) {
        check_report(c, VERDICT_WARN, NULL,
                     "one has been open for %s, process %lld (%s): its changes are not visible, "
                     "and the change log is kept for it",
                     units_duration(age, r->open.age_ms), (long long)r->open.pid, r->open.who);
        check_remedy(c, "let it end, or: select pg_terminate_backend(%lld)",
                     (long long)r->open.pid);
    }
    if (r->prepared.gid[0] != '\0' && r->prepared.age_ms > IDLE_LONG_MS) {
        check_report(c, VERDICT_WARN, NULL,
                     "%s of %s has been prepared for %s: its changes are not visible, and a cursor "
                     "does not advance",
                     r->prepared.gid, r->prepared.owner, units_duration(age, r->prepared.age_ms));
        check_remedy(c, "commit prepared %s, or: rollback prepared %s", r->prepared.gid,
                     r->prepared.gid);
    }
    if (c->count == before) {
        check_pass(c, "none is open for long%s",
                   r->sees_others ? "" : ", as far as this role can see");
    }
}

/* What `run` needs at any time. An initial load takes more, but works with what it gets. */
static int64_t probe_server_sessions(const struct setup *setup)
{
    bool compares = false;
    for (size_t i = 0; i < setup->count; i++) {
        compares = compares || setup->pipelines[i]->verify.every_ms > 0;
    }
    return (int64_t)setup->count + LEASE_SESSIONS + (compares ? VERIFIER_SESSIONS : 0);
}

/* Returns true if the bound admits `needed` sessions beside those of others. */
static bool probe_server_check_bound(struct check *c, const char *what, const char *change,
                                     const struct review_bound *bound, int64_t needed)
{
    if (bound->most < 0 || bound->most - bound->others >= needed) {
        return true;
    }
    check_report(c, bound->most < needed ? VERDICT_FAIL : VERDICT_WARN, NULL,
                 "\"run\" needs %lld; %s admits %lld, and others have %lld of them",
                 (long long)needed, what, (long long)bound->most, (long long)bound->others);
    int64_t enough = needed + COMMAND_SESSIONS + bound->others;
    check_remedy(c, "%s %lld", change, (long long)enough);
    return false;
}

static void probe_server_report_sessions(struct check *c, const struct review_server *r)
{
    int64_t needed = probe_server_sessions(c->setup);
    char change[REVIEW_NAME_BYTES + 64];
    c->what = "sessions";
    snprintf(change, sizeof(change), "alter role %s connection limit", r->role.name);
    bool fits = probe_server_check_bound(c, "the role", change, &r->role, needed);
    snprintf(change, sizeof(change), "alter database %s connection limit", r->database.name);
    fits = probe_server_check_bound(c, "the database", change, &r->database, needed) && fits;
    fits = probe_server_check_bound(c, "the server",
                                    "raise max_connections, and restart it: its roles without "
                                    "privileges need at least",
                                    &r->server, needed) &&
           fits;
    if (fits) {
        check_pass(c, "\"run\" needs %lld; the server admits %lld, and others have %lld of them",
                   (long long)needed, (long long)r->server.most, (long long)r->server.others);
    }
}

static void probe_server(struct check *c)
{
    struct err err;
    struct review_server r;
    struct clock clock = clock_system();
    int64_t before_us = clock_wall_us(&clock);
    int rc = review_server(c->pg, &r, &err);
    int64_t after_us = clock_wall_us(&clock);
    if (rc < 0) {
        check_fail(c, &err);
        return;
    }
    probe_server_report_encoding(c, &r);
    probe_server_report_clock(c, r.clock_us - (before_us + after_us) / 2);
    probe_server_report_transactions(c, &r);
    probe_server_report_sessions(c, &r);
}

const struct probe probes_server[] = {
    {"encoding", FACT_SOURCE, 0, probe_server},
    {0},
};
