/* SPDX-License-Identifier: Apache-2.0 */
/* Rotation of comma-separated lists. */
#include "pg/hosts.h"

#include <string.h>
#include <strings.h>

size_t hosts_count(const char *list)
{
    size_t count = 1;
    if (list == NULL || *list == '\0') {
        return 0;
    }
    for (const char *at = list; (at = strchr(at, ',')) != NULL; at++) {
        count++;
    }
    return count;
}

void hosts_turn(struct buf *out, const char *list, size_t turn)
{
    size_t count = hosts_count(list);
    const char *from = list;
    for (size_t i = 0; count > 0 && i < turn % count; i++) {
        from = strchr(from, ',') + 1;
    }
    buf_push_text(out, from);
    if (from != list) {
        buf_push_char(out, ',');
        buf_push(out, list, (size_t)(from - list) - 1);
    }
}

static bool hosts_is_here(const char *host, size_t len)
{
    return len == 0 || host[0] == '/' || host[0] == '@' ||
           (len == 9 && strncasecmp(host, "localhost", len) == 0) ||
           (len == 3 && memcmp(host, "::1", len) == 0) ||
           (len > 4 && memcmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") >= len);
}

bool hosts_leave(const char *list)
{
    for (size_t len = 0;; list += len + 1) {
        len = strcspn(list, ",");
        if (!hosts_is_here(list, len)) {
            return true;
        }
        if (list[len] == '\0') {
            return false;
        }
    }
}
