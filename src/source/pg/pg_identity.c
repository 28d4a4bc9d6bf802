/* SPDX-License-Identifier: Apache-2.0 */
/* Which server answers, and as which role: what a session asks once, and the identity. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pg/hosts.h"
#include "pg/pg_private.h"
#include "pg/sqlstate.h"
#include "rowferry/base/buf.h"

/* look_session.sql */
struct pg_identity_session {
    bool in_recovery;
    int backend;
    bool superuser;
    bool may_history;
    bool may_system;
};

/* If a service refuses the functions in spite of the rights, the history remains unknown. */
static int pg_identity_ask_history(struct pg *pg, const char *name, bool may, struct err *err)
{
    static const struct pg_member members[] = {
        PG_MEMBER(struct pg_history, system), PG_MEMBER(struct pg_history, timeline), {0}};
    if (!may || *pg->history.system != '\0') {
        return 0;
    }
    int rc = pg_ask_row(pg, name, NULL, 0, members, &pg->history, err);
    return rc == ERR_REJECTED && sqlstate_is_refusal(err->sqlstate) ? 0 : rc;
}

int pg_refuse_old(const struct pg *pg, struct err *err)
{
    if (PQserverVersion(pg->conn) >= 130000) {
        return 0;
    }
    err_set(err, ERR_REJECTED,
            "the source is PostgreSQL %d, but 13 or newer is needed: older ones have no "
            "pg_snapshot, which shows which changes have been read",
            PQserverVersion(pg->conn) / 10000);
    return err_hint(err, "upgrade the server");
}

int pg_look_server(struct pg *pg, bool *in_recovery, struct err *err)
{
    static const struct pg_member members[] = {PG_MEMBER(struct pg_identity_session, in_recovery),
                                               PG_MEMBER(struct pg_identity_session, backend),
                                               PG_MEMBER(struct pg_identity_session, superuser),
                                               PG_MEMBER(struct pg_identity_session, may_history),
                                               PG_MEMBER(struct pg_identity_session, may_system),
                                               {0}};
    struct pg_identity_session now = {0};
    pg->history = (struct pg_history){0};
    int rc = pg_ask_row(pg, "look_session", NULL, 0, members, &now, err);
    *in_recovery = now.in_recovery;
    pg->backend = now.backend;
    pg->superuser = now.superuser;
    if (rc == 0) {
        rc = pg_identity_ask_history(pg, "look_history", now.may_history, err);
    }
    return rc == 0 ? pg_identity_ask_history(pg, "look_system", now.may_system, err) : rc;
}

int pg_identify(struct pg *pg, struct pg_identity *out, struct err *err)
{
    static const struct pg_member members[] = {
        PG_MEMBER(struct pg_identity, database),    PG_MEMBER(struct pg_identity, server_version),
        PG_MEMBER(struct pg_identity, in_recovery), PG_MEMBER(struct pg_identity, superuser),
        PG_MEMBER(struct pg_identity, role),        {0}};
    *out = (struct pg_identity){.timeline = pg->history.timeline};
    snprintf(out->system, sizeof(out->system), "%s",
             *pg->history.system != '\0' ? pg->history.system : "unknown");
    return pg_ask_row(pg, "look_server", NULL, 0, members, out, err);
}

/* On the loopback, or by a socket, the host is this machine: the next one has the same name for
 * another server. */
int pg_look_place(struct pg *pg, char out[PG_PLACE_BYTES], struct err *err)
{
    struct pg_result *r = NULL;
    struct buf text;
    char machine[256] = "";
    buf_init(&text, 8192);
    int rc = pg->in_recovery && pg->primary.uri != NULL ? pg_writer(pg, &pg, err) : 0;
    rc = rc == 0 ? pg_ask(pg, &r, "look_place", NULL, 0, err) : rc;
    if (rc == 0) {
        const char *server = pg_text(r, 0, 1);
        buf_printf(&text, "%d %s %s ", pg->history.timeline, pg_text(r, 0, 0),
                   server != NULL ? server : "-");
        pg_place(pg->uri, &text);
        if (!hosts_leave(PQhost(pg->conn)) && gethostname(machine, sizeof(machine) - 1) == 0) {
            buf_printf(&text, " of %s", machine);
        }
    }
    snprintf(out, PG_PLACE_BYTES, "%s", buf_text(&text));
    buf_release(&text);
    pg_result_release(r);
    return rc;
}

int pg_managed_service(struct pg *pg, char name[PG_SERVICE_BYTES], struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, "look_service", NULL, 0, err);
    snprintf(name, PG_SERVICE_BYTES, "%s", rc == 0 && pg_rows(r) > 0 ? pg_text(r, 0, 0) : "");
    pg_result_release(r);
    return rc;
}

int pg_refuse_superuser(const struct pg *pg, struct err *err)
{
    if (!pg->superuser) {
        return 0;
    }
    err_set(err, ERR_REJECTED, "role \"%s\" is a superuser: it may change everything", pg_role(pg));
    return err_hint(err,
                    "create one for rowferry alone (docs/rights.md) and name it in source.uri; "
                    "or \"accept_admin\": true if this is intended");
}
