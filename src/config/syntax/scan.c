/* SPDX-License-Identifier: Apache-2.0 */
/* A small JSON scanner that tracks lines and columns. */
#include "syntax/scan.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "syntax/scan_keys.h"

#define MAX_DEPTH 64
#define MAX_PATH_BYTES 65536
#define NOT_FOUND ((size_t)-1)

struct config_scan {
    const char *text;
    size_t len;
    size_t at;
    int depth;
    struct buf path;
    struct scan_keys keys; /* keys of the open objects */

    const char *wanted; /* the path to find, or null */
    size_t key_at;
    size_t value_at;

    const char *expected; /* set by the first failure, which is at `at` */
    const char *problem;  /* the same for a failure without an expectation */
};

static bool scan_value(struct config_scan *s);

static struct place scan_place_of(const char *text, size_t at)
{
    struct place p = {1, 1};
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            p.line++;
            p.column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            p.column++;
        }
    }
    return p;
}

static bool scan_fail_expected(struct config_scan *s, const char *expected)
{
    s->expected = expected;
    return false;
}

static bool scan_fail_problem(struct config_scan *s, size_t at, const char *problem)
{
    s->at = at;
    s->problem = problem;
    return false;
}

static char scan_peek(const struct config_scan *s)
{
    return s->at < s->len ? s->text[s->at] : '\0';
}

static void scan_skip_blanks(struct config_scan *s)
{
    while (s->at < s->len && ascii_is_blank(s->text[s->at])) {
        s->at++;
    }
}

static bool scan_take(struct config_scan *s, char c)
{
    if (s->at < s->len && s->text[s->at] == c) {
        s->at++;
        return true;
    }
    return false;
}

static bool scan_escape(struct config_scan *s)
{
    char c = scan_peek(s);
    if (c == 'u') {
        s->at++;
        for (int i = 0; i < 4; i++, s->at++) {
            if (ascii_hex(scan_peek(s)) < 0) {
                return scan_fail_expected(s, "four hexadecimal digits");
            }
        }
        return true;
    }
    if (c == '\0' || strchr("\"\\/bfnrt", c) == NULL) {
        return scan_fail_expected(s, "an escape like \\n, \\\" or \\\\");
    }
    s->at++;
    return true;
}

static bool scan_string(struct config_scan *s)
{
    size_t start = s->at++;
    while (s->at < s->len) {
        unsigned char c = (unsigned char)s->text[s->at];
        if (c == '"') {
            s->at++;
            return true;
        }
        if (c < 0x20) {
            return scan_fail_problem(s, start, "this string is not closed on its line");
        }
        s->at++;
        if (c == '\\' && !scan_escape(s)) {
            return false;
        }
    }
    return scan_fail_problem(s, start, "this string is not closed");
}

static size_t scan_digits(struct config_scan *s)
{
    size_t start = s->at;
    while (ascii_is_digit(scan_peek(s))) {
        s->at++;
    }
    return s->at - start;
}

static bool scan_number(struct config_scan *s)
{
    scan_take(s, '-');
    if (!scan_take(s, '0') && scan_digits(s) == 0) {
        return scan_fail_expected(s, "a digit");
    }
    if (scan_take(s, '.') && scan_digits(s) == 0) {
        return scan_fail_expected(s, "a digit");
    }
    if (scan_take(s, 'e') || scan_take(s, 'E')) {
        if (!scan_take(s, '+')) {
            scan_take(s, '-');
        }
        return scan_digits(s) > 0 || scan_fail_expected(s, "a digit");
    }
    return true;
}

static bool scan_word(struct config_scan *s)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);
        if (s->len - s->at >= len && memcmp(s->text + s->at, words[i], len) == 0) {
            s->at += len;
            return true;
        }
    }
    return scan_fail_expected(s, "a value");
}

/* Records the place if the current path is the wanted one. */
static void scan_note_place(struct config_scan *s, size_t key_at)
{
    if (s->wanted != NULL && strcmp(buf_text(&s->path), s->wanted) == 0) {
        s->key_at = key_at;
        s->value_at = s->at;
    }
}

/* Refuses keys that json-c would change and so confuse with others: it cuts a name at a zero byte
 * and replaces incomplete characters. */
static bool scan_push_key(struct config_scan *s, struct span key, size_t key_at)
{
    buf_push_text(&s->path, s->path.len > 0 ? "." : "");
    return scan_keys_push(&s->keys, &s->path, key) ||
           scan_fail_problem(s, key_at, "this key has a zero byte or half of a character");
}

/* Scans a key, its colon and its value. */
static bool scan_member(struct config_scan *s)
{
    size_t key_at = s->at;
    size_t path_len = s->path.len;
    if (scan_peek(s) != '"') {
        return scan_fail_expected(s, "a key in double quotes");
    }
    if (!scan_string(s)) {
        return false;
    }
    struct span key = span_make(s->text + key_at + 1, s->at - key_at - 2);
    scan_skip_blanks(s);
    if (!scan_take(s, ':')) {
        return scan_fail_expected(s, "\":\"");
    }
    scan_skip_blanks(s);
    if (!scan_push_key(s, key, key_at)) {
        return false;
    }
    scan_note_place(s, key_at);
    bool good = scan_value(s);
    buf_truncate(&s->path, path_len);
    return good;
}

static bool scan_element(struct config_scan *s, size_t index)
{
    size_t path_len = s->path.len;
    buf_printf(&s->path, "[%zu]", index);
    scan_note_place(s, s->at);
    bool good = scan_value(s);
    buf_truncate(&s->path, path_len);
    return good;
}

/* Scans the items of an object or an array, up to its closing bracket. */
static bool scan_items(struct config_scan *s, bool object)
{
    const char close = object ? '}' : ']';
    s->at++;
    scan_skip_blanks(s);
    if (scan_take(s, close)) {
        return true;
    }
    for (size_t index = 0;; index++) {
        if (!(object ? scan_member(s) : scan_element(s, index))) {
            return false;
        }
        scan_skip_blanks(s);
        if (scan_take(s, close)) {
            return true;
        }
        size_t comma = s->at;
        if (!scan_take(s, ',')) {
            return scan_fail_expected(s, object ? "\",\" or \"}\"" : "\",\" or \"]\"");
        }
        scan_skip_blanks(s);
        if (scan_peek(s) == close) {
            return scan_fail_problem(s, comma,
                                     object ? "a comma before \"}\"" : "a comma before \"]\"");
        }
    }
}

/* Fails at the first duplicate key. */
static bool scan_object(struct config_scan *s)
{
    size_t first = s->keys.count;
    if (!scan_items(s, true)) {
        return false;
    }
    const char *twice = scan_keys_end(&s->keys, first);
    return twice == NULL || scan_fail_problem(s, (size_t)(twice - s->text) - 1,
                                              "this key occurs twice in its object");
}

static bool scan_value(struct config_scan *s)
{
    if (++s->depth > MAX_DEPTH) {
        return scan_fail_problem(s, s->at, "nested too deeply");
    }
    char c = scan_peek(s);
    bool good = c == '{'                        ? scan_object(s)
                : c == '['                      ? scan_items(s, false)
                : c == '"'                      ? scan_string(s)
                : c == '-' || ascii_is_digit(c) ? scan_number(s)
                                                : scan_word(s);
    s->depth--;
    return good;
}

static void scan_init(struct config_scan *s, const char *text, size_t len, const char *wanted)
{
    *s = (struct config_scan){.text = text, .len = len, .wanted = wanted};
    s->key_at = NOT_FOUND;
    buf_init(&s->path, MAX_PATH_BYTES);
}

static void scan_release(struct config_scan *s)
{
    buf_release(&s->path);
    free(s->keys.items);
}

/* Scans the whole text: one object and nothing after it. */
static bool scan_text(struct config_scan *s)
{
    scan_skip_blanks(s);
    if (scan_peek(s) != '{') {
        return scan_fail_expected(s, "\"{\"");
    }
    if (!scan_value(s)) {
        return false;
    }
    scan_skip_blanks(s);
    return s->at == s->len || scan_fail_expected(s, "the end of the file");
}

/* Returns the end of the string that starts at `at`, or of the text. */
static size_t scan_after_string(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"' && text[at] != '\n'; at++) {
        at += text[at] == '\\';
    }
    return at < len ? at + 1 : len;
}

static size_t scan_comment_end(const char *text, size_t len, size_t at)
{
    const char *close = text[at + 1] == '/' ? "\n" : "*/";
    const char *found = memmem(text + at + 2, len - at - 2, close, strlen(close));
    if (found != NULL) {
        return (size_t)(found - text) + (text[at + 1] == '/' ? 0 : 2);
    }
    return text[at + 1] == '/' ? len : NOT_FOUND;
}

/* Replaces comments with blanks, so that places are unchanged. Returns false at an unterminated
 * comment. */
static bool scan_blank_comments(char *text, size_t len, size_t *at)
{
    while (*at < len) {
        if (text[*at] == '"') {
            *at = scan_after_string(text, len, *at);
            continue;
        }
        bool comment =
            text[*at] == '/' && *at + 1 < len && (text[*at + 1] == '/' || text[*at + 1] == '*');
        size_t end = comment ? scan_comment_end(text, len, *at) : *at + 1;
        if (end == NOT_FOUND) {
            return false;
        }
        for (; *at < end; ++*at) {
            if (comment && text[*at] != '\n') {
                text[*at] = ' ';
            }
        }
    }
    return true;
}

/* Returns the position of the first byte that is not UTF-8, or len. */
static size_t scan_first_invalid(const char *text, size_t len)
{
    struct buf valid;
    buf_init(&valid, len * 3 + 1);
    text_valid(&valid, text, len);
    size_t at = 0;
    while (at < len && at < valid.len && text[at] == valid.data[at]) {
        at++;
    }
    buf_release(&valid);
    return at;
}

static int scan_fail_at(const char *file, const char *text, size_t at, const char *problem,
                        struct err *err)
{
    struct place p = scan_place_of(text, at);
    return err_set(err, ERR_CONFIG, "%s:%d:%d: %s", file, p.line, p.column, problem);
}

static int scan_fail_found(const char *file, const struct config_scan *s, struct err *err)
{
    if (s->problem != NULL) {
        return scan_fail_at(file, s->text, s->at, s->problem, err);
    }
    struct buf problem;
    buf_init(&problem, 1024);
    buf_printf(&problem, "expected %s, found ", s->expected);
    if (s->at >= s->len) {
        buf_push_literal(&problem, "the end of the file");
    } else {
        size_t end = s->at + 1;
        while (end < s->len && ((unsigned char)s->text[end] & 0xc0) == 0x80) {
            end++;
        }
        buf_push_char(&problem, '"');
        text_escape(&problem, s->text + s->at, end - s->at);
        buf_push_char(&problem, '"');
    }
    int result = scan_fail_at(file, s->text, s->at, buf_text(&problem), err);
    buf_release(&problem);
    return result;
}

int scan_check(const char *file, char *text, size_t len, struct err *err)
{
    size_t at = scan_first_invalid(text, len);
    if (at < len) {
        return scan_fail_at(file, text, at, "a byte that is not UTF-8", err);
    }
    at = 0;
    if (!scan_blank_comments(text, len, &at)) {
        return scan_fail_at(file, text, at, "this comment is not closed", err);
    }
    struct config_scan s;
    scan_init(&s, text, len, NULL);
    int result = scan_text(&s) ? 0 : scan_fail_found(file, &s, err);
    scan_release(&s);
    return result;
}

/* Removes the last part of "a.b[0]". Returns false if nothing is left. */
static bool scan_cut_last(char *path)
{
    char *end = path + strlen(path);
    while (end > path && *end != '.' && *end != '[') {
        end--;
    }
    *end = '\0';
    return end > path;
}

struct place scan_find(const char *text, size_t len, const char *path, enum scan_end end)
{
    char *wanted = text_copy(path);
    size_t at = NOT_FOUND;
    while (at == NOT_FOUND && *wanted != '\0') {
        struct config_scan s;
        scan_init(&s, text, len, wanted);
        bool good = scan_text(&s);
        if (good && s.key_at != NOT_FOUND) {
            at = end == SCAN_KEY ? s.key_at : s.value_at;
        }
        scan_release(&s);
        if (at == NOT_FOUND && !scan_cut_last(wanted)) {
            break;
        }
    }
    free(wanted);
    return scan_place_of(text, at == NOT_FOUND ? strspn(text, " \t\r\n") : at);
}
