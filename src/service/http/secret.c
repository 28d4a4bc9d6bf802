/* SPDX-License-Identifier: Apache-2.0 */
/* Authorization header, rotation after a refusal, wiping and masking of secrets. */
#include "http/secret.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/rotating_secret.h"
#include "rowferry/base/text.h"

#define HEADER_MAX_BYTES ((size_t)64 << 10)
#define MASKED_LEAST 4 /* shorter strings occur by chance and reveal nothing */

/* --- the secrets in force ----------------------------------------------------------------------
 */

static const char **secret_place(struct service_options *o, size_t i)
{
    const char **const places[SERVICE_SECRETS] = {[SERVICE_API_KEY] = &o->api_key,
                                                  [SERVICE_BEARER] = &o->bearer,
                                                  [SERVICE_PASSWORD] = &o->password,
                                                  [SERVICE_AWS_KEY_ID] = &o->aws_key_id,
                                                  [SERVICE_AWS_SECRET_KEY] = &o->aws_secret_key,
                                                  [SERVICE_AWS_TOKEN] = &o->aws_token};
    return places[i];
}

void secret_take_all(struct service *s)
{
    for (size_t i = 0; i < SERVICE_SECRETS; i++) {
        const char **place = secret_place(&s->options, i);
        s->options.renewals[i] = rotating_secret_hold(s->options.renewals[i]);
        s->secrets[i] = rotating_secret_take(s->options.renewals[i], *place);
        *place = s->secrets[i];
    }
}

void secret_drop_all(struct service *s)
{
    for (size_t i = 0; i < SERVICE_SECRETS; i++) {
        rotating_secret_drop(s->options.renewals[i]);
        text_wipe(s->secrets[i]);
        free(s->secrets[i]);
    }
}

/* Returns "Authorization: ApiKey ..." or the bearer line; null if neither is configured. */
static char *secret_authorization(const struct service_options *options)
{
    const char *scheme = options->api_key != NULL ? "ApiKey" : "Bearer";
    const char *secret = options->api_key != NULL ? options->api_key : options->bearer;
    struct buf line;
    buf_init(&line, HEADER_MAX_BYTES);
    if (secret != NULL) {
        buf_printf(&line, "Authorization: %s %s", scheme, secret);
    }
    return secret != NULL ? buf_detach(&line) : NULL;
}

bool secret_add_header(struct curl_slist **list, const struct service_options *options)
{
    char *line = secret_authorization(options);
    if (line == NULL) {
        return true;
    }
    struct curl_slist *longer = curl_slist_append(*list, line);
    text_wipe(line);
    free(line);
    if (longer != NULL) {
        *list = longer;
    }
    return longer != NULL;
}

/* --- rotation -------------------------------------------------------------------------------- */

/* Changes the line in place, because pending requests share the list. This is safe: libcurl reads
 * it when a request starts, and all requests start in this thread. */
static void secret_change_header(struct curl_slist *list, const struct service_options *options)
{
    for (struct curl_slist *line = list; line != NULL; line = line->next) {
        if (strncmp(line->data, "Authorization:", 14) == 0) {
            text_wipe(line->data);
            free(line->data);
            line->data = secret_authorization(options);
        }
    }
}

/* Signing services answer 403 if a session has expired. */
static bool secret_is_refusal(const struct service *s, int status)
{
    return status == 401 || (status == 403 && s->options.aws_region != NULL);
}

bool secret_renewed(struct slot *slot)
{
    struct service *s = slot->service;
    if (!secret_is_refusal(s, slot->answer.status)) {
        return false;
    }
    if (slot->credential != s->credential) {
        return true;
    }
    bool other = false;
    for (size_t i = 0; i < SERVICE_SECRETS; i++) {
        other = rotating_secret_replace(s->options.renewals[i], &s->secrets[i]) || other;
        *secret_place(&s->options, i) = s->secrets[i];
    }
    if (other) {
        s->credential++;
        secret_change_header(s->json_headers, &s->options);
        secret_change_header(s->bulk_headers, &s->options);
    }
    return other;
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
static void secret_mask_basic(const struct service_options *options, char *bytes, size_t len)
{
    struct buf plain;
    struct buf sent;
    if (options->user == NULL || options->password == NULL) {
        return;
    }
    buf_init(&plain, HEADER_MAX_BYTES);
    buf_init(&sent, 2 * HEADER_MAX_BYTES);
    buf_printf(&plain, "%s:%s", options->user, options->password);
    text_base64(&sent, buf_text(&plain), plain.len);
    secret_mask_one(buf_text(&sent), bytes, len);
    text_wipe(plain.data);
    text_wipe(sent.data);
    buf_release(&plain);
    buf_release(&sent);
}

void secret_mask(const struct service_options *options, char *bytes, size_t len)
{
    if (bytes != NULL) {
        secret_mask_one(options->api_key, bytes, len);
        secret_mask_one(options->password, bytes, len);
        secret_mask_one(options->bearer, bytes, len);
        secret_mask_one(options->aws_secret_key, bytes, len);
        secret_mask_one(options->aws_token, bytes, len);
        secret_mask_basic(options, bytes, len);
    }
}
