/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, localhost, and the name that the configuration uses. */
#include "host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HOST_BYTES 256

/* Without the port and the brackets; false where it is longer than a name may be. */
static bool take_name(const char *text, char *out)
{
    const char *end = text[0] == '[' ? strchr(text, ']') : strrchr(text, ':');
    const char *begin = text + (text[0] == '[');
    size_t len = end != NULL ? (size_t)(end - begin) : strlen(begin);
    if (len >= HOST_BYTES || (text[0] == '[' && end == NULL)) {
        return false;
    }
    memcpy(out, begin, len);
    out[len] = '\0';
    return true;
}

bool host_is_ours(const char *host, const char *own)
{
    char name[HOST_BYTES];
    char configured[HOST_BYTES];
    struct in6_addr address;
    if (host == NULL) {
        return true; /* HTTP/1.0: no browser */
    }
    if (!take_name(host, name) || !take_name(own, configured)) {
        return false;
    }
    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1 ||
           strcasecmp(name, "localhost") == 0 || strcasecmp(name, configured) == 0;
}
