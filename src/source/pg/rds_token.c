/* SPDX-License-Identifier: Apache-2.0 */
#include "pg/rds_token.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/clock.h"
#include "rowferry/base/sigv4.h"

#define AUTHORITY_BYTES 512
#define REGION_BYTES 64

/* What the token is signed for. */
struct rds_login {
    const char *host;
    const char *port;
    const char *user;
};

/* Writes the region of a name such as "shop.c2x.eu-west-1.rds.amazonaws.com"; "" if it has none. */
static void rds_token_region_of(char out[REGION_BYTES], const char *host)
{
    const char *end = strstr(host, ".rds.amazonaws.com");
    const char *begin = end;
    while (begin != NULL && begin > host && begin[-1] != '.') {
        begin--;
    }
    snprintf(out, REGION_BYTES, "%.*s", begin != NULL ? (int)(end - begin) : 0,
             begin != NULL ? begin : "");
}

static int rds_token_sign(char **password, const struct rds_login *login, const char *region,
                          struct err *err)
{
    char authority[AUTHORITY_BYTES];
    struct clock clock = clock_system();
    const char *token = getenv("AWS_SESSION_TOKEN");
    struct sigv4 key = {.region = region,
                        .service = "rds-db",
                        .key_id = getenv("AWS_ACCESS_KEY_ID"),
                        .secret_key = getenv("AWS_SECRET_ACCESS_KEY"),
                        .token = token != NULL && token[0] != '\0' ? token : NULL};
    if (key.key_id == NULL || key.secret_key == NULL) {
        err_set(err, ERR_CONFIG, "$%s is not set, by which aws_rds_iam signs",
                key.key_id == NULL ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY");
        return err_hint(err, "set it to the key of an identity that has rds-db:connect");
    }
    snprintf(authority, sizeof(authority), "%s:%s", login->host, login->port);
    text_wipe(*password);
    free(*password);
    *password = sigv4_login_token(&key, authority, login->user, clock_wall_us(&clock) / 1000000);
    return 0;
}

static int rds_token_renew_for(char **password, const struct rds_login *login, const char *region,
                               struct err *err)
{
    char found[REGION_BYTES];
    rds_token_region_of(found, login->host);
    if (login->host[0] == '\0' || login->host[0] == '/' || strchr(login->host, ',') != NULL ||
        login->user[0] == '\0') {
        err_set(err, ERR_CONFIG,
                "source.uri must name one host and a role, for which aws_rds_iam signs");
        return err_hint(err, "write it like postgresql://role@endpoint/database");
    }
    if (region[0] == '\0' && found[0] == '\0') {
        err_set(err, ERR_CONFIG, "aws_rds_iam knows no region: \"%s\" names none", login->host);
        return err_hint(err, "name it: \"aws_rds_iam\": \"eu-west-1\"");
    }
    return rds_token_sign(password, login, region[0] != '\0' ? region : found, err);
}

int rds_token_renew(char **password, const char *uri, const char *role, const char *region,
                    struct err *err)
{
    struct rds_login login = {"", "5432", role != NULL ? role : ""};
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(uri, &why);
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
        if (o->val == NULL) {
            continue;
        }
        login.host = strcmp(o->keyword, "host") == 0 ? o->val : login.host;
        login.port = strcmp(o->keyword, "port") == 0 ? o->val : login.port;
        login.user = strcmp(o->keyword, "user") == 0 && role == NULL ? o->val : login.user;
    }
    int rc = rds_token_renew_for(password, &login, region, err);
    PQconninfoFree(options);
    PQfreemem(why);
    return rc;
}
