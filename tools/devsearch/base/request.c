/* SPDX-License-Identifier: Apache-2.0 */
/* Parses requests. */
#include "base/request.h"
#include "base/limits.h"
#include "base/reader.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "rowferry/base/ascii.h"

/* Percent-decodes; in queries a plus becomes a blank. Returns null if an escape is invalid. */
static char *decode(struct span text, bool query, size_t *len)
{
    char *out = mem_zero(text.len + 1, 1);
    *len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == '%') {
            int byte = ascii_hex_byte(text.data + i + 1, text.len - i - 1);
            if (byte < 0) {
                free(out);
                return NULL;
            }
            c = (char)byte;
            i += 2;
        } else if (c == '+' && query) {
            c = ' ';
        }
        out[(*len)++] = c;
    }
    return out;
}

static bool parse_path(struct request *q, const char *path, size_t n)
{
    const char *end = path + n;
    while (path < end) {
        path++;
        const char *slash = memchr(path, '/', (size_t)(end - path));
        const char *stop = slash != NULL ? slash : end;
        if (stop > path || stop < end) {
            if (q->segment_count == REQUEST_SEGMENTS) {
                return false;
            }
            size_t at = q->segment_count;
            q->segments[at] =
                decode(span_make(path, (size_t)(stop - path)), false, &q->segment_bytes[at]);
            if (q->segments[at] == NULL) {
                return false;
            }
            q->segment_count++;
        }
        path = stop;
    }
    return true;
}

static bool parse_query(struct request *q, const char *query)
{
    while (*query != '\0') {
        size_t n = strcspn(query, "&");
        const char *equals = memchr(query, '=', n);
        size_t name = equals != NULL ? (size_t)(equals - query) : n;
        size_t ignored;
        struct parameter p;
        p.name = decode(span_make(query, name), true, &ignored);
        p.value = decode(span_make(query + name + (equals != NULL), n - name - (equals != NULL)),
                         true, &ignored);
        if (p.name == NULL || p.value == NULL) {
            free(p.name);
            free(p.value);
            return false;
        }
        q->parameters = mem_grow(q->parameters, q->parameter_count + 1, sizeof(p));
        q->parameters[q->parameter_count++] = p;
        query += n + (query[n] == '&');
    }
    return true;
}

static const struct {
    const char *name;
    enum method method;
} methods[] = {{"GET", GET}, {"POST", POST}, {"PUT", PUT}, {"DELETE", DELETE}, {"HEAD", HEAD}};

bool request_parse(struct request *q, const char *method, const char *target)
{
    q->method = 0;
    q->method_name = "";
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(method, methods[i].name) == 0) {
            q->method = methods[i].method;
            q->method_name = methods[i].name;
        }
    }
    size_t n = strcspn(target, "?");
    q->path = text_copy_span(span_make(target, n));
    return parse_path(q, target, n) && (target[n] == '\0' || parse_query(q, target + n + 1));
}

void request_release(struct request *q)
{
    for (size_t i = 0; i < q->segment_count; i++) {
        free(q->segments[i]);
    }
    for (size_t i = 0; i < q->parameter_count; i++) {
        free(q->parameters[i].name);
        free(q->parameters[i].value);
    }
    free(q->parameters);
    free(q->path);
    *q = (struct request){0};
}

const char *request_parameter(const struct request *q, const char *name)
{
    for (size_t i = 0; i < q->parameter_count; i++) {
        if (strcmp(q->parameters[i].name, name) == 0) {
            return q->parameters[i].value;
        }
    }
    return NULL;
}

bool request_flag(const struct request *q, const char *name)
{
    const char *value = request_parameter(q, name);
    return value != NULL && strcmp(value, "false") != 0;
}

struct json_object *request_json(const struct request *q, struct refusal *refusal)
{
    struct reader r;
    if (q->body.len == 0) {
        refuse(refusal, 400, "parse_exception", "request body is required");
        return NULL;
    }
    reader_init(&r, q->body);
    bool good =
        reader_peek(&r) == TOKEN_OBJECT && reader_skip(&r, NULL) == 0 && reader_finish(&r) == 0;
    if (!good && r.problem_type == NULL) {
        reader_scalar(&r, &(struct span){0});
    }
    if (!good) {
        refuse_text(refusal, 400, r.problem_type != NULL ? r.problem_type : "json_parse_exception",
                    span_make(buf_text(&r.problem), r.problem.len));
    }
    bool large = r.values > TREE_MAX_VALUES;
    reader_release(&r);
    if (good && large) {
        refuse(refusal, 429, "circuit_breaking_exception",
               "devsearch does not take bodies of more than %d values", TREE_MAX_VALUES);
    }
    if (!good || large) {
        return NULL;
    }
    struct json_tokener *tokener = json_tokener_new_ex(512);
    struct json_object *json = json_tokener_parse_ex(tokener, q->body.data, (int)q->body.len);
    json_tokener_free(tokener);
    if (json == NULL) {
        refuse(refusal, 400, "json_parse_exception", "the body could not be read");
    }
    return json;
}
