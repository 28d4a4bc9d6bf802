/* SPDX-License-Identifier: Apache-2.0 */
/* The Authorization header, wiping, masking. */
#include "secret.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

#define HEADER_MAX_BYTES ((size_t)64 << 10)
#define MASKED_LEAST 4 /* shorter texts occur by chance and tell nothing */

bool secret_add_header(struct curl_slist **list, const struct service_options *options)
{
    const char *scheme = options->api_key != NULL ? "ApiKey" : "Bearer";
    const char *secret = options->api_key != NULL ? options->api_key : options->bearer;
    if (secret == NULL) {
        return true;
    }
    struct buf line;
    buf_init(&line, HEADER_MAX_BYTES);
    buf_printf(&line, "Authorization: %s %s", scheme, secret);
    struct curl_slist *longer = line.failed ? NULL : curl_slist_append(*list, line.data);
    text_wipe(line.data);
    buf_release(&line);
    if (longer != NULL) {
        *list = longer;
    }
    return longer != NULL;
}

void secret_free_headers(struct curl_slist *list)
{
    for (struct curl_slist *line = list; line != NULL; line = line->next) {
        text_wipe(line->data);
    }
    curl_slist_free_all(list);
}

static void mask_one(const char *secret, char *bytes, size_t len)
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

static void push_base64(struct buf *out, const unsigned char *bytes, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < len; i += 3) {
        unsigned second = i + 1 < len ? bytes[i + 1] : 0;
        unsigned third = i + 2 < len ? bytes[i + 2] : 0;
        unsigned triple = (unsigned)bytes[i] << 16 | second << 8 | third;
        buf_push_char(out, digits[triple >> 18]);
        buf_push_char(out, digits[triple >> 12 & 63]);
        buf_push_char(out, i + 1 < len ? digits[triple >> 6 & 63] : '=');
        buf_push_char(out, i + 2 < len ? digits[triple & 63] : '=');
    }
}

/* User and password as basic authentication sends them. */
static void mask_basic(const struct service_options *options, char *bytes, size_t len)
{
    struct buf plain;
    struct buf sent;
    if (options->user == NULL || options->password == NULL) {
        return;
    }
    buf_init(&plain, HEADER_MAX_BYTES);
    buf_init(&sent, 2 * HEADER_MAX_BYTES);
    buf_printf(&plain, "%s:%s", options->user, options->password);
    push_base64(&sent, (const unsigned char *)buf_text(&plain), plain.len);
    mask_one(buf_text(&sent), bytes, len);
    text_wipe(plain.data);
    text_wipe(sent.data);
    buf_release(&plain);
    buf_release(&sent);
}

void secret_mask(const struct service_options *options, char *bytes, size_t len)
{
    if (bytes != NULL) {
        mask_one(options->api_key, bytes, len);
        mask_one(options->password, bytes, len);
        mask_one(options->bearer, bytes, len);
        mask_basic(options, bytes, len);
    }
}
