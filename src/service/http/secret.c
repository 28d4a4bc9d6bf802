/* SPDX-License-Identifier: Apache-2.0 */
/* One table of credentials: header, signature, rotation after a refusal, masking. */
#include "http/secret.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/rotating_secret.h"
#include "rowferry/base/sigv4.h"
#include "rowferry/base/text.h"

#define HEADER_MAX_BYTES ((size_t)64 << 10)
#define MASKED_LEAST 4 /* shorter strings occur by chance and reveal nothing */

/* A secret is masked in messages unless its row excludes it. */
static const struct secret_row {
    const char *header; /* start of the header line that carries it; null: sent in another form */
    bool public;        /* an identifier, which messages may show */
} rows[SERVICE_SECRETS] = {
    [SERVICE_API_KEY] = {.header = "Authorization: ApiKey "},
    [SERVICE_BEARER] = {.header = "Authorization: Bearer "},
    [SERVICE_AWS_KEY_ID] = {.public = true},
};

void secret_take_all(struct service *s)
{
    for (size_t i = 0; i < SERVICE_SECRETS; i++) {
        struct service_credential *c = &s->options.credentials[i];
        c->origin = rotating_secret_hold(c->origin);
        s->secrets[i] = rotating_secret_take(c->origin, c->value);
    }
}

void secret_drop_all(struct service *s)
{
    for (size_t i = 0; i < SERVICE_SECRETS; i++) {
        rotating_secret_drop(s->options.credentials[i].origin);
        text_wipe(s->secrets[i]);
        free(s->secrets[i]);
    }
}

bool secret_push_line(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);
    *list = longer != NULL ? longer : *list;
    return longer != NULL;
}

/* Returns the header line of the first configured secret that has one, or null. */
static char *secret_authorization(const struct service *s)
{
    for (size_t i = 0; i < SERVICE_SECRETS; i++) {
        if (rows[i].header != NULL && s->secrets[i] != NULL) {
            struct buf line;
            buf_init(&line, HEADER_MAX_BYTES);
            buf_printf(&line, "%s%s", rows[i].header, s->secrets[i]);
            return buf_detach(&line);
        }
    }
    return NULL;
}

bool secret_push_authorization(struct curl_slist **list, const struct service *s)
{
    char *line = secret_authorization(s);
    bool good = line == NULL || secret_push_line(list, line);
    text_wipe(line);
    free(line);
    return good;
}

/* Changes the line in place, because pending requests share the list. This is safe: libcurl reads
 * it when a request starts, and all requests start in this thread. */
static void secret_change_header(struct curl_slist *list, const struct service *s)
{
    for (struct curl_slist *line = list; line != NULL; line = line->next) {
        if (strncmp(line->data, "Authorization:", 14) == 0) {
            text_wipe(line->data);
            free(line->data);
            line->data = secret_authorization(s);
        }
    }
}

bool secret_renewed(struct slot *slot)
{
    struct service *s = slot->service;
    int status = slot->answer.status;
    if (status != 401 && (status != 403 || s->options.aws_region == NULL)) {
        return false; /* signing services answer 403 if a session has expired */
    }
    if (slot->credential != s->credential) {
        return true;
    }
    bool other = false;
    for (size_t i = 0; i < SERVICE_SECRETS; i++) {
        other |= rotating_secret_replace(s->options.credentials[i].origin, &s->secrets[i]);
    }
    if (other) {
        s->credential++;
        secret_change_header(s->json_headers, s);
        secret_change_header(s->bulk_headers, s);
    }
    return other;
}

bool secret_sign(struct slot *slot, const struct curl_slist *headers, const struct span *body)
{
    const struct service *s = slot->service;
    const struct base_url *base = &s->bases[slot->base];
    const struct sigv4 key = {s->options.aws_region, s->options.aws_service,
                              s->secrets[SERVICE_AWS_KEY_ID], s->secrets[SERVICE_AWS_SECRET_KEY],
                              s->secrets[SERVICE_AWS_TOKEN]};
    char *lines[SIGV4_LINES];
    const char *path = buf_text(&slot->url) + strlen(base->url) - strlen(base->prefix);
    size_t len = strcspn(path, "?");
    const char *query = path + len + (path[len] == '?');
    const struct sigv4_request request = {slot->method,
                                          span_make(base->host, strlen(base->host)),
                                          span_make(path, len),
                                          span_make(query, strlen(query)),
                                          body != NULL ? *body : span_make("", 0),
                                          time(NULL)};
    sigv4_sign(&key, &request, lines);
    bool good = true;
    for (; good && headers != NULL; headers = headers->next) {
        good = secret_push_line(&slot->signed_headers, headers->data);
    }
    for (size_t i = 0; i < SIGV4_LINES; i++) {
        good = good && (lines[i] == NULL || secret_push_line(&slot->signed_headers, lines[i]));
        text_wipe(lines[i]);
        free(lines[i]);
    }
    return good;
}

void secret_free_headers(struct curl_slist *list)
{
    for (struct curl_slist *line = list; line != NULL; line = line->next) {
        text_wipe(line->data);
    }
    curl_slist_free_all(list);
}

static void secret_mask_one(const char *secret, char *bytes, size_t len)
{
    size_t n = secret != NULL ? strlen(secret) : 0;
    if (n < MASKED_LEAST || len < n) {
        return;
    }
    char *end = bytes + len;
    for (char *p = bytes; (p = memmem(p, (size_t)(end - p), secret, n)) != NULL; p += n) {
        memset(p, '*', n);
    }
}

/* Masks user and password in the form of basic authentication. */
static void secret_mask_basic(const struct service *s, char *bytes, size_t len)
{
    struct buf plain;
    struct buf sent;
    if (s->options.user == NULL || s->secrets[SERVICE_PASSWORD] == NULL) {
        return;
    }
    buf_init(&plain, HEADER_MAX_BYTES);
    buf_init(&sent, 2 * HEADER_MAX_BYTES);
    buf_printf(&plain, "%s:%s", s->options.user, s->secrets[SERVICE_PASSWORD]);
    text_base64(&sent, buf_text(&plain), plain.len);
    secret_mask_one(buf_text(&sent), bytes, len);
    text_wipe(plain.data);
    text_wipe(sent.data);
    buf_release(&plain);
    buf_release(&sent);
}

void secret_mask(const struct service *s, char *bytes, size_t len)
{
    if (bytes == NULL) {
        return;
    }
    for (size_t i = 0; i < SERVICE_SECRETS; i++) {
        if (!rows[i].public) {
            secret_mask_one(s->secrets[i], bytes, len);
        }
    }
    secret_mask_basic(s, bytes, len);
}
