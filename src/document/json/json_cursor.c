/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor over valid JSON without white space. */
#include "json/json_cursor.h"

#include "rowferry/document/json/json_name.h"

static bool json_cursor_closes(char c)
{
    return c == ']' || c == '}';
}

bool json_first(struct json_reader *r)
{
    if (r->at == r->end) {
        return false;
    }
    r->at++;
    if (r->at < r->end && json_cursor_closes(*r->at)) {
        r->at++;
        return false;
    }
    return r->at < r->end;
}

bool json_next(struct json_reader *r)
{
    if (r->at == r->end) {
        return false;
    }
    return *r->at++ == ',' && r->at < r->end;
}

static void json_cursor_skip_string(struct json_reader *r)
{
    const char *close = json_string_end(r->at, r->end);
    r->at = close != NULL ? close + 1 : r->end;
}

struct span json_member(struct json_reader *r)
{
    const char *from = r->at;
    if (*from != '"') {
        return span_make(from, 0);
    }
    json_cursor_skip_string(r);
    struct span name = span_make(from + 1, (size_t)(r->at - from) - (r->at - from > 1 ? 2 : 1));
    if (r->at < r->end && *r->at == ':') {
        r->at++;
    }
    return name;
}

static void json_cursor_skip_nested(struct json_reader *r)
{
    size_t depth = 0;
    while (r->at < r->end) {
        char byte = *r->at;
        if (byte == '"') {
            json_cursor_skip_string(r);
            continue;
        }
        r->at++;
        depth += byte == '{' || byte == '[';
        if (json_cursor_closes(byte) && --depth == 0) {
            return;
        }
    }
}

struct span json_value(struct json_reader *r)
{
    const char *from = r->at;
    if (*from == '"') {
        json_cursor_skip_string(r);
    } else if (*from == '{' || *from == '[') {
        json_cursor_skip_nested(r);
    } else {
        while (r->at < r->end && *r->at != ',' && !json_cursor_closes(*r->at)) {
            r->at++;
        }
    }
    return span_make(from, (size_t)(r->at - from));
}
