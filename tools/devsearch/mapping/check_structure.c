/* SPDX-License-Identifier: Apache-2.0 */
/* Checks structured values: ranges, vectors, flat objects, points. */
#include "mapping/checker.h"

#include <stdlib.h>

static const char *token_word(enum token token)
{
    return token == TOKEN_STRING   ? "VALUE_STRING"
           : token == TOKEN_NUMBER ? "VALUE_NUMBER"
           : token == TOKEN_ARRAY  ? "START_ARRAY"
                                   : "VALUE_BOOLEAN";
}

static int scalar_for_structure(struct checker *c, const struct field *f, struct span *text)
{
    const char *at = c->reader.at;
    if (reader_text(&c->reader, &c->text, text) != 0) {
        return check_broken(c);
    }
    return check_bad(c, f, at, *text);
}

int check_flat(struct checker *c, const struct field *f)
{
    enum token token = reader_peek(&c->reader);
    struct span text;
    if (token == TOKEN_OBJECT) {
        return reader_skip(&c->reader, NULL) == 0 ? 0 : check_broken(c);
    }
    if (token == TOKEN_ARRAY) {
        const char *at = c->reader.at;
        if (reader_skip(&c->reader, NULL) != 0) {
            return check_broken(c);
        }
        check_bad(c, f, at, span_make("null", 4));
    } else {
        scalar_for_structure(c, f, &text);
    }
    if (c->reader.problem_type == NULL) {
        refusal_cause(c->refusal, "parsing_exception",
                      "[%s] unexpected token [%s] in flat_object field value", f->path,
                      token_word(token));
        refusal_root_is_cause(c->refusal);
    }
    return -1;
}

/* Accepts points and shapes in any notation; checks only the JSON type. */
int check_geo(struct checker *c, const struct field *f)
{
    enum token token = reader_peek(&c->reader);
    const char *at = c->reader.at;
    struct span raw;
    if (reader_skip(&c->reader, &raw) != 0) {
        return check_broken(c);
    }
    if (token == TOKEN_OBJECT || token == TOKEN_ARRAY || token == TOKEN_STRING) {
        return 0;
    }
    refuse(c->refusal, 400, check_type(c), "%s", "");
    check_push_place(c, at, &c->refusal->reason);
    buf_printf(&c->refusal->reason, "failed to parse field [%s] of type [%s]", f->path,
               f->type->name);
    refusal_cause(c->refusal, "parse_exception", "%s expected", f->type->name);
    return -1;
}

static int wrong_dimension(struct checker *c, const struct field *f, const char *at, size_t given)
{
    check_bad(c, f, at, span_make("null", 4));
    if (c->product == OPENSEARCH) {
        refusal_cause(c->refusal, "illegal_argument_exception",
                      "Vector dimension mismatch. Expected: %zu, Given: %zu", f->dimension, given);
    } else {
        refusal_cause(c->refusal, "illegal_argument_exception",
                      "The [dense_vector] field [%s] in doc [document with id '%.*s'] has a "
                      "different number of dimensions [%zu] than defined in the mapping [%zu]",
                      f->path, (int)c->id.len, c->id.data, given, f->dimension);
    }
    return -1;
}

int check_vector(struct checker *c, const struct field *f)
{
    const char *at = c->reader.at;
    bool begun = false;
    size_t given = 0;
    int more;
    struct span text;
    if (reader_peek(&c->reader) != TOKEN_ARRAY) {
        if (reader_skip(&c->reader, NULL) != 0) {
            return check_broken(c);
        }
        return wrong_dimension(c, f, at, 1);
    }
    if (reader_enter(&c->reader) != 0) {
        return check_broken(c);
    }
    while ((more = reader_element(&c->reader, &begun)) > 0) {
        long double number;
        if (reader_text(&c->reader, &c->text, &text) != 0) {
            return check_broken(c);
        }
        if (!value_number(text, &number)) {
            check_bad(c, f, at, text);
            refusal_cause(c->refusal, "number_format_exception", "For input string: \"%.*s\"",
                          (int)text.len, text.data);
            return -1;
        }
        given++;
    }
    if (more < 0) {
        return check_broken(c);
    }
    return f->dimension != 0 && given != f->dimension ? wrong_dimension(c, f, at, given) : 0;
}

static bool bound_good(const struct field *f, struct span text)
{
    long double number;
    if (strcmp(f->type->range_of, "date") == 0) {
        return value_date(text, f->format, &number);
    }
    if (strcmp(f->type->range_of, "ip") == 0) {
        return value_ip(text);
    }
    return value_number(text, &number);
}

static int check_bound(struct checker *c, const struct field *f, struct span key)
{
    bool known =
        span_is(key, "gte") || span_is(key, "gt") || span_is(key, "lte") || span_is(key, "lt");
    struct span text;
    const char *at = c->reader.at;
    bool null = reader_peek(&c->reader) == TOKEN_NULL;
    struct span name = span_make(buf_text(&c->preview), c->preview.len);
    if (reader_text(&c->reader, &c->text, &text) != 0) {
        return check_broken(c);
    }
    if (!known) {
        check_bad(c, f, at, text);
        refusal_cause(c->refusal, check_type(c),
                      "error parsing field [%s], with unknown parameter [%.*s]", f->path,
                      (int)name.len, name.data);
        refusal_root_is_cause(c->refusal);
        return -1;
    }
    if (null || bound_good(f, text)) {
        return 0;
    }
    check_bad(c, f, at, text);
    if (strcmp(f->type->range_of, "date") == 0) {
        refusal_cause(c->refusal, "parse_exception",
                      "failed to parse date field [%.*s] with format [%s]", (int)text.len,
                      text.data, f->format);
    } else {
        refusal_cause(c->refusal, "number_format_exception", "For input string: \"%.*s\"",
                      (int)text.len, text.data);
    }
    return -1;
}

/* Returns true for "10.0.0.0/8". */
static bool is_network(struct span text)
{
    const char *slash = memrchr(text.data, '/', text.len);
    size_t len = slash != NULL ? (size_t)(slash - text.data) : 0;
    size_t digits = slash != NULL ? text.len - len - 1 : 0;
    bool six = memchr(text.data, ':', len) != NULL;
    long bits = digits > 0 && digits < 4 ? strtol(slash + 1, NULL, 10) : -1;
    return bits >= 0 && bits <= (six ? 128 : 32) && strspn(slash + 1, "0123456789") >= digits &&
           value_ip(span_make(text.data, len));
}

/* In a range of addresses, a string is a network, which determines both bounds. */
static int check_network(struct checker *c, const struct field *f)
{
    struct span text;
    const char *at = c->reader.at;
    if (reader_string(&c->reader, &c->text, &text) != 0) {
        return check_broken(c);
    }
    if (is_network(text)) {
        return 0;
    }
    check_bad(c, f, at, text);
    refusal_cause(c->refusal, "illegal_argument_exception", "Expected [ip/prefix] but was [%.*s]",
                  (int)text.len, text.data);
    return -1;
}

int check_range(struct checker *c, const struct field *f)
{
    if (reader_peek(&c->reader) == TOKEN_STRING && strcmp(f->type->range_of, "ip") == 0) {
        return check_network(c, f);
    }
    struct members mark = {0};
    struct span key;
    int more;
    if (reader_peek(&c->reader) != TOKEN_OBJECT) {
        scalar_for_structure(c, f, &key);
        refusal_cause(c->refusal, check_type(c),
                      "error parsing field [%s], expected an object but got %s", f->path, f->name);
        refusal_root_is_cause(c->refusal);
        return -1;
    }
    if (reader_enter(&c->reader) != 0) {
        return check_broken(c);
    }
    while ((more = reader_member(&c->reader, &mark, &key)) > 0) {
        buf_reset(&c->preview);
        buf_push(&c->preview, key.data, key.len);
        if (check_bound(c, f, span_make(buf_text(&c->preview), c->preview.len)) != 0) {
            return -1;
        }
    }
    return more == 0 ? 0 : check_broken(c);
}
