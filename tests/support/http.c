/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP requests of the tests themselves. */
#include "http.h"

#include <check.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"

#define BODY_MAX_BYTES ((size_t)256 << 20)

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    buf_push(context, bytes, size * count);
    return size * count;
}

static struct curl_slist *headers(const char *authorization)
{
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    list = curl_slist_append(list, "Expect:");
    if (authorization != NULL) {
        struct buf line;
        buf_init(&line, 4096);
        buf_printf(&line, "Authorization: %s", authorization);
        list = curl_slist_append(list, buf_text(&line));
        buf_release(&line);
    }
    return list;
}

void reply_get(struct reply *reply, const char *method, const char *url, const char *path,
               const char *body, const char *authorization)
{
    struct buf target;
    struct buf received;
    buf_init(&target, 65536);
    buf_init(&received, BODY_MAX_BYTES);
    buf_printf(&target, "%s%s", url, path);
    struct curl_slist *list = headers(authorization);
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, buf_text(&target));
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &received);
    if (body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    }
    long status = 0;
    if (curl_easy_perform(curl) == CURLE_OK) {
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    }
    *reply = (struct reply){(int)status, buf_detach(&received)};
    curl_easy_cleanup(curl);
    curl_slist_free_all(list);
    buf_release(&target);
}

void reply_release(struct reply *reply)
{
    free(reply->body);
    *reply = (struct reply){0};
}

struct json_object *reply_json(int status, const char *method, const char *url, const char *path,
                               const char *body, const char *authorization)
{
    struct reply reply;
    reply_get(&reply, method, url, path, body, authorization);
    ck_assert_msg(reply.status == status, "%s %s%s: %d %s", method, url, path, reply.status,
                  reply.body);
    struct json_object *json = json_tokener_parse(reply.body);
    ck_assert_msg(json != NULL, "%s %s%s: not JSON: %s", method, url, path, reply.body);
    reply_release(&reply);
    return json;
}
