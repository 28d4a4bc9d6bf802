/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the head of a request. */
#include "door.h"
#include "auth.h"
#include "base/limits.h"
#include "rowferry/base/host.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static void unauthorized(const struct options *o, struct answer *a)
{
    struct refusal r;
    if (o->product == OPENSEARCH) {
        a->status = 401;
        a->content_type = "text/plain; charset=UTF-8";
        buf_reset(&a->body);
        buf_push_literal(&a->body, "Unauthorized");
        return;
    }
    refusal_init(&r);
    refuse(
        &r, 401, "security_exception",
        "unable to authenticate with provided credentials and anonymous access is not allowed for "
        "this request");
    answer_refuse(a, &r);
    refusal_release(&r);
}

/* Checks an Origin such as "http://localhost:3000" or "null", which browsers send for a page.
 * Unlike in Host, only loopback addresses are accepted, because other addresses may be anyone's. */
static bool origin_is_ours(const char *origin, const char *own)
{
    char name[HOST_BYTES];
    struct in_addr address;
    const char *host = strstr(origin, "://");
    if (host == NULL || !host_name(host + 3, name)) {
        return false;
    }
    bool four = inet_pton(AF_INET, name, &address) == 1;
    return (four && (ntohl(address.s_addr) >> 24) == 127) || strcmp(name, "::1") == 0 ||
           strcasecmp(name, "localhost") == 0 || strcasecmp(name, own) == 0;
}

bool door_refuses(const struct options *o, const struct knock *k, struct answer *a)
{
    /* DNS rebinding: a page whose name resolves to this machine has no credential */
    if (!auth_wanted(o) && k->host != NULL &&
        !host_is_ours(k->host, (const char *const[]){o->host}, 1)) {
        answer_plain_error(
            a, 421,
            "Host names another machine: use an address, localhost, or the host that "
            "devsearch --listen names");
        return true;
    }
    if (k->origin != NULL && !origin_is_ours(k->origin, o->host)) {
        answer_plain_error(a, 403, "devsearch does not answer pages of another Origin");
        return true;
    }
    if (strlen(k->method) + strlen(k->target) + sizeof("  HTTP/1.1") - 1 > TARGET_MAX_BYTES) {
        struct refusal r;
        refusal_init(&r);
        refuse(&r, 400, "too_long_http_line_exception", "An HTTP line is larger than %d bytes.",
               TARGET_MAX_BYTES);
        answer_refuse(a, &r);
        refusal_release(&r);
        return true;
    }
    if (!auth_good(o, k->authorization)) {
        unauthorized(o, a);
        return true;
    }
    return false;
}
