/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP requests made by the tests. */
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

char *reply_basic(const char *user, const char *password)
{
    struct buf plain;
    struct buf line;
    buf_init(&plain, 1024);
    buf_init(&line, 4096);
    buf_printf(&plain, "%s:%s", user, password);
    buf_printf(&line, "Basic ");
    for (size_t i = 0; i < plain.len; i += 3) {
        static const char digits[] =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        unsigned three = 0;
        for (size_t k = i; k < i + 3; k++) {
            three = three << 8 | (k < plain.len ? (unsigned char)plain.data[k] : 0U);
        }
        for (size_t k = 0; k < 4; k++) {
            buf_push_char(&line, i + k > plain.len ? '=' : digits[three >> (18 - 6 * k) & 63]);
        }
    }
    buf_release(&plain);
    return buf_detach(&line);
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
    curl_easy_setopt(curl, CURLOPT_NOBODY, (long)(strcmp(method, "HEAD") == 0));
    if (getenv("ROWFERRY_TEST_CA") != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, getenv("ROWFERRY_TEST_CA"));
    }
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
