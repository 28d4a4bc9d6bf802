/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the canonical request, its hash and the chain of signing keys. */
#include "rowferry/base/sigv4.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/sha256.h"

#define TEXT_MAX_BYTES ((size_t)128 << 10)
#define PARAMETERS_MOST 32
#define SIGV4_DATE_BYTES 24
#define SIGNED "host;x-amz-content-sha256;x-amz-date"

/* --- canonical request ----------------------------------------------------------------------- */

/* Encodes the sent path a second time, except slashes. */
static void sigv4_push_path(struct buf *out, struct span path)
{
    size_t at = 0;
    while (at < path.len) {
        const char *slash = memchr(path.data + at, '/', path.len - at);
        size_t len = slash != NULL ? (size_t)(slash - path.data) - at : path.len - at;
        text_percent(out, path.data + at, len);
        at += len;
        if (slash != NULL) {
            buf_push_char(out, '/');
            at++;
        }
    }
}

/* Encodes text without encoding existing escapes again. */
static void sigv4_push_encoded(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        int byte = c == '%' ? ascii_hex_byte(text.data + i + 1, text.len - i - 1) : -1;
        if (byte >= 0) {
            c = (char)byte;
            i += 2;
        }
        text_percent(out, &c, 1);
    }
}

static int sigv4_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sigv4_parameter(struct span text)
{
    struct buf out;
    const char *equals = text.len > 0 ? memchr(text.data, '=', text.len) : NULL;
    size_t name = equals != NULL ? (size_t)(equals - text.data) : text.len;
    size_t value = name < text.len ? name + 1 : name;
    buf_init(&out, TEXT_MAX_BYTES);
    sigv4_push_encoded(&out, span_make(text.data, name));
    buf_push_char(&out, '=');
    sigv4_push_encoded(&out, span_make(text.data + value, text.len - value));
    return buf_detach(&out);
}

static void sigv4_push_query(struct buf *out, struct span query)
{
    char *all[PARAMETERS_MOST] = {NULL};
    size_t count = 0;
    for (size_t at = 0; at < query.len && count < PARAMETERS_MOST; at++) {
        const char *end = memchr(query.data + at, '&', query.len - at);
        size_t len = end != NULL ? (size_t)(end - query.data) - at : query.len - at;
        all[count++] = sigv4_parameter(span_make(query.data + at, len));
        at += len;
    }
    qsort(all, count, sizeof(*all), sigv4_compare);
    for (size_t i = 0; i < count; i++) {
        buf_push_text(out, i > 0 ? "&" : "");
        buf_push_text(out, all[i]);
        free(all[i]);
    }
}

static void sigv4_canonical(struct buf *out, const struct sigv4 *key, const struct sigv4_request *r,
                            const char *date, const char *payload)
{
    buf_printf(out, "%s\n", r->method);
    sigv4_push_path(out, r->path);
    buf_push_char(out, '\n');
    sigv4_push_query(out, r->query);
    buf_printf(out, "\nhost:%.*s\nx-amz-content-sha256:%s\nx-amz-date:%s\n", (int)r->host.len,
               r->host.data, payload, date);
    if (key->token != NULL) {
        buf_printf(out, "x-amz-security-token:%s\n", key->token);
    }
    buf_printf(out, "\n" SIGNED "%s\n%s", key->token != NULL ? ";x-amz-security-token" : "",
               payload);
}

/* --- signature -------------------------------------------------------------------------------- */

static struct digest sigv4_link_of(const struct digest *key, const char *text)
{
    return sha256_hmac(span_make((const char *)key->bytes, SHA256_BYTES),
                       span_make(text, strlen(text)));
}

static void sigv4_sign_text(char out[SHA256_HEX_BYTES], const struct sigv4 *key, const char *day,
                            const char *text)
{
    struct buf first;
    buf_init(&first, TEXT_MAX_BYTES);
    buf_printf(&first, "AWS4%s", key->secret_key);
    struct digest d = sha256_hmac(span_make(buf_text(&first), first.len), span_make(day, 8));
    d = sigv4_link_of(&d, key->region);
    d = sigv4_link_of(&d, key->service);
    d = sigv4_link_of(&d, "aws4_request");
    d = sigv4_link_of(&d, text);
    sha256_hex(out, &d);
    text_wipe(first.data);
    buf_release(&first);
}

static char *sigv4_line(const char *name, const char *value)
{
    struct buf out;
    buf_init(&out, TEXT_MAX_BYTES);
    buf_printf(&out, "%s: %s", name, value);
    return buf_detach(&out);
}

static void sigv4_date(char out[SIGV4_DATE_BYTES], int64_t time_s)
{
    struct tm tm;
    time_t seconds = (time_t)time_s;
    gmtime_r(&seconds, &tm);
    strftime(out, SIGV4_DATE_BYTES, "%Y%m%dT%H%M%SZ", &tm);
}

static void sigv4_hash(char out[SHA256_HEX_BYTES], struct span text)
{
    struct digest d = sha256(text);
    sha256_hex(out, &d);
}

/* Signs a canonical request. */
static void sigv4_sign_canonical(char out[SHA256_HEX_BYTES], const struct sigv4 *key,
                                 const char *date, const struct buf *canonical)
{
    char hashed[SHA256_HEX_BYTES];
    struct buf text;
    buf_init(&text, TEXT_MAX_BYTES);
    sigv4_hash(hashed, span_make(buf_text(canonical), canonical->len));
    buf_printf(&text, "AWS4-HMAC-SHA256\n%s\n%.8s/%s/%s/aws4_request\n%s", date, date, key->region,
               key->service, hashed);
    sigv4_sign_text(out, key, date, buf_text(&text));
    buf_release(&text);
}

void sigv4_sign(const struct sigv4 *key, const struct sigv4_request *request,
                char *lines[SIGV4_LINES])
{
    char date[SIGV4_DATE_BYTES];
    char payload[SHA256_HEX_BYTES];
    char signature[SHA256_HEX_BYTES];
    struct buf text;
    sigv4_date(date, request->time_s);
    sigv4_hash(payload, request->body);
    buf_init(&text, TEXT_MAX_BYTES);
    sigv4_canonical(&text, key, request, date, payload);
    sigv4_sign_canonical(signature, key, date, &text);
    buf_reset(&text);
    buf_printf(&text,
               "Authorization: AWS4-HMAC-SHA256 Credential=%s/%.8s/%s/%s/aws4_request, "
               "SignedHeaders=" SIGNED "%s, Signature=%s",
               key->key_id, date, key->region, key->service,
               key->token != NULL ? ";x-amz-security-token" : "", signature);
    lines[0] = sigv4_line("x-amz-date", date);
    lines[1] = sigv4_line("x-amz-content-sha256", payload);
    lines[2] = buf_detach(&text);
    lines[3] = key->token != NULL ? sigv4_line("x-amz-security-token", key->token) : NULL;
}

/* --- a token for a database ------------------------------------------------------------------- */

static void sigv4_push_parameter(struct buf *query, const char *name, const char *value)
{
    buf_printf(query, "%s%s=", query->len > 0 ? "&" : "", name);
    text_percent(query, value, strlen(value));
}

/* The parameters in the order of their names, as the canonical request has them. */
static void sigv4_push_login(struct buf *query, const struct sigv4 *key, const char *user,
                             const char *date)
{
    struct buf scope;
    buf_init(&scope, TEXT_MAX_BYTES);
    buf_printf(&scope, "%s/%.8s/%s/%s/aws4_request", key->key_id, date, key->region, key->service);
    sigv4_push_parameter(query, "Action", "connect");
    sigv4_push_parameter(query, "DBUser", user);
    sigv4_push_parameter(query, "X-Amz-Algorithm", "AWS4-HMAC-SHA256");
    sigv4_push_parameter(query, "X-Amz-Credential", buf_text(&scope));
    sigv4_push_parameter(query, "X-Amz-Date", date);
    sigv4_push_parameter(query, "X-Amz-Expires", "900");
    if (key->token != NULL) {
        sigv4_push_parameter(query, "X-Amz-Security-Token", key->token);
    }
    sigv4_push_parameter(query, "X-Amz-SignedHeaders", "host");
    buf_release(&scope);
}

char *sigv4_login_token(const struct sigv4 *key, const char *authority, const char *user,
                        int64_t time_s)
{
    char date[SIGV4_DATE_BYTES];
    char payload[SHA256_HEX_BYTES];
    char signature[SHA256_HEX_BYTES];
    struct buf query;
    struct buf text;
    buf_init(&query, TEXT_MAX_BYTES);
    buf_init(&text, TEXT_MAX_BYTES);
    sigv4_date(date, time_s);
    sigv4_hash(payload, span_make("", 0));
    sigv4_push_login(&query, key, user, date);
    buf_printf(&text, "GET\n/\n%s\nhost:%s\n\nhost\n%s", buf_text(&query), authority, payload);
    sigv4_sign_canonical(signature, key, date, &text);
    buf_reset(&text);
    buf_printf(&text, "%s/?%s&X-Amz-Signature=%s", authority, buf_text(&query), signature);
    text_wipe(query.data);
    buf_release(&query);
    return buf_detach(&text);
}
