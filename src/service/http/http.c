/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing the service, and synchronous requests. */
#include "rowferry/service/http/http.h"
#include "rowferry/base/ascii.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/fault.h"
#include "http/secret.h"
#include "http/wire.h"

#define MOVE_PAUSE_MS 1000

/* Formats the Host header like libcurl: with the port unless it is the scheme's default. */
static char *http_host_line(CURLU *url, const char *host)
{
    struct buf line;
    char *port = NULL;
    buf_init(&line, HTTP_PATH_MAX_BYTES);
    buf_push_text(&line, host);
    if (curl_url_get(url, CURLUPART_PORT, &port, CURLU_NO_DEFAULT_PORT) == CURLUE_OK) {
        buf_printf(&line, ":%s", port);
    }
    curl_free(port);
    return buf_detach(&line);
}

/* Returns the path of the base URL without a trailing slash. */
static char *http_prefix_of(const char *url)
{
    const char *authority = strstr(url, "://");
    const char *slash = authority != NULL ? strchr(authority + 3, '/') : NULL;
    return text_copy(slash != NULL ? slash : "");
}

static int http_origin_of(struct base_url *base, CURLU *url, struct err *err)
{
    char *host = NULL;
    char *port = NULL;
    char *scheme = NULL;
    char *user = NULL;
    int rc = 0;
    curl_url_get(url, CURLUPART_HOST, &host, 0);
    curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);
    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0);
    curl_url_get(url, CURLUPART_USER, &user, 0);
    if (user != NULL) {
        rc = err_set(err, ERR_CONFIG, "service.url must not contain a user or a password");
        err_hint(err, "put them under service.auth");
    } else if (host == NULL || port == NULL || scheme == NULL ||
               (strcasecmp(scheme, "http") != 0 && strcasecmp(scheme, "https") != 0)) {
        rc = err_set(err, ERR_CONFIG, "service.url \"%s\" is not an http or https address",
                     base->url);
    } else {
        struct buf origin;
        buf_init(&origin, HTTP_PATH_MAX_BYTES);
        buf_printf(&origin, "%s:%s", host, port);
        base->origin = buf_detach(&origin);
        base->host = http_host_line(url, host);
        base->prefix = http_prefix_of(base->url);
    }
    curl_free(host);
    curl_free(port);
    curl_free(scheme);
    curl_free(user);
    return rc;
}

static int http_open_base(struct base_url *base, const char *text, struct err *err)
{
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '/') {
        len--;
    }
    base->url = text_copy_span(span_make(text, len));
    CURLU *url = curl_url();
    CURLUcode code = curl_url_set(url, CURLUPART_URL, text, 0);
    int rc = code == CURLUE_OK ? http_origin_of(base, url, err)
                               : err_set(err, ERR_CONFIG, "service.url is not an address: %s",
                                         curl_url_strerror(code));
    curl_url_cleanup(url);
    return rc;
}

/* The Expect header is empty, because both products answer at once and waiting for a 100 costs a
 * second. */
static bool http_make_headers(struct curl_slist **list, const char *content_type,
                              const struct service *s)
{
    return secret_push_line(list, content_type) && secret_push_line(list, "Expect:") &&
           secret_push_authorization(list, s);
}

static bool http_open_slots(struct service *s)
{
    s->slot_count = (size_t)s->options.in_flight + 1;
    s->slots = mem_zero(s->slot_count, sizeof(*s->slots));
    for (size_t i = 0; i < s->slot_count; i++) {
        if (!wire_open_slot(s, &s->slots[i], i == 0)) {
            return false;
        }
        if (i > 0) {
            s->slots[i].answer.body.max_bytes = BULK_BODY_MAX_BYTES;
        }
    }
    return wire_open_slot(s, &s->poll, true);
}

static int http_open_parts(struct service *s, struct err *err)
{
    for (size_t i = 0; i < s->base_count; i++) {
        int rc = http_open_base(&s->bases[i], s->options.urls[i], err);
        if (rc != 0) {
            return rc;
        }
    }
    s->multi = curl_multi_init();
    if (s->multi == NULL ||
        !http_make_headers(&s->json_headers, "Content-Type: application/json", s) ||
        !http_make_headers(&s->bulk_headers, "Content-Type: application/x-ndjson", s) ||
        !http_open_slots(s)) {
        return err_set(err, ERR_TRANSIENT, "could not prepare connections to the service: %s",
                       "libcurl is out of memory, has no TLS or is too old");
    }
    return 0;
}

int http_service_open(struct service **out, const struct service_options *options, struct err *err)
{
    *out = NULL;
    if (options->url_count == 0) {
        return err_set(err, ERR_CONFIG, "service.url is missing");
    }
    if (!wire_set_up()) {
        return err_set(err, ERR_INTERNAL, "cannot set libcurl up");
    }
    struct service *s = mem_zero(1, sizeof(*s));
    s->options = *options;
    s->options.in_flight = options->in_flight > 0 ? options->in_flight : 1;
    secret_take_all(s);
    s->base_count = options->url_count;
    s->bases = mem_zero(s->base_count, sizeof(*s->bases));
    int rc = http_open_parts(s, err);
    if (rc != 0) {
        http_service_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

void http_service_close(struct service *s)
{
    if (s == NULL) {
        return;
    }
    for (size_t i = 0; i < s->slot_count && s->slots != NULL; i++) {
        wire_close_slot(s, &s->slots[i]);
    }
    free(s->slots);
    wire_close_slot(s, &s->poll);
    for (size_t i = 0; i < s->base_count; i++) {
        free(s->bases[i].url);
        free(s->bases[i].origin);
        free(s->bases[i].host);
        free(s->bases[i].prefix);
    }
    free(s->bases);
    secret_free_headers(s->json_headers);
    secret_free_headers(s->bulk_headers);
    curl_multi_cleanup(s->multi);
    secret_drop_all(s);
    free(s);
}

/* Waits for the end of the request; bulk requests in flight make progress too. */
static int http_wait_for(struct service *s, struct slot *slot, struct err *err)
{
    bool readable = false;
    int rc = wire_move(s, err);
    while (rc == 0 && !slot->finished) {
        rc = wire_wait(s, -1, MOVE_PAUSE_MS, &readable, err);
        if (rc == 0) {
            rc = wire_move(s, err);
        }
    }
    return rc;
}

static int http_request_try(struct service *s, struct slot *slot, const struct span *body,
                            struct err *err)
{
    int rc = wire_start(slot, s->json_headers, body, err);
    if (rc == 0) {
        rc = http_wait_for(s, slot, err);
    }
    return rc != 0 || slot->result == CURLE_OK ? rc : fault_explain(slot, err);
}

int http_request(struct service *s, const char *method, const char *path, struct span body,
                 struct http_answer *answer, struct err *err)
{
    struct slot *slot = &s->slots[0];
    slot->method = method;
    buf_reset(&slot->path);
    buf_push_text(&slot->path, path);
    *answer = (struct http_answer){0};
    int rc = 0;
    for (size_t tried = 0; tried < s->base_count; tried++) {
        const struct span *sent = body.data != NULL ? &body : NULL;
        rc = http_request_try(s, slot, sent, err);
        if (rc == 0 && secret_renewed(slot)) { /* the credential was refused and has changed */
            rc = http_request_try(s, slot, sent, err);
        }
        if (rc == 0 || !slot->finished || !fault_is_unreachable(slot)) {
            break;
        }
    }
    if (rc == 0) {
        *answer = slot->answer;
        buf_init(&slot->answer.body, HTTP_BODY_MAX_BYTES);
    }
    return rc;
}

void http_answer_release(struct http_answer *answer)
{
    buf_release(&answer->body);
}
