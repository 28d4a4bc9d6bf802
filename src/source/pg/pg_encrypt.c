/* SPDX-License-Identifier: Apache-2.0 */
/* Security that a connection requires by default: encryption, and a server that proves that it
 * knows the password before it receives one. And its place, for people. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pg/hosts.h"
#include "pg/pg_private.h"
#include "rowferry/base/buf.h"

#define DEFAULT_PORT "5432"

static const char *pg_encrypt_value_of(const PQconninfoOption *options, const char *keyword)
{
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
        if (strcmp(o->keyword, keyword) == 0) {
            return o->val != NULL ? o->val : "";
        }
    }
    return "";
}

/* Returns true if the URI or the environment sets a value, even if it is libpq's default. */
static bool pg_encrypt_reports(const char *uri, const char *keyword, const char *variable)
{
    const char *said = getenv(variable);
    PQconninfoOption *options = PQconninfoParse(uri, NULL);
    bool names = *pg_encrypt_value_of(options, keyword) != '\0' || (said != NULL && *said != '\0');
    PQconninfoFree(options);
    return names;
}

/* Returns a connection with all effective parameters, including service file and environment, that
 * is never made. The invalid value of the keyword makes libpq fail before it connects. */
static PGconn *pg_encrypt_unmade(const char *uri, const char *keyword)
{
    const char *const names[] = {"dbname", keyword, NULL};
    const char *const values[] = {uri, "none of these", NULL};
    return PQconnectStartParams(names, values, 1);
}

static bool pg_encrypt_leaves(const PQconninfoOption *options)
{
    const char *address = pg_encrypt_value_of(options, "hostaddr");
    return hosts_leave(*address != '\0' ? address : pg_encrypt_value_of(options, "host"));
}

bool pg_must_encrypt(const char *uri)
{
    if (pg_encrypt_reports(uri, "sslmode", "PGSSLMODE")) {
        return false;
    }
    PGconn *conn = pg_encrypt_unmade(uri, "channel_binding");
    PQconninfoOption *options = PQconninfo(conn);
    bool unsaid = strcmp(pg_encrypt_value_of(options, "sslmode"), "prefer") == 0;
    bool must = unsaid && pg_encrypt_leaves(options);
    PQconninfoFree(options);
    PQfinish(conn);
    return must;
}

/* With sslmode=require, libpq also verifies the certificate's chain if it finds the root
 * certificate file. */
static bool pg_encrypt_is_verified(const PQconninfoOption *options)
{
    const char *root = pg_encrypt_value_of(options, "sslrootcert");
    return strncmp(pg_encrypt_value_of(options, "sslmode"), "verify-", 7) == 0 ||
           (*root != '\0' && access(root, R_OK) == 0);
}

bool pg_is_unverified(const char *uri)
{
    PGconn *conn = pg_encrypt_unmade(uri, "channel_binding");
    PQconninfoOption *options = PQconninfo(conn);
    bool is = pg_encrypt_leaves(options) && !pg_encrypt_is_verified(options);
    PQconninfoFree(options);
    PQfinish(conn);
    return is;
}

void pg_place(const char *uri, struct buf *out)
{
    PGconn *conn = pg_encrypt_unmade(uri, "channel_binding");
    PQconninfoOption *options = PQconninfo(conn);
    const char *host = pg_encrypt_value_of(options, "host");
    const char *address = pg_encrypt_value_of(options, "hostaddr");
    const char *port = pg_encrypt_value_of(options, "port");
    const char *shown = *host != '\0' ? host : *address != '\0' ? address : "this machine";
    buf_printf(out, "%s on %s", pg_encrypt_value_of(options, "dbname"), shown);
    if (*port != '\0' && strcmp(port, DEFAULT_PORT) != 0) {
        buf_printf(out, ":%s", port);
    }
    PQconninfoFree(options);
    PQfinish(conn);
}

bool pg_must_bind(const char *uri, const char *password)
{
    if (pg_encrypt_reports(uri, "channel_binding", "PGCHANNELBINDING")) {
        return false;
    }
    PGconn *conn = pg_encrypt_unmade(uri, "ssl_min_protocol_version");
    PQconninfoOption *options = PQconninfo(conn);
    const char *used = password != NULL ? password : PQpass(conn);
    bool unsaid = strcmp(pg_encrypt_value_of(options, "channel_binding"), "prefer") == 0;
    bool clear = strcmp(pg_encrypt_value_of(options, "sslmode"), "disable") == 0;
    bool must = unsaid && !clear && used != NULL && *used != '\0' && pg_encrypt_leaves(options) &&
                !pg_encrypt_is_verified(options);
    PQconninfoFree(options);
    PQfinish(conn);
    return must;
}
