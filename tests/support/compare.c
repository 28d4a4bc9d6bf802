/* SPDX-License-Identifier: Apache-2.0 */
/* Compares an index with a table. */
#include "compare.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "rowferry/base/buf.h"
#include "sql.h"

#define PAGE_DOCUMENTS 10000
#define PATH_MAX_BYTES 1024
#define TEXT_MAX_BYTES ((size_t)64 << 20)

/* Appends one column of a row in COPY's text format. */
static void push_copy(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '\\':
            buf_push_literal(out, "\\\\");
            break;
        case '\t':
            buf_push_literal(out, "\\t");
            break;
        case '\n':
            buf_push_literal(out, "\\n");
            break;
        case '\r':
            buf_push_literal(out, "\\r");
            break;
        default:
            buf_push_char(out, *text);
        }
    }
}

/* Returns the end of the JSON value at `text`. */
static const char *value_end(const char *text)
{
    size_t depth = 0;
    bool quoted = false;
    for (; *text != '\0'; text++) {
        if (quoted) {
            bool escape = *text == '\\' && text[1] != '\0';
            text += escape ? 1 : 0;
            quoted = escape || *text != '"';
        } else if (*text == '"') {
            quoted = true;
        } else if (*text == '{' || *text == '[') {
            depth++;
        } else if ((*text == '}' || *text == ']') && --depth == 0) {
            return text + 1;
        }
    }
    return text;
}

/* Like strstr, which with sanitizers measures the whole rest of the text in each call. */
static const char *next_name(const char *at, const char *name)
{
    while ((at = strchr(at, '"')) != NULL && strncmp(at, name, strlen(name)) != 0) {
        at++;
    }
    return at;
}

/* Copies a hit's _source digit for digit; json-c would round large numbers. */
static const char *next_source(const char *at, struct buf *source)
{
    static const char name[] = "\"_source\":";
    const char *found = next_name(at, name);
    buf_reset(source);
    if (found == NULL) {
        return NULL;
    }
    const char *start = found + strlen(name);
    start += strspn(start, " ");
    const char *end = value_end(start);
    buf_push(source, start, (size_t)(end - start));
    return end;
}

/* Copies one page of the index into the open COPY. Returns the number of hits and the last one's
 * sort value. */
static int64_t copy_page(PGconn *conn, const char *body, struct buf *sort)
{
    struct json_object *page = json_tokener_parse(body);
    struct json_object *hits = NULL;
    ck_assert(json_pointer_get(page, "/hits/hits", &hits) == 0);
    size_t count = json_object_array_length(hits);
    struct buf source;
    struct buf row;
    buf_init(&source, TEXT_MAX_BYTES);
    buf_init(&row, TEXT_MAX_BYTES);
    const char *at = body;
    for (size_t i = 0; i < count; i++) {
        struct json_object *hit = json_object_array_get_idx(hits, i);
        at = next_source(at, &source);
        ck_assert_msg(at != NULL, "a hit without _source");
        buf_reset(&row);
        push_copy(&row, json_object_get_string(json_object_object_get(hit, "_id")));
        buf_push_char(&row, '\t');
        push_copy(&row, buf_text(&source));
        buf_push_char(&row, '\n');
        ck_assert_int_eq(PQputCopyData(conn, buf_text(&row), (int)row.len), 1);
        buf_reset(sort);
        buf_push_text(sort, json_object_to_json_string_ext(json_object_object_get(hit, "sort"),
                                                           JSON_C_TO_STRING_NOSLASHESCAPE));
    }
    buf_release(&source);
    buf_release(&row);
    json_object_put(page);
    return (int64_t)count;
}

static void copy_documents(PGconn *conn, const char *url, const char *path,
                           const char *authorization)
{
    struct buf query;
    struct buf sort;
    buf_init(&query, 1 << 20);
    buf_init(&sort, 1 << 20);
    int64_t count;
    do {
        buf_reset(&query);
        buf_printf(&query, "{\"size\":%d,\"sort\":[{\"source_id\":\"asc\"}]%s%s}", PAGE_DOCUMENTS,
                   sort.len > 0 ? ",\"search_after\":" : "", buf_text(&sort));
        struct reply reply;
        reply_get(&reply, "POST", url, path, buf_text(&query), authorization);
        ck_assert_msg(reply.status == 200, "%s: %d %s", path, reply.status, reply.body);
        count = copy_page(conn, reply.body, &sort);
        reply_release(&reply);
    } while (count == PAGE_DOCUMENTS);
    buf_release(&query);
    buf_release(&sort);
}

static void load_documents(PGconn *conn, const char *url, const char *index,
                           const char *authorization)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof(path), "/%s/_refresh", index);
    json_object_put(reply_json(200, "POST", url, path, NULL, authorization));
    sql_exec(conn, "drop table if exists pg_temp.documents;"
                   "create temp table documents (id text, document text)");
    PGresult *copy = PQexec(conn, "copy documents from stdin");
    ck_assert_int_eq(PQresultStatus(copy), PGRES_COPY_IN);
    PQclear(copy);
    snprintf(path, sizeof(path), "/%s/_search", index);
    copy_documents(conn, url, path, authorization);
    ck_assert_int_eq(PQputCopyEnd(conn, NULL), 1);
    PGresult *ended = PQgetResult(conn);
    ck_assert_msg(PQresultStatus(ended) == PGRES_COMMAND_OK, "%s", PQerrorMessage(conn));
    PQclear(ended);
    PQclear(PQgetResult(conn));
}

void compare(struct comparison *c, PGconn *conn, const char *query, const char *url,
             const char *index, const char *authorization)
{
    load_documents(conn, url, index, authorization);
    sql_exec(conn,
             "drop table if exists pg_temp.wanted;"
             "create temp table wanted as select id, jsonb_strip_nulls(document) as document"
             "  from (%s) as q(id, document)",
             query);
    sql_exec(conn, "drop table if exists pg_temp.differing;"
                   "create temp table differing as"
                   " select id, w.document::text as wanted, d.document::jsonb::text as found"
                   "   from wanted w full join documents d using (id)"
                   "  where w.document::text is distinct from d.document::jsonb::text");
    c->rows = sql_int(conn, "select count(*) from wanted");
    c->documents = sql_int(conn, "select count(*) from documents");
    c->differences = sql_int(conn, "select count(*) from differing");
    c->first = sql_text(conn, "select format(E'%%s:\\n row      %%s\\n document %%s', id,"
                              " coalesce(wanted, 'none'), coalesce(found, 'none'))"
                              " from differing order by id limit 1");
}

void expect_equal(int64_t rows, PGconn *conn, const char *query, const char *url, const char *index,
                  const char *authorization)
{
    struct comparison c;
    compare(&c, conn, query, url, index, authorization);
    ck_assert_msg(c.differences == 0, "%lld of %lld rows and %lld documents differ: %s",
                  (long long)c.differences, (long long)c.rows, (long long)c.documents, c.first);
    ck_assert_int_eq(c.documents, rows);
    free(c.first);
}

char *compare_table(const char *table, const char *key)
{
    struct buf query;
    buf_init(&query, 65536);
    /* append a point to whole seconds and five zeros to every fraction; keep six digits */
    buf_printf(&query,
               "select %s::text, regexp_replace(regexp_replace(regexp_replace(to_jsonb(t)::text,"
               " '(\"[0-9-]{10}T[0-9:]{8})[+]00:00\"', '\\1.0+00:00\"', 'g'),"
               " '(\"[0-9-]{10}T[0-9:]{8}[.][0-9]+)[+]00:00\"', '\\100000Z\"', 'g'),"
               " '(\"[0-9-]{10}T[0-9:]{8}[.][0-9]{6})0*Z\"', '\\1Z\"', 'g')::jsonb"
               " || jsonb_build_object('source_id', %s::text) from %s as t",
               key, key, table);
    return buf_detach(&query);
}
