/* SPDX-License-Identifier: Apache-2.0 */
/* Incremental JSON parser: one state per grammar position, one bit per open container. */
#include "http/walk.h"

#include <string.h>

#include "rowferry/base/ascii.h"

#define REPLACEMENT 0xfffdU

void walk_begin(struct walk *w, const struct walk_events *events, void *context)
{
    *w = (struct walk){.events = events, .context = context, .state = WALK_VALUE};
}

bool walk_whole(const struct walk *w)
{
    return w->state == WALK_WHOLE;
}

static struct span walk_kept_text(const struct walk *w)
{
    return span_make(w->text, w->text_len);
}

static void walk_keep(struct walk *w, const char *bytes, size_t len)
{
    size_t room = sizeof(w->text) - w->text_len;
    size_t n = len < room ? len : room;
    if (n > 0) {
        memcpy(w->text + w->text_len, bytes, n);
        w->text_len += n;
    }
}

static void walk_keep_character(struct walk *w, unsigned c)
{
    char out[4];
    size_t n = ascii_utf8(out, c);
    if (!w->exact && (c < 0x20 || c == 0x7f)) {
        out[0] = ' ';
    }
    /* keep a character completely or not at all */
    if (n <= sizeof(w->text) - w->text_len) {
        walk_keep(w, out, n);
    }
}

/* Replaces a high surrogate without a low surrogate by U+FFFD. */
static void walk_end_surrogate(struct walk *w)
{
    if (w->high_surrogate != 0) {
        w->high_surrogate = 0;
        walk_keep_character(w, REPLACEMENT);
    }
}

static void walk_keep_code_unit(struct walk *w, unsigned unit)
{
    bool low = unit >= 0xdc00 && unit < 0xe000;
    if (low && w->high_surrogate != 0) {
        unsigned c = 0x10000 + ((w->high_surrogate - 0xd800) << 10) + (unit - 0xdc00);
        w->high_surrogate = 0;
        walk_keep_character(w, c);
        return;
    }
    walk_end_surrogate(w);
    if (unit >= 0xd800 && unit < 0xdc00) {
        w->high_surrogate = unit;
    } else {
        walk_keep_character(w, low ? REPLACEMENT : unit);
    }
}

static void walk_after_value(struct walk *w)
{
    w->state = w->depth == 0 ? WALK_WHOLE : WALK_AFTER;
}

static bool walk_in_array(const struct walk *w)
{
    return w->depth > 0 && (w->arrays >> (w->depth - 1) & 1) != 0;
}

static bool walk_open_container(struct walk *w, bool array)
{
    if (w->depth == WALK_MAX_DEPTH) {
        return false;
    }
    uint64_t bit = UINT64_C(1) << w->depth;
    w->arrays = array ? w->arrays | bit : w->arrays & ~bit;
    w->depth++;
    w->state = array ? WALK_FIRST_VALUE : WALK_FIRST_KEY;
    return w->events->open(w->context, w->depth, array);
}

static bool walk_close_container(struct walk *w, char c)
{
    if (w->depth == 0 || c != (walk_in_array(w) ? ']' : '}')) {
        return false;
    }
    bool good = w->events->close == NULL || w->events->close(w->context, w->depth);
    w->depth--;
    walk_after_value(w);
    return good;
}

static void walk_begin_string(struct walk *w, bool key)
{
    w->state = WALK_STRING;
    w->in_key = key;
    w->text_len = 0;
}

static bool walk_end_string(struct walk *w)
{
    walk_end_surrogate(w);
    if (w->in_key) {
        w->state = WALK_COLON;
        return w->events->key(w->context, w->depth, walk_kept_text(w));
    }
    walk_after_value(w);
    return w->events->string(w->context, w->depth, walk_kept_text(w));
}

static bool walk_scalar_byte(char c)
{
    return ascii_is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' ||
           c == 'E';
}

static bool walk_begin_value(struct walk *w, char c)
{
    if (c == '{' || c == '[') {
        return walk_open_container(w, c == '[');
    }
    if (c == '"') {
        walk_begin_string(w, false);
        return true;
    }
    w->state = WALK_SCALAR;
    w->text[0] = c;
    w->text_len = 1;
    return walk_scalar_byte(c);
}

static size_t walk_past_digits(struct span text, size_t at)
{
    while (at < text.len && ascii_is_digit(text.data[at])) {
        at++;
    }
    return at;
}

/* Checks a number. If it is longer than the stored text, only the stored part is checked. */
static bool walk_number_valid(struct span text)
{
    size_t from = text.data[0] == '-';
    size_t at = walk_past_digits(text, from);
    bool good = at > from && (text.data[from] != '0' || at == from + 1);
    if (good && at < text.len && text.data[at] == '.') {
        from = at + 1;
        at = walk_past_digits(text, from);
        good = at > from;
    }
    if (good && at < text.len && (text.data[at] == 'e' || text.data[at] == 'E')) {
        from = at + 1;
        from += from < text.len && (text.data[from] == '+' || text.data[from] == '-');
        at = walk_past_digits(text, from);
        good = at > from;
    }
    return at == text.len && (good || text.len == WALK_TEXT_BYTES);
}

static bool walk_scalar_valid(struct span text)
{
    if (ascii_is_digit(text.data[0]) || text.data[0] == '-') {
        return walk_number_valid(text);
    }
    return span_is(text, "true") || span_is(text, "false") || span_is(text, "null");
}

static bool walk_end_scalar(struct walk *w)
{
    walk_after_value(w);
    return walk_scalar_valid(walk_kept_text(w)) &&
           w->events->scalar(w->context, w->depth, walk_kept_text(w));
}

/* Handles one byte outside strings and scalars. */
static bool walk_structure(struct walk *w, char c)
{
    if (ascii_is_blank(c)) {
        return true;
    }
    switch (w->state) {
    case WALK_FIRST_VALUE:
        return c == ']' ? walk_close_container(w, c) : walk_begin_value(w, c);
    case WALK_VALUE:
        return walk_begin_value(w, c);
    case WALK_FIRST_KEY:
        if (c == '}') {
            return walk_close_container(w, c);
        }
        walk_begin_string(w, true);
        return c == '"';
    case WALK_KEY:
        walk_begin_string(w, true);
        return c == '"';
    case WALK_COLON:
        w->state = WALK_VALUE;
        return c == ':';
    case WALK_AFTER:
        if (c != ',') {
            return walk_close_container(w, c);
        }
        w->state = walk_in_array(w) ? WALK_VALUE : WALK_KEY;
        return true;
    default:
        return false;
    }
}

static bool walk_escape(struct walk *w, char c)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meaning[] = "\"\\/     ";
    static const char exactly[] = "\"\\/\b\f\n\r\t";
    w->state = WALK_STRING;
    if (c == 'u') {
        w->state = WALK_HEX;
        w->hex_digits = 0;
        w->code_unit = 0;
        return true;
    }
    const char *letter = c == '\0' ? NULL : strchr(letters, c);
    if (letter == NULL) {
        return false;
    }
    walk_end_surrogate(w);
    walk_keep(w, w->exact ? &exactly[letter - letters] : &meaning[letter - letters], 1);
    return true;
}

static bool walk_hex_digit(struct walk *w, char c)
{
    int value = ascii_hex(c);
    w->code_unit = w->code_unit << 4 | ((unsigned)value & 15);
    if (++w->hex_digits == 4) {
        w->state = WALK_STRING;
        walk_keep_code_unit(w, w->code_unit);
    }
    return value >= 0;
}

/* Consumes bytes up to the next quote, backslash or control character; returns the end of the
 * run. */
static const char *walk_plain_run(struct walk *w, const char *p, const char *end)
{
    const char *from = p;
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20) {
        p++;
    }
    if (p > from) {
        walk_end_surrogate(w);
        walk_keep(w, from, (size_t)(p - from));
    }
    return p;
}

static const char *walk_scalar_run(struct walk *w, const char *p, const char *end)
{
    const char *from = p;
    while (p < end && walk_scalar_byte(*p)) {
        if (w->text_len + (size_t)(p - from) >= sizeof(w->text) && !ascii_is_digit(*p) &&
            *p != '.') {
            break; /* a word or an exponent cannot begin here */
        }
        p++;
    }
    walk_keep(w, from, (size_t)(p - from));
    return p;
}

/* Consumes a run of bytes or a single byte. Returns null if they are not JSON. */
static const char *walk_step(struct walk *w, const char *p, const char *end)
{
    switch (w->state) {
    case WALK_STRING:
        p = walk_plain_run(w, p, end);
        if (p == end) {
            return p;
        }
        if (*p == '\\') {
            w->state = WALK_ESCAPE;
            return p + 1;
        }
        return *p == '"' && walk_end_string(w) ? p + 1 : NULL;
    case WALK_ESCAPE:
        return walk_escape(w, *p) ? p + 1 : NULL;
    case WALK_HEX:
        return walk_hex_digit(w, *p) ? p + 1 : NULL;
    case WALK_SCALAR:
        p = walk_scalar_run(w, p, end);
        return p == end || walk_end_scalar(w) ? p : NULL;
    default:
        return walk_structure(w, *p) ? p + 1 : NULL;
    }
}

/* Returns the length of an array element that the `take` event recognises; 0 if none. */
static size_t walk_taken(struct walk *w, const char *p, const char *end)
{
    bool may = w->events->take != NULL && *p == '{' &&
               (w->state == WALK_FIRST_VALUE || (w->state == WALK_VALUE && walk_in_array(w)));
    size_t len = may ? w->events->take(w->context, w->depth, span_make(p, (size_t)(end - p))) : 0;
    if (len > 0) {
        w->state = WALK_AFTER;
    }
    return len;
}

bool walk_feed(struct walk *w, const char *bytes, size_t len)
{
    const char *p = bytes;
    const char *end = bytes + len;
    if (w->state == WALK_BROKEN) {
        return false;
    }
    while (p < end) {
        size_t whole = walk_taken(w, p, end);
        const char *next = whole > 0 ? p + whole : walk_step(w, p, end);
        if (next == NULL) {
            w->state = WALK_BROKEN;
            break;
        }
        p = next;
    }
    w->passed += (size_t)(p - bytes);
    return w->state != WALK_BROKEN;
}
