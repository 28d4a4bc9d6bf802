/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an error of an answer that refuses a request: class, message, type, reason and hint. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/body.h"
#include "http/service.h"
#include "rowferry/document/json/json_compare.h"
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/service/http/index_block.h"

#define EXCERPT_BYTES 200
#define TITLE_BYTES 80
#define TYPE_CHARACTERS "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

void http_hide_alias(char *text)
{
    static const char mark[] = "-WRITE"; /* the name of an index has no upper case letters */
    for (char *at = text; (at = strstr(at, mark)) != NULL;) {
        const char *rest = at + strlen(mark);
        rest += strspn(rest, "-0123456789abcdef*");
        memmove(at, rest, strlen(rest) + 1);
    }
}

const char *http_place(char out[HTTP_PLACE_BYTES], const char *method, const char *path,
                       const char *origin)
{
    snprintf(out, HTTP_PLACE_BYTES, "%s %.*s%s%s", method, (int)strcspn(path, "?,"), path,
             origin != NULL ? " of " : "", origin != NULL ? origin : "");
    http_hide_alias(out);
    return out;
}

static enum err_class http_refuse_class(int status)
{
    static const int passing[] = {408, 425, 429, 502, 503, 504};
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
        if (passing[i] == status) {
            return ERR_TRANSIENT;
        }
    }
    return ERR_REJECTED;
}

/* The texts are those of both products. The first one that the reason contains decides. */
static enum service_reason http_refuse_reason(const char *text)
{
    static const struct {
        const char *words;
        enum service_reason reason;
    } rows[] = {
        {"no handler found", SERVICE_REASON_NO_SECURITY},
        {"Incorrect HTTP method", SERVICE_REASON_NO_SECURITY},
        {"Security must be explicitly enabled", SERVICE_REASON_NO_SECURITY},
        {"Security is not enabled", SERVICE_REASON_NO_SECURITY},
        {"exists as alias", SERVICE_REASON_NAME_TAKEN},
        {"no matching index template", SERVICE_REASON_NO_TEMPLATE},
        {"imension", SERVICE_REASON_VECTOR},
        {"dims", SERVICE_REASON_VECTOR},
        {"knn", SERVICE_REASON_VECTOR},
        {"_vector", SERVICE_REASON_VECTOR},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strstr(text, rows[i].words) != NULL) {
            return rows[i].reason;
        }
    }
    return SERVICE_REASON_OTHER;
}

/* A mapping may be written for the other product. The texts are those of both products. */
static void http_refuse_hint_type(const char *reason, struct err *err)
{
    static const char *const words[] = {"No handler for type [", "The mapper type ["};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *at = strstr(reason, words[i]);
        if (at == NULL) {
            continue;
        }
        at += strlen(words[i]);
        char *type = text_copy_span(span_make(at, strcspn(at, "]")));
        const char *meant = mapping_meant_type(type);
        if (meant != NULL && strcmp(meant, type) != 0) {
            err_hint(err, "in to.mappings: did you mean \"%s\"?", meant);
        } else if (meant != NULL) {
            err_hint(err,
                     "this service lacks the type \"%s\": add the module or plugin that has it, "
                     "or choose another type in to.mappings",
                     type);
        }
        free(type);
    }
}

/* The body names the cause: another credential does not lift a block. */
static void http_refuse_hint(int status, struct span body, struct err *err)
{
    if (index_block_hint(body, "INDEX", err)) {
        return;
    }
    if (status == 401) {
        err_hint(err, "the service does not know this credential: see service.auth");
    } else if (status == 403) {
        err_hint(err, "the credential of service.auth lacks this privilege");
    } else if (status >= 300 && status < 400) {
        err_hint(err, "redirects are not followed: service.url must name the service itself");
    }
}

bool http_is_page(const struct buf *body)
{
    const char *text = buf_text(body);
    return text[strspn(text, " \t\r\n")] == '<';
}

/* Appends the title of a page or, without one, its first words. */
static void http_refuse_push_title(struct buf *out, const char *text)
{
    struct buf line;
    const char *title = strcasestr(text, "<title");
    const char *begin = title != NULL ? title : strcasestr(text, "<body");
    bool tag = false;
    buf_init(&line, TITLE_BYTES);
    for (const char *at = begin != NULL ? begin : text; *at != '\0' && line.len < TITLE_BYTES;
         at++) {
        if (title != NULL && at > title && *at == '<') {
            break;
        }
        bool blank = *at == '<' || (unsigned char)*at <= ' ';
        tag = *at == '<' || (tag && *at != '>');
        if (blank && line.len > 0 && line.data[line.len - 1] != ' ') {
            buf_push_char(&line, ' ');
        } else if (!blank && !tag && *at != '>') {
            buf_push_char(&line, *at);
        }
    }
    size_t len = text_cut(buf_text(&line), line.len, TITLE_BYTES - 1);
    text_escape(out, buf_text(&line), len - (len > 0 && line.data[len - 1] == ' '));
    buf_push_text(out, line.len == TITLE_BYTES ? "..." : "");
    buf_release(&line);
}

void http_push_excerpt(struct buf *out, const struct buf *body)
{
    struct span text = json_trim(span_make(buf_text(body), body->len));
    if (http_is_page(body)) {
        http_refuse_push_title(out, buf_text(body));
    } else {
        text_escape(out, text.data, text_cut(text.data, text.len, EXCERPT_BYTES));
    }
}

/* Returns the words of RFC 9110, because a proxy may not give any. */
static const char *http_refuse_phrase(int status)
{
    static const struct {
        int status;
        const char *words;
    } rows[] = {
        {400, "Bad Request"},         {401, "Unauthorized"},
        {403, "Forbidden"},           {404, "Not Found"},
        {405, "Method Not Allowed"},  {408, "Request Timeout"},
        {413, "Content Too Large"},   {429, "Too Many Requests"},
        {502, "Bad Gateway"},         {500, "Internal Server Error"},
        {503, "Service Unavailable"}, {504, "Gateway Timeout"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].status == status) {
            return rows[i].words;
        }
    }
    return "";
}

/* Appends the phrase of the status and what the body adds to it. A body of a proxy often repeats
 * both: "502 Bad Gateway". */
static void http_refuse_push_foreign(struct buf *out, int status, const struct buf *body)
{
    struct buf excerpt;
    const char *phrase = http_refuse_phrase(status);
    buf_init(&excerpt, HTTP_BODY_MAX_BYTES);
    http_push_excerpt(&excerpt, body);
    const char *text = buf_text(&excerpt);
    const char *words = text + strspn(text, "0123456789 ");
    bool more = text[0] != '\0' && (phrase[0] == '\0' || strcasecmp(words, phrase) != 0);
    buf_printf(out, "%s%s%s", phrase, phrase[0] != '\0' && more ? ": " : "", more ? text : "");
    buf_release(&excerpt);
}

/* Writes "type: reason", or the one that is present; otherwise what the status means. */
static void http_refuse_push_words(struct buf *out, const struct body_error *error,
                                   const struct http_answer *answer)
{
    if (error->type[0] == '\0' && error->reason[0] == '\0') {
        http_refuse_push_foreign(out, answer->status, &answer->body);
    } else {
        text_escape(out, error->type, strlen(error->type));
        buf_push_text(out, error->type[0] != '\0' && error->reason[0] != '\0' ? ": " : "");
        text_escape(out, error->reason, strlen(error->reason));
    }
}

int http_refuse(const struct http_answer *answer, const char *method, const char *path,
                struct err *err)
{
    char place[HTTP_PLACE_BYTES];
    const struct buf *body = &answer->body;
    struct json_object *tree = answer->json ? body_parse(body, BODY_ERROR) : NULL;
    struct body_error error = body_error(tree);
    struct buf words;
    buf_init(&words, 5 * HTTP_BODY_MAX_BYTES);
    http_refuse_push_words(&words, &error, answer);
    err_set(err, http_refuse_class(answer->status), "%s: %d%s%s",
            http_place(place, method, path, answer->origin), answer->status,
            words.len > 0 ? " " : "", buf_text(&words));
    http_hide_alias(err->message);
    err->place = strlen(place);
    err->http_status = answer->status;
    size_t len = strlen(error.type);
    if (len < sizeof(err->service_type) && strspn(error.type, TYPE_CHARACTERS) == len) {
        memcpy(err->service_type, error.type, len + 1);
    }
    err->service_reason = http_refuse_reason(buf_text(&words));
    if (!http_is_page(body)) {
        err_detail(err, buf_text(body), body->len);
        http_hide_alias(err->detail);
    }
    http_refuse_hint(answer->status, span_make(buf_text(body), body->len), err);
    http_refuse_hint_type(error.reason, err);
    buf_release(&words);
    json_object_put(tree);
    return err->class;
}
