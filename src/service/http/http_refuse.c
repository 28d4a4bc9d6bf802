/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an error of an answer that refuses a request: class, message, type, reason and hint. */
#include <stdlib.h>
#include <string.h>

#include "http/body.h"
#include "http/service.h"
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/service/http/index_block.h"

#define EXCERPT_BYTES 200
#define TYPE_CHARACTERS "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

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

/* Writes "type: reason", or the one that is present; otherwise the beginning of the text. */
static void http_refuse_push_words(struct buf *out, const struct body_error *error,
                                   const struct buf *body)
{
    if (error->type[0] == '\0' && error->reason[0] == '\0') {
        text_escape(out, buf_text(body), text_cut(buf_text(body), body->len, EXCERPT_BYTES));
    } else {
        text_escape(out, error->type, strlen(error->type));
        buf_push_text(out, error->type[0] != '\0' && error->reason[0] != '\0' ? ": " : "");
        text_escape(out, error->reason, strlen(error->reason));
    }
}

int http_refuse(const struct http_answer *answer, const char *method, const char *path,
                struct err *err)
{
    const struct buf *body = &answer->body;
    struct json_object *tree = answer->json ? body_parse(body, BODY_ERROR) : NULL;
    struct body_error error = body_error(tree);
    struct buf words;
    buf_init(&words, 5 * HTTP_BODY_MAX_BYTES);
    http_refuse_push_words(&words, &error, body);
    err_set(err, http_refuse_class(answer->status), "%s %.*s: %d%s%s", method,
            (int)strcspn(path, "?"), path, answer->status, words.len > 0 ? " " : "",
            buf_text(&words));
    err->http_status = answer->status;
    size_t len = strlen(error.type);
    if (len < sizeof(err->service_type) && strspn(error.type, TYPE_CHARACTERS) == len) {
        memcpy(err->service_type, error.type, len + 1);
    }
    err->service_reason = http_refuse_reason(buf_text(&words));
    err_detail(err, buf_text(body), body->len);
    http_refuse_hint(answer->status, span_make(buf_text(body), body->len), err);
    http_refuse_hint_type(error.reason, err);
    buf_release(&words);
    json_object_put(tree);
    return err->class;
}
