/* SPDX-License-Identifier: Apache-2.0 */
/* One POST with a handle of its own. */
#include "rowferry/service/http/post.h"

#include <curl/curl.h>
#include <string.h>

/* Drops the answer. */
static size_t post_drop(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

static void post_set(CURL *easy, const char *url, struct span body, int64_t timeout_ms,
                     struct curl_slist *headers)
{
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.data);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, post_drop);
}

int post_json(const char *url, struct span body, int64_t timeout_ms, struct err *err)
{
    long status = 0;
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    if (easy == NULL || headers == NULL) {
        curl_slist_free_all(headers);
        curl_easy_cleanup(easy);
        return err_set(err, ERR_TRANSIENT, "no memory for a request");
    }
    post_set(easy, url, body, timeout_ms, headers);
    CURLcode code = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    if (code != CURLE_OK) {
        return err_set(err, ERR_TRANSIENT, "its URL: %s", curl_easy_strerror(code));
    }
    return status / 100 == 2 ? 0 : err_set(err, ERR_TRANSIENT, "its URL answered %ld", status);
}
