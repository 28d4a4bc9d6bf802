/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the canonical request, its hash and the chain of signing keys. */
#include "http/sigv4.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/sha256.h"
#include "rowferry/service/http/http.h"

#define TEXT_MAX_BYTES ((size_t)128 << 10)
#define PARAMETERS_MOST 32
#define SIGNED "host;x-amz-content-sha256;x-amz-date"

/* --- canonical request ----------------------------------------------------------------------- */

/* Encodes the sent path a second time, except slashes. */
static void sigv4_push_path(struct buf *out, struct span path)
{
    size_t at = 0;
    while (at < path.len) {
        const char *slash = memchr(path.data + at, '/', path.len - at);
        size_t len = slash != NULL ? (size_t)(slash - path.data) - at : path.len - at;
        http_push_segment(out, path.data + at, len);
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
        http_push_segment(out, &c, 1);
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

void sigv4_sign(const struct sigv4 *key, const struct sigv4_request *request,
                char *lines[SIGV4_LINES])
{
    char date[24];
    char payload[SHA256_HEX_BYTES];
    char hashed[SHA256_HEX_BYTES];
    char signature[SHA256_HEX_BYTES];
    struct buf text;
    struct tm tm;
    time_t seconds = (time_t)request->time_s;
    gmtime_r(&seconds, &tm);
    strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &tm);
    struct digest d = sha256(request->body);
    sha256_hex(payload, &d);
    buf_init(&text, TEXT_MAX_BYTES);
    sigv4_canonical(&text, key, request, date, payload);
    d = sha256(span_make(buf_text(&text), text.len));
    sha256_hex(hashed, &d);
    buf_reset(&text);
    buf_printf(&text, "AWS4-HMAC-SHA256\n%s\n%.8s/%s/%s/aws4_request\n%s", date, date, key->region,
               key->service, hashed);
    sigv4_sign_text(signature, key, date, buf_text(&text));
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
