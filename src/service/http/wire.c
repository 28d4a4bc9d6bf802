/* SPDX-License-Identifier: Apache-2.0 */
/* All use of libcurl's transfer options and its event loop. */
#include "http/wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/fault.h"
#include "http/secret.h"

#define KEEPALIVE_IDLE_S 30L
#define KEEPALIVE_PAUSE_S 10L
#define WAIT_MAX_MS 60000
#define UPLOAD_BYTES 131072L /* maximum of a bulk request's upload per turn */
#define RESOLVED_S 10L       /* lifetime of cached host names, to notice a changed address */
#define LIFETIME_S 120L      /* of connections, even if the old address still answers */

/* libcurl's global initialisation is per process, so this flag is too. */
static pthread_once_t set_up_once = PTHREAD_ONCE_INIT;
static CURLcode set_up_result;

static void wire_set_up_curl(void)
{
    set_up_result = curl_global_init(CURL_GLOBAL_DEFAULT);
}

bool wire_set_up(void)
{
    return pthread_once(&set_up_once, wire_set_up_curl) == 0 && set_up_result == CURLE_OK;
}

static long wire_status_of(const struct slot *slot)
{
    long status = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* Stores a body. The beginning is enough for a refused bulk request; other bodies must be
 * complete. */
static bool wire_keep_body(struct slot *slot, const char *bytes, size_t len)
{
    struct buf *body = &slot->answer.body;
    size_t room = body->max_bytes - body->len;
    size_t n = len < room ? len : room;
    buf_push(body, bytes, n);
    slot->overflow = slot->overflow || n < len || body->failed;
    return !slot->overflow || slot->batch != NULL;
}

static size_t wire_on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct slot *slot = context;
    size_t len = size * count;
    if (slot->batch != NULL && wire_status_of(slot) == 200) {
        /* after a parse error the rest is read and dropped, so the connection stays usable */
        (void)slot->reader.feed(slot->reader.answer, bytes, len);
        return len;
    }
    return wire_keep_body(slot, bytes, len) ? len : 0;
}

/* Returns the value of a header line with this name (any case), else a null span. */
static struct span wire_header_value(const char *line, size_t len, const char *name)
{
    size_t at = strlen(name);
    if (len <= at || strncasecmp(line, name, at) != 0 || line[at] != ':') {
        return span_make(NULL, 0);
    }
    for (at++; at < len && (line[at] == ' ' || line[at] == '\t'); at++) {
    }
    while (len > at && (unsigned char)line[len - 1] <= ' ') {
        len--;
    }
    return span_make(line + at, len - at);
}

/* Returns seconds since 1970; 0 if text is not a date. */
static int64_t wire_read_date(struct span text)
{
    char date[64];
    size_t n = text.len < sizeof(date) - 1 ? text.len : sizeof(date) - 1;
    memcpy(date, text.data, n);
    date[n] = '\0';
    time_t seconds = curl_getdate(date, NULL);
    return seconds > 0 ? (int64_t)seconds : 0;
}

/* Reads the needed fields from a header line. */
static void wire_read_field(struct http_answer *answer, const char *line, size_t len)
{
    struct span date = wire_header_value(line, len, "Date");
    if (date.data != NULL) {
        answer->date_s = wire_read_date(date);
    }
    answer->dashboards = answer->dashboards ||
                         wire_header_value(line, len, "kbn-name").data != NULL ||
                         wire_header_value(line, len, "osd-name").data != NULL;
    for (const char *const *name = product_headers; *name != NULL; name++) {
        struct span value = wire_header_value(line, len, *name);
        if (value.data != NULL) {
            size_t n = text_cut(value.data, value.len, sizeof(answer->product_header) - 1);
            memcpy(answer->product_header, value.data, n);
            answer->product_header[n] = '\0';
        }
    }
}

static void wire_forget_head(struct slot *slot)
{
    slot->answer.product_header[0] = '\0';
    slot->answer.dashboards = false;
    slot->answer.date_s = 0;
    slot->head_whole = false;
}

/* libcurl passes line by line every interim head (1xx), the final head and any trailers. Each head
 * begins with a status line; trailers neither start nor end a head. */
static size_t wire_on_header(char *line, size_t size, size_t count, void *context)
{
    struct slot *slot = context;
    size_t len = size * count;
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        wire_forget_head(slot);
    } else if (len <= 2) {
        slot->head_whole = wire_status_of(slot) >= 200;
    } else if (!slot->head_whole) {
        wire_read_field(&slot->answer, line, len);
    }
    return len;
}

#define SET(option, value) good = good && curl_easy_setopt(easy, (option), (value)) == CURLE_OK

static bool wire_set_tls(CURL *easy, const struct service_options *o)
{
    bool good = true;
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (o->ca_file != NULL) {
        /* trust only this authority: by default the system's folder would count too */
        SET(CURLOPT_CAINFO, o->ca_file);
        SET(CURLOPT_CAPATH, (char *)NULL);
    }
    if (o->client_cert != NULL) {
        SET(CURLOPT_SSLCERT, o->client_cert);
    }
    if (o->client_key != NULL) {
        SET(CURLOPT_SSLKEY, o->client_key);
    }
    return good;
}

static bool wire_set_connection(CURL *easy, const struct service_options *o)
{
    bool good = true;
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_PROXY, o->proxy != NULL ? o->proxy : "");
    SET(CURLOPT_NOPROXY, "");                  /* and ignore NO_PROXY from the environment */
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* hide the proxy's answer to CONNECT */
    SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE); /* keep credentials from the proxy */
    SET(CURLOPT_TCP_NODELAY, 1L);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    SET(CURLOPT_TCP_KEEPINTVL, KEEPALIVE_PAUSE_S);
    SET(CURLOPT_DNS_CACHE_TIMEOUT, RESOLVED_S);
    SET(CURLOPT_MAXLIFETIME_CONN, LIFETIME_S);
    SET(CURLOPT_TIMEOUT_MS, (long)o->request_timeout_ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_timeout_ms);
    SET(CURLOPT_USERAGENT, "rowferry/" ROWFERRY_VERSION);
    return good;
}

static bool wire_set_callbacks(CURL *easy, struct slot *slot)
{
    bool good = true;
    SET(CURLOPT_PRIVATE, slot);
    SET(CURLOPT_ERRORBUFFER, slot->failure);
    SET(CURLOPT_WRITEFUNCTION, wire_on_body);
    SET(CURLOPT_WRITEDATA, slot);
    SET(CURLOPT_HEADERFUNCTION, wire_on_header);
    SET(CURLOPT_HEADERDATA, slot);
    return good;
}

bool wire_open_slot(struct service *s, struct slot *slot, bool accept_compressed)
{
    slot->service = s;
    slot->easy = curl_easy_init();
    buf_init(&slot->path, HTTP_PATH_MAX_BYTES);
    buf_init(&slot->url, 2 * HTTP_PATH_MAX_BYTES);
    buf_init(&slot->answer.body, HTTP_BODY_MAX_BYTES);
    if (slot->easy == NULL) {
        return false;
    }
    CURL *easy = slot->easy;
    bool good = wire_set_callbacks(easy, slot) && wire_set_connection(easy, &s->options) &&
                wire_set_tls(easy, &s->options);
    if (accept_compressed) {
        SET(CURLOPT_ACCEPT_ENCODING, "");
    } else {
        SET(CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BYTES);
    }
    return good;
}

static void wire_drop_signature(struct slot *slot)
{
    secret_free_headers(slot->signed_headers);
    slot->signed_headers = NULL;
}

void wire_close_slot(struct service *s, struct slot *slot)
{
    if (slot->easy != NULL) {
        curl_multi_remove_handle(s->multi, slot->easy);
        curl_easy_cleanup(slot->easy);
    }
    wire_drop_signature(slot);
    if (slot->reader.answer != NULL) {
        slot->reader.free(slot->reader.answer);
    }
    buf_release(&slot->path);
    buf_release(&slot->url);
    buf_release(&slot->answer.body);
}

/* Sets the user for each request, because the password may have changed. */
static bool wire_set_user(CURL *easy, const struct service *s)
{
    bool good = true;
    const char *password = s->secrets[SERVICE_PASSWORD];
    if (s->options.user != NULL) {
        SET(CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        SET(CURLOPT_USERNAME, s->options.user);
        SET(CURLOPT_PASSWORD, password != NULL ? password : "");
    }
    return good;
}

static bool wire_set_request(struct slot *slot, const struct curl_slist *headers,
                             const struct span *body)
{
    static const struct span empty = {"", 0};
    CURL *easy = slot->easy;
    bool good = true;
    if (slot->service->options.aws_region != NULL) {
        good = secret_sign(slot, headers, body);
        headers = slot->signed_headers;
    }
    good = good && wire_set_user(easy, slot->service);
    SET(CURLOPT_URL, buf_text(&slot->url));
    SET(CURLOPT_HTTPHEADER, headers);
    SET(CURLOPT_HTTPGET, 1L);
    SET(CURLOPT_NOBODY, (long)(strcmp(slot->method, "HEAD") == 0));
    if (body == NULL && (strcmp(slot->method, "POST") == 0 || strcmp(slot->method, "PUT") == 0)) {
        body = &empty; /* sends "Content-Length: 0": some proxies require a length */
    }
    if (body != NULL) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDS, body->data);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
    }
    SET(CURLOPT_CUSTOMREQUEST, slot->method);
    return good;
}

static void wire_forget_answer(struct slot *slot)
{
    slot->answer.status = 0;
    slot->answer.json = false;
    wire_forget_head(slot);
    slot->answer.origin = NULL;
    buf_reset(&slot->answer.body);
    slot->failure[0] = '\0';
    slot->overflow = false;
    slot->finished = false;
    slot->result = CURLE_OK;
}

int wire_start(struct slot *slot, const struct curl_slist *headers, const struct span *body,
               struct err *err)
{
    struct service *s = slot->service;
    wire_forget_answer(slot);
    wire_drop_signature(slot);
    slot->base = s->base;
    slot->answer.origin = s->bases[s->base].origin;
    slot->credential = s->credential;
    buf_reset(&slot->url);
    buf_push_text(&slot->url, s->bases[s->base].url);
    buf_push(&slot->url, buf_text(&slot->path), slot->path.len);
    if (slot->url.failed || slot->path.failed) {
        return err_set(err, ERR_REJECTED, "cannot send %s to a path of over %zu bytes",
                       slot->method, HTTP_PATH_MAX_BYTES);
    }
    if (!wire_set_request(slot, headers, body) ||
        curl_multi_add_handle(s->multi, slot->easy) != CURLM_OK) {
        return err_set(err, ERR_TRANSIENT, "could not start %s %s: out of memory", slot->method,
                       buf_text(&slot->path));
    }
    return 0;
}

static bool wire_content_is_json(CURL *easy)
{
    char *type = NULL;
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    return type != NULL && (strncasecmp(type, "application/json", 16) == 0 ||
                            strncasecmp(type, "application/vnd.elasticsearch+json", 34) == 0);
}

static void wire_queue(struct service *s, struct slot *slot)
{
    slot->next = NULL;
    if (s->last_ended != NULL) {
        s->last_ended->next = slot;
    } else {
        s->first_ended = slot;
    }
    s->last_ended = slot;
}

static void wire_finish(struct slot *slot, CURLcode result)
{
    struct service *s = slot->service;
    long status = wire_status_of(slot);
    slot->answer.status = (int)status;
    slot->answer.json = wire_content_is_json(slot->easy);
    /* libcurl accepts a head that is cut off by the end of the connection */
    slot->result = result == CURLE_OK && !slot->head_whole ? CURLE_PARTIAL_FILE : result;
    slot->finished = true;
    s->reached = s->reached || slot->result == CURLE_OK;
    if (status >= 300) {
        secret_mask(s, slot->answer.body.data, slot->answer.body.len);
    }
    if (fault_turns_away(slot) && s->base == slot->base) { /* else another request has moved on */
        s->base = (s->base + 1) % s->base_count;
    }
    if (slot->batch != NULL) {
        wire_queue(s, slot);
    }
}

int wire_move(struct service *s, struct err *err)
{
    int running = 0;
    CURLMcode code = curl_multi_perform(s->multi, &running);
    if (code != CURLM_OK) {
        return err_set(err, ERR_INTERNAL, "could not process the requests: %s",
                       curl_multi_strerror(code));
    }
    int left = 0;
    const CURLMsg *message;
    while ((message = curl_multi_info_read(s->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) {
            continue;
        }
        CURL *easy = message->easy_handle;
        CURLcode result = message->data.result;
        char *slot = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &slot);
        wire_finish((struct slot *)(void *)slot, result);
        curl_multi_remove_handle(s->multi, easy);
    }
    return 0;
}

int wire_wait(struct service *s, int fd, int64_t timeout_ms, bool *readable, struct err *err)
{
    struct curl_waitfd extra = {.fd = fd, .events = CURL_WAIT_POLLIN};
    int64_t wait_ms = timeout_ms < 0 ? 0 : timeout_ms > WAIT_MAX_MS ? WAIT_MAX_MS : timeout_ms;
    CURLMcode code =
        curl_multi_poll(s->multi, fd >= 0 ? &extra : NULL, fd >= 0 ? 1 : 0, (int)wait_ms, NULL);
    *readable = extra.revents != 0;
    if (code != CURLM_OK) {
        return err_set(err, ERR_INTERNAL, "could not wait for the requests: %s",
                       curl_multi_strerror(code));
    }
    return 0;
}
