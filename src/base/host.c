/* SPDX-License-Identifier: Apache-2.0 */
/* Local names: addresses, localhost, and the configured names. */
#include "rowferry/base/host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool host_name(const char *text, char out[HOST_BYTES])
{
    const char *end = text[0] == '[' ? strchr(text, ']') : strrchr(text, ':');
    const char *begin = text + (text[0] == '[');
    size_t len = end != NULL ? (size_t)(end - begin) : strlen(begin);
    if (len >= HOST_BYTES || (text[0] == '[' && end == NULL)) {
        return false;
    }
    if (text[0] == '[' && end[1] != '\0' && end[1] != ':') {
        return false;
    }
    memcpy(out, begin, len);
    out[len] = '\0';
    return true;
}

bool host_is_ours(const char *host, const char *const *names, size_t count)
{
    char name[HOST_BYTES];
    char own[HOST_BYTES];
    struct in6_addr address;
    if (host == NULL) {
        return true; /* HTTP/1.0, so not a browser */
    }
    if (!host_name(host, name) || name[0] == '\0') {
        return false;
    }
    bool ours = inet_pton(AF_INET, name, &address) == 1 ||
                inet_pton(AF_INET6, name, &address) == 1 || strcasecmp(name, "localhost") == 0;
    for (size_t i = 0; i < count && !ours; i++) {
        ours = host_name(names[i], own) && strcasecmp(name, own) == 0;
    }
    return ours;
}
