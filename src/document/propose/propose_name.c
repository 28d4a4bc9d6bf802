/* SPDX-License-Identifier: Apache-2.0 */
/* Converts PostgreSQL names to names that the service accepts. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "propose/propose_private.h"
#include "rowferry/base/text.h"

#define INDEX_BYTES 120 /* of an alias's 200, so that users can extend the name */
#define PIPELINE_BYTES 40

static bool propose_name_is_taken(const struct proposed *among, const char *name)
{
    for (size_t i = 0; i < among->count; i++) {
        if (strcmp(among->children[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* A dot would make the name a path, and a leading underscore marks the service's own fields. */
static void propose_name_push_property(struct buf *out, const char *column)
{
    if (column[0] == '_' || strcmp(column, "source_id") == 0) {
        buf_push_literal(out, "column");
        buf_push_text(out, column[0] == '_' ? "" : "_");
    }
    for (const char *at = column; *at != '\0'; at++) {
        buf_push_char(out, *at == '.' || (unsigned char)*at < ' ' ? '_' : *at);
    }
    if (column[strspn(column, " ")] == '\0') {
        buf_push_literal(out, "column");
    }
}

char *propose_name(const struct proposed *among, const char *column)
{
    struct buf name;
    buf_init(&name, PROPOSE_TEXT_BYTES);
    propose_name_push_property(&name, column);
    size_t len = name.len;
    for (int i = 2; propose_name_is_taken(among, buf_text(&name)); i++) {
        buf_truncate(&name, len);
        buf_printf(&name, "_%d", i);
    }
    return buf_detach(&name);
}

/* Replaces each run of characters that are not allowed with one "-". */
static void propose_name_push_words(struct buf *out, const char *text, size_t most_bytes,
                                    bool capitals)
{
    bool gap = false;
    size_t begin = out->len;
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        bool fits = c < 0x80 && (isalnum(c) != 0 || (c == '_' && out->len > begin));
        if (fits && out->len + gap < most_bytes) {
            buf_push_text(out, gap && out->len > begin ? "-" : "");
            buf_push_char(out, (char)(capitals ? c : tolower(c)));
        }
        gap = !fits;
    }
    if (out->len == begin) {
        buf_push_literal(out, "table");
    }
}

void propose_index_name(struct buf *out, const char *text)
{
    propose_name_push_words(out, text, INDEX_BYTES, false);
}

bool propose_index_is_nameless(const char *name)
{
    static const char *const words[] = {
        "all",     "bar",      "data",     "database",  "db",      "default", "demo",   "dev",
        "doc",     "docs",     "document", "documents", "example", "foo",     "idx",    "index",
        "indices", "item",     "items",    "main",      "my",      "new",     "object", "objects",
        "old",     "postgres", "prod",     "public",    "record",  "records", "row",    "rows",
        "sample",  "search",   "table",    "temp",      "test",    "testing", "tests",  "the",
        "tmp",     "try",      NULL};
    static const char between[] = "-_.0123456789";
    while (*name != '\0') {
        size_t len = strcspn(name, between);
        size_t i = 0;
        while (words[i] != NULL && (strlen(words[i]) != len || strncmp(words[i], name, len) != 0)) {
            i++;
        }
        if (len > 0 && words[i] == NULL) {
            return false;
        }
        name += len;
        name += strspn(name, between);
    }
    return true;
}

void propose_pipeline_name(struct buf *out, const char *text)
{
    propose_name_push_words(out, text, PIPELINE_BYTES, true);
}
