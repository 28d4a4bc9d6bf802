/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the name, connects, performs the TLS handshake and reads libcurl's certificate data. */
#include "rowferry/service/http/reach.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/body.h"
#include "http/fault.h"
#include "http/wire.h"
#include "rowferry/base/text.h"

/* --- name ------------------------------------------------------------------------------------- */

static int reach_take_apart(const char *url, struct reach *out, struct err *err)
{
    CURLU *parts = curl_url();
    char *host = NULL;
    char *port = NULL;
    char *scheme = NULL;
    int rc = 0;
    if (curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK ||
        curl_url_get(parts, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
        curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK ||
        curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK) {
        rc = err_set(err, ERR_CONFIG, "service.url is not an address");
    } else {
        size_t len = strlen(host);
        bool six = host[0] == '[' && len > 2; /* brackets belong to the URL, not to the address */
        if (six) {
            host[len - 1] = '\0';
        }
        body_copy(out->host, sizeof(out->host), host + six);
        body_copy(out->port, sizeof(out->port), port);
        out->secure = strcasecmp(scheme, "https") == 0;
    }
    curl_free(host);
    curl_free(port);
    curl_free(scheme);
    curl_url_cleanup(parts);
    return rc;
}

static bool reach_is_local(const struct sockaddr *address)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    if (address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof(four));
        return ntohl(four.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    if (address->sa_family == AF_INET6) {
        memcpy(&six, address, sizeof(six));
        return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
    }
    return false;
}

static int reach_find_address(struct reach *out, struct err *err)
{
    struct addrinfo *found = NULL;
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    out->step = REACH_NAME;
    int code = getaddrinfo(out->host, out->port, &wanted, &found);
    if (code != 0 || found == NULL) {
        return err_set(err, ERR_TRANSIENT, "could not find the address of \"%s\": %s", out->host,
                       gai_strerror(code));
    }
    getnameinfo(found->ai_addr, found->ai_addrlen, out->address, sizeof(out->address), NULL, 0,
                NI_NUMERICHOST);
    out->local = reach_is_local(found->ai_addr);
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next) {
        out->addresses++;
    }
    freeaddrinfo(found);
    return 0;
}

/* --- connection ------------------------------------------------------------------------------- */

/* Returns the value after "name:", or null. */
static const char *reach_value_of(const char *line, const char *name)
{
    size_t len = strlen(name);
    return strncmp(line, name, len) == 0 && line[len] == ':' ? line + len + 1 : NULL;
}

static void reach_read_certificate(CURL *easy, struct reach *out)
{
    struct curl_certinfo *info = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &info) != CURLE_OK || info == NULL ||
        info->num_of_certs < 1) {
        return;
    }
    for (const struct curl_slist *line = info->certinfo[0]; line != NULL; line = line->next) {
        const char *subject = reach_value_of(line->data, "Subject");
        const char *issuer = reach_value_of(line->data, "Issuer");
        const char *expires = reach_value_of(line->data, "Expire date");
        if (subject != NULL) {
            body_copy(out->subject, sizeof(out->subject), subject);
        }
        if (issuer != NULL) {
            body_copy(out->issuer, sizeof(out->issuer), issuer);
        }
        if (expires != NULL) {
            time_t at = curl_getdate(expires, NULL);
            out->expires_s = at > 0 ? (int64_t)at : 0;
        }
    }
}

static enum reach_step reach_step_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return REACH_WHOLE;
    case CURLE_COULDNT_RESOLVE_HOST:
        return REACH_NAME;
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
        return REACH_PORT;
    default:
        return REACH_TLS;
    }
}

static int reach_connect_to(struct service *s, struct reach *out, struct err *err)
{
    struct slot *slot = &s->slots[0];
    CURL *easy = slot->easy;
    slot->base = 0;
    if (curl_easy_setopt(easy, CURLOPT_URL, s->bases[0].url) != CURLE_OK ||
        curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L) != CURLE_OK ||
        curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L) != CURLE_OK) {
        return err_set(err, ERR_INTERNAL, "cannot set libcurl up");
    }
    slot->result = curl_easy_perform(easy);
    out->step = reach_step_of(slot->result);
    if (slot->result != CURLE_OK) {
        return fault_describe(slot, err);
    }
    if (out->secure) {
        reach_read_certificate(easy, out);
    }
    return 0;
}

int reach_look(const struct service_options *options, const char *url, struct reach *out,
               struct err *err)
{
    struct service *s = NULL;
    struct service_options one = *options;
    *out = (struct reach){0};
    one.urls = &url;
    one.url_count = 1;
    int rc = reach_take_apart(url, out, err);
    if (rc == 0 && options->proxy != NULL) { /* the proxy may resolve names that are unknown here */
        body_copy(out->address, sizeof(out->address), "reached through the proxy");
    } else if (rc == 0) {
        rc = reach_find_address(out, err);
    }
    if (rc == 0) {
        rc = http_service_open(&s, &one, err);
    }
    if (rc == 0) {
        rc = reach_connect_to(s, out, err);
    }
    http_service_close(s);
    return rc;
}
