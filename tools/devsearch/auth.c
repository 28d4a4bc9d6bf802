/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the Authorization header. */
#include "auth.h"

#include <stdlib.h>
#include <strings.h>

/* Compares in constant time for equal lengths. */
static bool same(const char *a, const char *b)
{
    size_t n = strlen(a);
    unsigned char different = 0;
    if (n != strlen(b)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        different |= (unsigned char)((unsigned char)a[i] ^ (unsigned char)b[i]);
    }
    return different == 0;
}

bool auth_wanted(const struct options *o)
{
    return o->api_key != NULL || o->user != NULL || o->bearer != NULL;
}

bool auth_good(const struct options *o, const char *header)
{
    bool good = false;
    if (!auth_wanted(o)) {
        return true;
    }
    if (header == NULL) {
        return false;
    }
    if (o->api_key != NULL && strncasecmp(header, "ApiKey ", 7) == 0) {
        good = same(header + 7, o->api_key);
    } else if (o->bearer != NULL && strncasecmp(header, "Bearer ", 7) == 0) {
        good = same(header + 7, o->bearer);
    } else if (o->user != NULL && strncasecmp(header, "Basic ", 6) == 0) {
        struct buf plain;
        struct buf coded;
        buf_init(&plain, 65536);
        buf_init(&coded, 131072);
        buf_printf(&plain, "%s:%s", o->user, o->password);
        text_base64(&coded, buf_text(&plain), plain.len);
        good = same(header + 6, buf_text(&coded));
        text_wipe(plain.data);
        text_wipe(coded.data);
        buf_release(&plain);
        buf_release(&coded);
    }
    return good;
}
