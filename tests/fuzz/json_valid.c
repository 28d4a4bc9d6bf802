/* SPDX-License-Identifier: Apache-2.0 */
/* A validator for RFC 8259, byte by byte. */
#include <string.h>

#include "expect.h"

#define MAX_DEPTH 2000

struct json {
    const unsigned char *at;
    const unsigned char *end;
    int depth;
};

static bool value(struct json *j);

static bool take(struct json *j, const char *bytes)
{
    size_t len = strlen(bytes);
    if ((size_t)(j->end - j->at) < len || memcmp(j->at, bytes, len) != 0) {
        return false;
    }
    j->at += len;
    return true;
}

static void blanks(struct json *j)
{
    while (j->at < j->end && strchr(" \t\r\n", *j->at) != NULL && *j->at != '\0') {
        j->at++;
    }
}

static size_t digits(struct json *j)
{
    const unsigned char *start = j->at;
    while (j->at < j->end && *j->at >= '0' && *j->at <= '9') {
        j->at++;
    }
    return (size_t)(j->at - start);
}

static bool number(struct json *j)
{
    take(j, "-");
    if (!take(j, "0") && digits(j) == 0) {
        return false;
    }
    if (take(j, ".") && digits(j) == 0) {
        return false;
    }
    if (take(j, "e") || take(j, "E")) {
        if (!take(j, "+")) {
            take(j, "-");
        }
        return digits(j) > 0;
    }
    return true;
}

static bool escape(struct json *j)
{
    if (take(j, "u")) {
        for (int i = 0; i < 4; i++) {
            if (j->at == j->end || *j->at == '\0' ||
                strchr("0123456789abcdefABCDEF", *j->at) == NULL) {
                return false;
            }
            j->at++;
        }
        return true;
    }
    return j->at < j->end && *j->at != '\0' && strchr("\"\\/bfnrt", *j->at++) != NULL;
}

/* Reads one UTF-8 character: shortest form, no surrogates, up to U+10FFFF. */
static bool character(struct json *j)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    unsigned char first = *j->at++;
    int more = first < 0x80       ? 0
               : first >> 5 == 6  ? 1
               : first >> 4 == 14 ? 2
               : first >> 3 == 30 ? 3
                                  : -1;
    if (more < 0 || j->end - j->at < more) {
        return false;
    }
    uint32_t code = more == 0 ? first : first & (0x3fU >> more);
    for (int i = 0; i < more; i++) {
        if (*j->at >> 6 != 2) {
            return false;
        }
        code = code << 6 | (*j->at++ & 0x3f);
    }
    return code >= least[more] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

static bool string(struct json *j)
{
    if (!take(j, "\"")) {
        return false;
    }
    while (j->at < j->end && *j->at != '"') {
        if (*j->at < 0x20) {
            return false;
        }
        if (take(j, "\\") ? !escape(j) : !character(j)) {
            return false;
        }
    }
    return take(j, "\"");
}

static bool member(struct json *j, bool named)
{
    blanks(j);
    if (named) {
        if (!string(j)) {
            return false;
        }
        blanks(j);
        if (!take(j, ":")) {
            return false;
        }
    }
    return value(j);
}

static bool container(struct json *j, const char *close, bool named)
{
    if (++j->depth > MAX_DEPTH) {
        return false;
    }
    blanks(j);
    if (!take(j, close)) {
        do {
            if (!member(j, named)) {
                return false;
            }
        } while (take(j, ","));
        if (!take(j, close)) {
            return false;
        }
    }
    j->depth--;
    return true;
}

static bool value(struct json *j)
{
    bool good = false;
    blanks(j);
    if (take(j, "{")) {
        good = container(j, "}", true);
    } else if (take(j, "[")) {
        good = container(j, "]", false);
    } else if (j->at < j->end && *j->at == '"') {
        good = string(j);
    } else {
        good = take(j, "true") || take(j, "false") || take(j, "null") || number(j);
    }
    blanks(j);
    return good;
}

bool json_valid(const char *text, size_t len)
{
    struct json j = {(const unsigned char *)text, (const unsigned char *)text + len, 0};
    return value(&j) && j.at == j.end;
}
