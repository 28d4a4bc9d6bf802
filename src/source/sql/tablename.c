/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tables as written in a configuration. */
#include "rowferry/source/sql/tablename.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "sql/sqlquote.h"

#define NAME_MAX_BYTES ((size_t)1 << 20)

/* Reads the quoted name at *text and moves *text behind it. Returns null if the quotation is
 * unterminated. */
static char *tablename_take_quoted(const char **text)
{
    struct buf name;
    const char *at = *text + 1;
    buf_init(&name, NAME_MAX_BYTES);
    while (*at != '\0' && (at[0] != '"' || at[1] == '"')) {
        buf_push_char(&name, *at);
        at += *at == '"' ? 2 : 1;
    }
    if (*at == '\0') {
        buf_release(&name);
        return NULL;
    }
    *text = at + 1;
    return buf_detach(&name);
}

/* Reads one part: the schema ends at the first dot, the table at the end of the text. */
static int tablename_take_part(char **out, const char **text, bool schema, struct err *err)
{
    const char *from = *text;
    if (*from != '"') {
        size_t len = schema ? strcspn(from, ".") : strlen(from);
        *out = text_copy_span(span_make(from, len));
        *text = from + len;
    } else {
        *out = tablename_take_quoted(text);
        if (*out == NULL) {
            return err_set(err, ERR_CONFIG, "unterminated quoted identifier");
        }
        if (**text != '\0' && !(schema && **text == '.')) {
            return err_set(err, ERR_CONFIG, "unexpected text after a quoted identifier");
        }
    }
    return (*out)[0] != '\0' ? 0 : err_set(err, ERR_CONFIG, "empty schema or table name");
}

int tablename_parse(struct tablename *out, const char *text, struct err *err)
{
    const char *at = text;
    *out = (struct tablename){0};
    int rc = tablename_take_part(&out->schema, &at, true, err);
    if (rc == 0 && *at == '.') {
        at++;
        rc = tablename_take_part(&out->table, &at, false, err);
    } else if (rc == 0) {
        out->table = out->schema;
        out->schema = text_copy("public");
    }
    if (rc < 0) {
        tablename_release(out);
        return err_hint(err, "write \"schema.table\", with quotes as in SQL if a name has a dot");
    }
    return 0;
}

void tablename_release(struct tablename *name)
{
    free(name->schema);
    free(name->table);
    *name = (struct tablename){0};
}

static void tablename_push_part(struct buf *out, const char *part, bool quoted)
{
    if (quoted) {
        sqlquote_identifier(out, part);
    } else {
        buf_push_text(out, part);
    }
}

void tablename_push(struct buf *out, const char *schema, const char *table)
{
    tablename_push_part(out, schema, schema[0] == '"' || strchr(schema, '.') != NULL);
    buf_push_char(out, '.');
    tablename_push_part(out, table, table[0] == '"');
}

char *tablename_text(const char *schema, const char *table)
{
    struct buf text;
    buf_init(&text, NAME_MAX_BYTES);
    tablename_push(&text, schema, table);
    return buf_detach(&text);
}
