/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a connection has to be encrypted though nobody said so. */
#include <stdlib.h>
#include <string.h>

#include "hosts.h"
#include "pg_private.h"

static const char *value_of(const PQconninfoOption *options, const char *keyword)
{
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
        if (strcmp(o->keyword, keyword) == 0) {
            return o->val != NULL ? o->val : "";
        }
    }
    return "";
}

/* Whether the URI or the environment names a mode, be it libpq's default. */
static bool says_mode(const char *uri)
{
    const char *variable = getenv("PGSSLMODE");
    PQconninfoOption *options = PQconninfoParse(uri, NULL);
    bool says = *value_of(options, "sslmode") != '\0' || (variable != NULL && *variable != '\0');
    PQconninfoFree(options);
    return says;
}

/* What a connection would be made with, service file and environment included. The second value
 * is none that libpq takes, so that it connects to nobody. */
static PQconninfoOption *effective(const char *uri)
{
    const char *const names[] = {"dbname", "channel_binding", NULL};
    const char *const values[] = {uri, "none of these", NULL};
    PGconn *conn = PQconnectStartParams(names, values, 1);
    PQconninfoOption *options = conn != NULL ? PQconninfo(conn) : NULL;
    PQfinish(conn);
    return options;
}

bool pg_must_encrypt(const char *uri)
{
    if (says_mode(uri)) {
        return false;
    }
    PQconninfoOption *options = effective(uri);
    const char *address = value_of(options, "hostaddr");
    const char *host = *address != '\0' ? address : value_of(options, "host");
    bool unsaid = strcmp(value_of(options, "sslmode"), "prefer") == 0;
    bool must = unsaid && hosts_leave(host);
    PQconninfoFree(options);
    return must;
}
