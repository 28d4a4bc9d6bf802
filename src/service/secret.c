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

void secret_mask(const struct service_options *options, char *bytes, size_t len)
{
    if (bytes != NULL) {
        mask_one(options->api_key, bytes, len);
        mask_one(options->password, bytes, len);
        mask_one(options->bearer, bytes, len);
    }
}
