/* SPDX-License-Identifier: Apache-2.0 */
/* Strict JSON reader; it allocates no tree. */
#include "base/reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "rowferry/base/ascii.h"

#define READER_MAX_DEPTH 500

void reader_init(struct reader *r, struct span bytes)
{
    *r = (struct reader){.start = bytes.data, .at = bytes.data, .end = bytes.data + bytes.len};
    buf_init(&r->problem, 4096);
    buf_init(&r->key, (size_t)1 << 20);
}

void reader_release(struct reader *r)
{
    buf_release(&r->problem);
    buf_release(&r->key);
    free(r->seen);
    r->seen = NULL;
}

void reader_place(const struct reader *r, const char *at, size_t *line, size_t *column)
{
    *line = 1;
    *column = 1;
    for (const char *p = r->start; p < at; p++) {
        (*column)++;
        if (*p == '\n') {
            (*line)++;
            *column = 1;
        }
    }
}

void reader_push_source(const struct reader *r, const char *at, struct buf *out)
{
    size_t line;
    size_t column;
    reader_place(r, at, &line, &column);
    buf_printf(out,
               "\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled);"
               " line: %zu, column: %zu]",
               line, column);
}

static int problem_at(struct reader *r, const char *type, const char *text)
{
    if (r->problem_type == NULL) {
        r->problem_type = type;
        buf_push_text(&r->problem, text);
        reader_push_source(r, r->at, &r->problem);
    }
    return -1;
}

static int problem(struct reader *r, const char *text)
{
    if (r->at >= r->end) {
        return problem_at(r, "json_e_o_f_exception", "Unexpected end-of-input");
    }
    return problem_at(r, "json_parse_exception", text);
}

enum token reader_peek(struct reader *r)
{
    while (r->at < r->end && ascii_is_blank(*r->at)) {
        r->at++;
    }
    if (r->at >= r->end) {
        return TOKEN_END;
    }
    switch (*r->at) {
    case '{':
        return TOKEN_OBJECT;
    case '[':
        return TOKEN_ARRAY;
    case '"':
        return TOKEN_STRING;
    case 't':
        return TOKEN_TRUE;
    case 'f':
        return TOKEN_FALSE;
    case 'n':
        return TOKEN_NULL;
    default:
        return *r->at == '-' || ascii_is_digit(*r->at) ? TOKEN_NUMBER : TOKEN_BAD;
    }
}

int reader_enter(struct reader *r)
{
    if (++r->depth > READER_MAX_DEPTH) {
        return problem(r, "Document nesting depth exceeds the maximum");
    }
    r->at++;
    return 0;
}

void push_utf8(struct buf *out, uint32_t code)
{
    char bytes[4];
    buf_push(out, bytes, ascii_utf8(bytes, code));
}

static bool hex4(const char *p, const char *end, uint32_t *code)
{
    if (end - p < 4) {
        return false;
    }
    *code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = ascii_hex(p[i]);
        if (digit < 0) {
            return false;
        }
        *code = *code * 16 + (uint32_t)digit;
    }
    return true;
}

/* Decodes \uXXXX at r->at (after the u). A lone surrogate becomes U+FFFD. */
static int unicode_escape(struct reader *r, struct buf *out)
{
    uint32_t code;
    if (!hex4(r->at, r->end, &code)) {
        return problem(r,
                       "Unexpected character: expected a hex-digit for character escape sequence");
    }
    r->at += 4;
    uint32_t low;
    if (code >= 0xd800 && code < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
        r->at[1] == 'u' && hex4(r->at + 2, r->end, &low) && low >= 0xdc00 && low < 0xe000) {
        r->at += 6;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xd800 && code < 0xe000) {
        code = 0xfffd;
    }
    push_utf8(out, code);
    return 0;
}

static int escape(struct reader *r, struct buf *out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    r->at++;
    if (r->at >= r->end) {
        return problem(r, "");
    }
    char c = *r->at++;
    if (c == 'u') {
        return unicode_escape(r, out);
    }
    const char *found = c != '\0' ? strchr(from, c) : NULL;
    if (found == NULL) {
        return problem(r, "Unrecognized character escape");
    }
    buf_push_char(out, to[found - from]);
    return 0;
}

/* Consumes plain bytes up to a quote or a backslash. */
static int plain_run(struct reader *r)
{
    while (r->at < r->end && *r->at != '"' && *r->at != '\\') {
        unsigned char c = (unsigned char)*r->at;
        if (c < 0x20) {
            return problem(r, "Illegal unquoted character: has to be escaped using backslash to be "
                              "included in string value");
        }
        size_t n = 1;
        if (c >= 0x80) {
            n = text_character(r->at, (size_t)(r->end - r->at));
        }
        if (n == 0) {
            char text[48];
            snprintf(text, sizeof(text), "Invalid UTF-8 start byte 0x%02x", c);
            return problem(r, text);
        }
        r->at += n;
    }
    return r->at < r->end ? 0 : problem(r, "");
}

int reader_string(struct reader *r, struct buf *scratch, struct span *text)
{
    if (reader_peek(r) != TOKEN_STRING) {
        return problem(r, "Unexpected character: was expecting double-quote to start a string");
    }
    const char *from = ++r->at;
    if (plain_run(r) != 0) {
        return -1;
    }
    if (*r->at == '"') {
        *text = span_make(from, (size_t)(r->at++ - from));
        return 0;
    }
    buf_reset(scratch);
    while (*r->at != '"') {
        buf_push(scratch, from, (size_t)(r->at - from));
        if (escape(r, scratch) != 0) {
            return -1;
        }
        from = r->at;
        if (plain_run(r) != 0) {
            return -1;
        }
    }
    buf_push(scratch, from, (size_t)(r->at - from));
    r->at++;
    *text = span_make(buf_text(scratch), scratch->len);
    return 0;
}

static int separator(struct reader *r, char close, bool *begun)
{
    reader_peek(r);
    if (r->at < r->end && *r->at == close) {
        r->at++;
        r->depth--;
        return 0;
    }
    if (*begun) {
        if (r->at >= r->end || *r->at != ',') {
            return problem(r, "Unexpected character: was expecting comma to separate entries");
        }
        r->at++;
    }
    *begun = true;
    return 1;
}

/* Adds a nonzero hash to a table with free space; returns false if it is already present. */
static bool put_hash(uint64_t *table, size_t capacity, uint64_t hash)
{
    size_t at = (size_t)hash & (capacity - 1);
    while (table[at] != 0 && table[at] != hash) {
        at = (at + 1) & (capacity - 1);
    }
    bool there = table[at] == hash;
    table[at] = hash;
    return !there;
}

static void widen(struct reader *r)
{
    size_t capacity = r->seen_capacity == 0 ? 64 : r->seen_capacity * 2;
    uint64_t *wider = mem_zero(capacity, sizeof(*wider));
    for (size_t i = 0; i < r->seen_capacity; i++) {
        if (r->seen[i] != 0) {
            put_hash(wider, capacity, r->seen[i]);
        }
    }
    free(r->seen);
    r->seen = wider;
    r->seen_capacity = capacity;
}

/* Records a key. One hash table serves all objects; each object's number is part of the hash. */
static int note_key(struct reader *r, const struct members *mark, struct span key)
{
    uint64_t hash = text_hash(key.data, key.len) + mark->object * 0x9e3779b97f4a7c15;
    if (2 * r->seen_count >= r->seen_capacity) {
        widen(r);
    }
    if (put_hash(r->seen, r->seen_capacity, hash != 0 ? hash : 1)) {
        r->seen_count++;
        return 0;
    }
    struct buf text;
    buf_init(&text, 2048);
    buf_push_literal(&text, "Duplicate field '");
    buf_push(&text, key.data, key.len);
    buf_push_literal(&text, "'");
    problem(r, buf_text(&text));
    buf_release(&text);
    return -1;
}

int reader_member(struct reader *r, struct members *mark, struct span *key)
{
    if (!mark->begun) {
        mark->object = r->objects++;
    }
    int more = separator(r, '}', &mark->begun);
    if (more <= 0) {
        return more;
    }
    if (reader_string(r, &r->key, key) != 0 || (!r->checked && note_key(r, mark, *key) != 0)) {
        return -1;
    }
    reader_peek(r);
    if (r->at >= r->end || *r->at != ':') {
        return problem(r, "Unexpected character: was expecting a colon to separate field name and "
                          "value");
    }
    r->at++;
    return 1;
}

int reader_element(struct reader *r, bool *begun)
{
    return separator(r, ']', begun);
}

static const char *digits(const char *p, const char *end)
{
    while (p < end && ascii_is_digit(*p)) {
        p++;
    }
    return p;
}

static int number(struct reader *r)
{
    const char *p = r->at + (*r->at == '-' ? 1 : 0);
    const char *whole = p;
    p = digits(p, r->end);
    if (p == whole || (*whole == '0' && p - whole > 1)) {
        return problem(r, "Invalid numeric value: Leading zeroes not allowed");
    }
    if (p < r->end && *p == '.') {
        const char *fraction = ++p;
        p = digits(p, r->end);
        if (p == fraction) {
            return problem(r, "Decimal point not followed by a digit");
        }
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < r->end && (*p == '+' || *p == '-') ? 1 : 0;
        const char *exponent = p;
        p = digits(p, r->end);
        if (p == exponent) {
            return problem(r, "Exponent indicator not followed by a digit");
        }
    }
    r->at = p;
    return 0;
}

static int literal(struct reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) {
        return problem_at(r, "json_parse_exception",
                          "Unrecognized token: was expecting (JSON String, Number, Array, Object "
                          "or token 'null', 'true' or 'false')");
    }
    r->at += n;
    return 0;
}

int reader_scalar(struct reader *r, struct span *raw)
{
    enum token token = reader_peek(r);
    const char *from = r->at;
    int rc = -1;
    if (token == TOKEN_NUMBER) {
        rc = number(r);
    } else if (token == TOKEN_TRUE || token == TOKEN_FALSE || token == TOKEN_NULL) {
        rc = literal(r, token == TOKEN_TRUE ? "true" : token == TOKEN_FALSE ? "false" : "null");
    } else {
        rc = problem(r, "Unrecognized token: was expecting (JSON String, Number, Array, Object or "
                        "token 'null', 'true' or 'false')");
    }
    *raw = span_make(from, (size_t)(r->at - from));
    return rc;
}

int reader_text(struct reader *r, struct buf *scratch, struct span *text)
{
    return reader_peek(r) == TOKEN_STRING ? reader_string(r, scratch, text)
                                          : reader_scalar(r, text);
}

static int skip_container(struct reader *r, bool object)
{
    struct members mark = {0};
    bool begun = false;
    struct span key = {0};
    if (reader_enter(r) != 0) {
        return -1;
    }
    int more;
    while ((more = object ? reader_member(r, &mark, &key) : reader_element(r, &begun)) > 0) {
        if (reader_skip(r, NULL) != 0) {
            return -1;
        }
    }
    return more;
}

int reader_skip(struct reader *r, struct span *raw)
{
    enum token token = reader_peek(r);
    const char *from = r->at;
    struct span ignored;
    int rc;
    r->values++;
    if (token == TOKEN_OBJECT || token == TOKEN_ARRAY) {
        rc = skip_container(r, token == TOKEN_OBJECT);
    } else {
        rc = reader_text(r, &r->key, &ignored);
    }
    if (raw != NULL) {
        *raw = span_make(from, (size_t)(r->at - from));
    }
    return rc;
}

int reader_finish(struct reader *r)
{
    if (reader_peek(r) == TOKEN_END) {
        return 0;
    }
    return problem_at(r, "json_parse_exception",
                      *r->at == '}' ? "Unexpected close marker '}': expected ']'"
                                    : "Unexpected character: expected the end of the document");
}
