/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the value of a leaf field, with the error texts of the service. */
#include "mapping/checker.h"

#include <stdio.h>

#define KEYWORD_MAX_BYTES 32766

/* Formats a value like Java: {a=1, b=[..]}. */
static int push_preview(struct reader *r, struct buf *scratch, struct buf *out)
{
    enum token token = reader_peek(r);
    struct members mark = {0};
    bool begun = false;
    struct span text;
    int more;
    if (token != TOKEN_OBJECT && token != TOKEN_ARRAY) {
        int rc = reader_text(r, scratch, &text);
        buf_push(out, text.data, rc == 0 ? text.len : 0);
        return rc;
    }
    bool object = token == TOKEN_OBJECT;
    buf_push_char(out, object ? '{' : '[');
    size_t from = out->len;
    if (reader_enter(r) != 0) {
        return -1;
    }
    while ((more = object ? reader_member(r, &mark, &text) : reader_element(r, &begun)) > 0) {
        buf_push_text(out, out->len > from ? ", " : "");
        if (object) {
            buf_push(out, text.data, text.len);
            buf_push_char(out, '=');
        }
        if (push_preview(r, scratch, out) != 0) {
            return -1;
        }
    }
    buf_push_char(out, object ? '}' : ']');
    return more;
}

int check_bad(struct checker *c, const struct field *f, const char *at, struct span preview)
{
    refuse(c->refusal, 400, check_type(c), "%s", "");
    struct buf *reason = &c->refusal->reason;
    check_push_place(c, at, reason);
    buf_printf(reason, "failed to parse field [%s] of type [%s] in document with id '", f->path,
               f->type->name);
    buf_push(reason, c->id.data, c->id.len);
    buf_push_literal(reason, "'. Preview of field's value: '");
    buf_push(reason, preview.data, preview.len);
    buf_push_literal(reason, "'");
    return -1;
}

/* Refuses with the parser's own exception, which ends with the position in the source. */
static int bad_token(struct checker *c, const struct field *f, const char *at, struct span preview,
                     const char *type, const char *text)
{
    struct buf cause;
    check_bad(c, f, at, preview);
    buf_init(&cause, 8192);
    buf_push_text(&cause, text);
    reader_push_source(&c->reader, c->reader.at, &cause);
    refusal_cause(c->refusal, c->product == OPENSEARCH ? type : "x_content_parse_exception", "%s",
                  buf_text(&cause));
    buf_release(&cause);
    return -1;
}

static const char *token_name(enum token token)
{
    static const char *const names[] = {
        [TOKEN_OBJECT] = "START_OBJECT", [TOKEN_ARRAY] = "START_ARRAY",
        [TOKEN_STRING] = "VALUE_STRING", [TOKEN_NUMBER] = "VALUE_NUMBER_INT",
        [TOKEN_TRUE] = "VALUE_TRUE",     [TOKEN_FALSE] = "VALUE_FALSE",
        [TOKEN_NULL] = "VALUE_NULL",     [TOKEN_END] = "END",
        [TOKEN_BAD] = "NOT_AVAILABLE",
    };
    return names[token];
}

/* Refuses an object in place of a scalar. */
static int object_in_scalar(struct checker *c, const struct field *f)
{
    const char *at = c->reader.at;
    size_t line;
    size_t column;
    buf_reset(&c->preview);
    if (push_preview(&c->reader, &c->text, &c->preview) != 0) {
        return check_broken(c);
    }
    struct span preview = span_make(buf_text(&c->preview), c->preview.len);
    reader_place(&c->reader, at, &line, &column);
    bool number = f->type->family == FAMILY_INTEGER || f->type->family == FAMILY_REAL ||
                  f->type->family == FAMILY_UNSIGNED;
    if (number) {
        return bad_token(c, f, at, preview, "json_parse_exception",
                         "Current token (START_OBJECT) not numeric, can not use numeric value "
                         "accessors");
    }
    check_bad(c, f, at, preview);
    refusal_cause(c->refusal, "illegal_state_exception",
                  "Can't get text on a START_OBJECT at %zu:%zu", line, column);
    return -1;
}

struct scalar {
    enum token token;
    const char *at;
    struct span text;
};

static const char *range_name(const struct field *f)
{
    return strcmp(f->type->name, "long") == 0      ? "a long"
           : strcmp(f->type->name, "integer") == 0 ? "an integer"
           : strcmp(f->type->name, "short") == 0   ? "a short"
                                                   : "a byte";
}

static int out_of_range(struct checker *c, const struct field *f, const struct scalar *s,
                        bool infinite)
{
    struct buf text;
    struct span preview = infinite ? span_make("Infinity", 8) : s->text;
    bool token = s->token == TOKEN_NUMBER && strcmp(f->type->name, "byte") != 0;
    if (!token) {
        check_bad(c, f, s->at, preview);
        refusal_cause(c->refusal, "illegal_argument_exception",
                      "Value [%.*s] is out of range for %s", (int)s->text.len, s->text.data,
                      range_name(f));
        return -1;
    }
    buf_init(&text, 8192);
    int width = (int)(s->text.len < 4096 ? s->text.len : 4096);
    if (strcmp(f->type->name, "short") == 0) {
        buf_printf(&text, "Numeric value (%.*s) out of range of Java short", width, s->text.data);
    } else {
        bool wide = strcmp(f->type->name, "long") == 0;
        buf_printf(&text, "Numeric value (%.*s) out of range of %s (%s)", width, s->text.data,
                   wide ? "long" : "int",
                   wide ? "-9223372036854775808 - 9223372036854775807"
                        : "-2147483648 - 2147483647");
    }
    bad_token(c, f, s->at, preview, "input_coercion_exception", buf_text(&text));
    buf_release(&text);
    return -1;
}

static int not_a_number(struct checker *c, const struct field *f, const struct scalar *s)
{
    bool wide = strcmp(f->type->name, "long") == 0 || f->type->family == FAMILY_UNSIGNED;
    check_bad(c, f, s->at, s->text);
    refusal_cause(c->refusal, wide ? "illegal_argument_exception" : "number_format_exception",
                  "For input string: \"%.*s\"", (int)s->text.len, s->text.data);
    return -1;
}

static int not_numeric_token(struct checker *c, const struct field *f, const struct scalar *s)
{
    char text[96];
    snprintf(text, sizeof(text),
             "Current token (%s) not numeric, can not use numeric value accessors",
             token_name(s->token));
    return bad_token(c, f, s->at, s->text, "json_parse_exception", text);
}

static int check_integer(struct checker *c, const struct field *f, const struct scalar *s)
{
    long double value;
    if (s->token == TOKEN_STRING && s->text.len == 0) {
        return 0;
    }
    if (!value_number(s->text, &value)) {
        return not_a_number(c, f, s);
    }
    bool infinite = value > 1.7976931348623157e308L || value < -1.7976931348623157e308L;
    if (f->type->family == FAMILY_UNSIGNED && (value < 0 || value >= f->type->max + 1)) {
        check_bad(c, f, s->at, infinite ? span_make("Infinity", 8) : s->text);
        refusal_cause(c->refusal, "illegal_argument_exception",
                      "Value [%.*s] is out of range for an unsigned long", (int)s->text.len,
                      s->text.data);
        return -1;
    }
    if (f->type->family == FAMILY_INTEGER &&
        (value >= f->type->max + 1 || value <= -f->type->max - 2)) {
        return out_of_range(c, f, s, infinite);
    }
    bool fraction = value != value_whole(value);
    if (!f->coerce && (fraction || s->token == TOKEN_STRING)) {
        check_bad(c, f, s->at, s->text);
        refusal_cause(c->refusal, "illegal_argument_exception",
                      fraction ? "%s value passed as %s with a decimal part"
                               : "%s value passed as %s",
                      f->type->name, fraction ? "number" : "String");
        return -1;
    }
    return 0;
}

static int check_real(struct checker *c, const struct field *f, const struct scalar *s)
{
    long double value = 0;
    const char *named = NULL;
    if (s->token == TOKEN_STRING && s->text.len == 0) {
        return 0;
    }
    if (span_is(s->text, "NaN") || span_is(s->text, "Infinity") || span_is(s->text, "-Infinity")) {
        named = span_is(s->text, "NaN")        ? "NaN"
                : span_is(s->text, "Infinity") ? "Infinity"
                                               : "-Infinity";
    } else if (!value_number(s->text, &value)) {
        return not_a_number(c, f, s);
    } else if (value > f->type->max || value < -f->type->max) {
        named = value > 0 ? "Infinity" : "-Infinity";
    } else {
        return 0;
    }
    bool half = strcmp(f->type->name, "half_float") == 0 && value < 3.4e38L && value > -3.4e38L;
    check_bad(c, f, s->at,
              half || s->token == TOKEN_STRING ? s->text : span_make(named, strlen(named)));
    const char *words =
        strcmp(f->type->name, "scaled_float") == 0 ? "only supports" : "supports only";
    if (half && value != 0) {
        refusal_cause(c->refusal, "illegal_argument_exception",
                      "[half_float] supports only finite values, but got [%.1Lf]", value);
    } else {
        refusal_cause(c->refusal, "illegal_argument_exception",
                      "[%s] %s finite values, but got [%s]", f->type->name, words, named);
    }
    return -1;
}

static int check_numeric(struct checker *c, const struct field *f, const struct scalar *s)
{
    if (s->token != TOKEN_NUMBER && s->token != TOKEN_STRING) {
        return not_numeric_token(c, f, s);
    }
    return f->type->family == FAMILY_REAL ? check_real(c, f, s) : check_integer(c, f, s);
}

static int check_boolean(struct checker *c, const struct field *f, const struct scalar *s)
{
    bool ignored;
    if (s->token == TOKEN_NUMBER) {
        return bad_token(c, f, s->at, s->text, "json_parse_exception",
                         "Current token (VALUE_NUMBER_INT) not of boolean type");
    }
    if (value_boolean(s->text, &ignored)) {
        return 0;
    }
    check_bad(c, f, s->at, s->text);
    refusal_cause(c->refusal, "illegal_argument_exception",
                  "Failed to parse value [%.*s] as only [true] or [false] are allowed.",
                  (int)s->text.len, s->text.data);
    return -1;
}

static void date_cause(struct checker *c, const struct field *f, struct span text)
{
    struct buf *cause = &c->refusal->cause;
    struct buf reason;
    buf_init(&reason, (size_t)1 << 20);
    buf_printf(&reason, "failed to parse date field [%.*s] with format [%s]", (int)text.len,
               text.data, f->format);
    buf_reset(cause);
    buf_push_literal(cause, "{\"type\":\"illegal_argument_exception\",\"reason\":");
    push_json(cause, span_make(buf_text(&reason), reason.len));
    buf_push_literal(cause, ",\"caused_by\":{\"type\":\"date_time_parse_exception\",\"reason\":"
                            "\"Failed to parse with all enclosed parsers\"}}");
    buf_release(&reason);
}

static int check_date(struct checker *c, const struct field *f, const struct scalar *s)
{
    long double ms;
    if (s->text.len == 0) {
        check_bad(c, f, s->at, s->text);
        refusal_cause(c->refusal, "illegal_argument_exception",
                      c->product == OPENSEARCH ? "cannot parse empty date"
                                               : "cannot parse empty datetime");
        return -1;
    }
    bool plus = s->text.data[0] == '+' && c->product == OPENSEARCH; /* years above 9999 */
    if (!value_date(s->text, f->format, &ms) && !plus) {
        check_bad(c, f, s->at, s->text);
        date_cause(c, f, s->text);
        return -1;
    }
    bool nanos = strcmp(f->type->name, "date_nanos") == 0 && !plus;
    if (nanos && (ms < 0 || ms > 9223372036854.775807L)) {
        check_bad(c, f, s->at, s->text);
        refusal_cause(c->refusal, "illegal_argument_exception",
                      "date[%.*s] is %s and cannot be stored in nanosecond resolution",
                      (int)s->text.len, s->text.data,
                      ms < 0 ? "before the epoch in 1970" : "after 2262-04-11T23:47:16.854775807");
        return -1;
    }
    return 0;
}

static int check_ip(struct checker *c, const struct field *f, const struct scalar *s)
{
    if (value_ip(s->text)) {
        return 0;
    }
    check_bad(c, f, s->at, s->text);
    refusal_cause(c->refusal, "illegal_argument_exception", "'%.*s' is not an IP string literal.",
                  (int)s->text.len, s->text.data);
    return -1;
}

/* Counts characters, for ignore_above. */
static size_t characters(struct span text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        n += ((unsigned char)text.data[i] & 0xc0) != 0x80 ? 1 : 0;
    }
    return n;
}

static int check_keyword(struct checker *c, const struct field *f, const struct scalar *s)
{
    if (s->text.len <= KEYWORD_MAX_BYTES || !f->indexed ||
        (f->ignore_above > 0 && characters(s->text) > f->ignore_above)) {
        return 0;
    }
    const char *type = c->product == OPENSEARCH ? "illegal_argument_exception" : check_type(c);
    refuse(c->refusal, 400, type,
           "Document contains at least one immense term in field=\"%s\" (whose UTF8 encoding is "
           "longer than the max length 32766), all of which were skipped.  Please correct the "
           "analyzer to not produce such terms.  The prefix of the first immense term is: '[",
           f->path);
    struct buf *reason = &c->refusal->reason;
    for (size_t i = 0; i < 30; i++) {
        buf_printf(reason, "%s%d", i > 0 ? ", " : "", (int)(signed char)s->text.data[i]);
    }
    buf_printf(reason, "]...', original message: bytes can be at most 32766 in length; got %zu",
               s->text.len);
    refusal_cause(c->refusal, "max_bytes_length_exceeded_exception",
                  "bytes can be at most 32766 in length; got %zu", s->text.len);
    return -1;
}

static void keep_text(struct checker *c, const struct field *f, struct span text)
{
    struct buf *out = &c->out->texts[f->text_slot];
    if (out->len > 0) {
        buf_push_char(out, '\n');
    }
    buf_push(out, text.data, text.len);
}

static int check_scalar(struct checker *c, const struct field *f, const struct scalar *s)
{
    switch (f->type->family) {
    case FAMILY_INTEGER:
    case FAMILY_UNSIGNED:
    case FAMILY_REAL:
        return check_numeric(c, f, s);
    case FAMILY_BOOLEAN:
        return check_boolean(c, f, s);
    case FAMILY_DATE:
        return check_date(c, f, s);
    case FAMILY_IP:
        return check_ip(c, f, s);
    case FAMILY_KEYWORD:
        return check_keyword(c, f, s);
    case FAMILY_TEXT:
        keep_text(c, f, s->text);
        return 0;
    default:
        return 0;
    }
}

static int scalar(struct checker *c, const struct field *f)
{
    struct scalar s = {.token = reader_peek(&c->reader), .at = c->reader.at};
    if (reader_text(&c->reader, &c->text, &s.text) != 0) {
        return check_broken(c);
    }
    if (s.token == TOKEN_NULL) {
        return 0;
    }
    if (check_scalar(c, f, &s) != 0) {
        if (f->ignore_malformed) {
            c->refusal->status = 0;
            return 0;
        }
        return -1;
    }
    for (size_t i = 0; i < f->sub_count; i++) {
        if (check_scalar(c, &f->subs[i], &s) != 0) {
            return -1;
        }
    }
    return 0;
}

static int structured(struct checker *c, const struct field *f)
{
    return f->type->family == FAMILY_RANGE    ? check_range(c, f)
           : f->type->family == FAMILY_VECTOR ? check_vector(c, f)
           : f->type->family == FAMILY_FLAT   ? check_flat(c, f)
                                              : check_geo(c, f);
}

int check_leaf(struct checker *c, const struct field *f)
{
    bool begun = false;
    int more;
    enum token token = reader_peek(&c->reader);
    enum family family = f->type->family;
    if (token == TOKEN_NULL || token == TOKEN_END || token == TOKEN_BAD) {
        return reader_skip(&c->reader, NULL) == 0 ? 0 : check_broken(c);
    }
    if (family == FAMILY_VECTOR || family == FAMILY_GEO || family == FAMILY_FLAT ||
        (family == FAMILY_RANGE && token != TOKEN_ARRAY)) {
        return structured(c, f);
    }
    if (token == TOKEN_OBJECT) {
        return object_in_scalar(c, f);
    }
    if (token != TOKEN_ARRAY) {
        return scalar(c, f);
    }
    if (reader_enter(&c->reader) != 0) {
        return check_broken(c);
    }
    while ((more = reader_element(&c->reader, &begun)) > 0) {
        if (check_leaf(c, f) != 0) {
            return -1;
        }
    }
    return more == 0 ? 0 : check_broken(c);
}
