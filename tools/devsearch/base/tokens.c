/* SPDX-License-Identifier: Apache-2.0 */
/* Splits text into words. */
#include "base/tokens.h"
#include "base/reader.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <wchar.h>
#include <wctype.h>

void words_init(struct words *w, struct span bytes)
{
    w->bytes = bytes;
    w->at = 0;
    buf_init(&w->lower, (size_t)64 << 20);
}

void words_release(struct words *w)
{
    buf_release(&w->lower);
}

/* Returns the code point at `at`. Its length is 1 if the bytes are not UTF-8. */
static uint32_t code_at(struct span bytes, size_t at, size_t *len)
{
    const unsigned char *p = (const unsigned char *)bytes.data + at;
    size_t left = bytes.len - at;
    *len = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (*len > left || *len == 1) {
        *len = 1;
        return p[0];
    }
    uint32_t code = p[0] & (0x7fU >> *len);
    for (size_t i = 1; i < *len; i++) {
        code = (code << 6) | (p[i] & 0x3fU);
    }
    return code;
}

static bool is_digit(uint32_t code)
{
    return code >= '0' && code <= '9';
}

static bool is_word(uint32_t code)
{
    return code < 0x80
               ? is_digit(code) || code == '_' || ((code | 0x20) >= 'a' && (code | 0x20) <= 'z')
               : iswalnum((wint_t)code) != 0;
}

/* Returns true if a mark between two letters or two digits does not separate words. */
static bool joins(struct words *w, uint32_t before, uint32_t mark, size_t after_at)
{
    bool digits_only = mark == ',' || mark == ';';
    if ((mark != '.' && mark != '\'' && mark != 0x2019 && !digits_only) ||
        after_at >= w->bytes.len) {
        return false;
    }
    size_t len;
    uint32_t after = code_at(w->bytes, after_at, &len);
    if (!is_word(after) || after == '_' || before == '_') {
        return false;
    }
    return is_digit(before) == is_digit(after) && (!digits_only || is_digit(after));
}

static void push_lower(struct buf *out, uint32_t code)
{
    push_utf8(out, code < 0x80 ? (code >= 'A' && code <= 'Z' ? code | 0x20 : code)
                               : (uint32_t)towlower((wint_t)code));
}

bool words_next(struct words *w, struct word *word)
{
    size_t len;
    uint32_t code = 0;
    while (w->at < w->bytes.len && !is_word(code_at(w->bytes, w->at, &len))) {
        w->at += len;
    }
    if (w->at >= w->bytes.len) {
        return false;
    }
    *word = (struct word){.start = w->at, .number = true};
    buf_reset(&w->lower);
    uint32_t before = 0;
    while (w->at < w->bytes.len) {
        code = code_at(w->bytes, w->at, &len);
        if (!is_word(code) && !joins(w, before, code, w->at + len)) {
            break;
        }
        word->number = word->number && (is_digit(code) || !is_word(code));
        push_lower(&w->lower, code);
        before = code;
        w->at += len;
    }
    word->end = w->at;
    word->text = span_make(buf_text(&w->lower), w->lower.len);
    return true;
}

static int tokenizer_create(void *context, const char **args, int count, Fts5Tokenizer **out)
{
    (void)context;
    (void)args;
    (void)count;
    *out = (Fts5Tokenizer *)mem_zero(1, 1);
    return SQLITE_OK;
}

static void tokenizer_delete(Fts5Tokenizer *tokenizer)
{
    free(tokenizer);
}

static int tokenize(Fts5Tokenizer *tokenizer, void *context, int flags, const char *text, int len,
                    int (*token)(void *, int, const char *, int, int, int))
{
    (void)tokenizer;
    (void)flags;
    struct words w;
    struct word word;
    int rc = SQLITE_OK;
    words_init(&w, span_make(text, (size_t)len));
    while (rc == SQLITE_OK && words_next(&w, &word)) {
        rc = token(context, 0, word.text.data, (int)word.text.len, (int)word.start, (int)word.end);
    }
    words_release(&w);
    return rc;
}

int tokens_register(struct sqlite3 *db)
{
    fts5_api *api = NULL;
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, "select fts5(?1)", -1, &statement, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
        sqlite3_step(statement);
        rc = sqlite3_finalize(statement);
    }
    if (rc != SQLITE_OK || api == NULL) {
        return SQLITE_ERROR;
    }
    fts5_tokenizer standard = {tokenizer_create, tokenizer_delete, tokenize};
    return api->xCreateTokenizer(api, "standard", NULL, &standard, NULL);
}
