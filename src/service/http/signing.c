/* SPDX-License-Identifier: Apache-2.0 */
/* Signs the request of a slot and stores its header lines in a separate list. */
#include "http/signing.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "http/secret.h"
#include "http/sigv4.h"
#include "rowferry/base/text.h"

static bool signing_push_line(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);
    *list = longer != NULL ? longer : *list;
    return longer != NULL;
}

bool signing_add(struct slot *slot, const struct curl_slist *headers, const struct span *body)
{
    const struct service_options *o = &slot->service->options;
    const struct base_url *base = &slot->service->bases[slot->base];
    const struct sigv4 key = {o->aws_region, o->aws_service, o->aws_key_id, o->aws_secret_key,
                              o->aws_token};
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
        good = signing_push_line(&slot->signed_headers, headers->data);
    }
    for (size_t i = 0; i < SIGV4_LINES; i++) {
        good = good && (lines[i] == NULL || signing_push_line(&slot->signed_headers, lines[i]));
        text_wipe(lines[i]);
        free(lines[i]);
    }
    return good;
}

void signing_drop(struct slot *slot)
{
    secret_free_headers(slot->signed_headers);
    slot->signed_headers = NULL;
}
