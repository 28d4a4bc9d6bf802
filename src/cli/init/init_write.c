/* SPDX-License-Identifier: Apache-2.0 */
/* Renders the configuration for people: JSON, with a reason beside each choice. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "init/init.h"
#include "output/terminal.h"
#include "rowferry/base/text.h"
#include "rowferry/base/units.h"
#include "rowferry/source/pg/pg.h"

#define SHARD_BYTES ((int64_t)30 << 30)
#define SHARDS_MOST 64
#define FIELDS_LIMIT 1000 /* the service's default */

static void init_write_push_quoted(struct buf *out, const char *text)
{
    text_json(out, text, strlen(text));
}

static void init_write_push_comment(struct buf *out, int indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends one comment line; line breaks in names are escaped. */
static void init_write_push_comment(struct buf *out, int indent, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0) {
        mem_exhausted();
    }
    buf_printf(out, "%*s//%s", indent, "", len > 0 ? " " : "");
    terminal_push_safe(out, text, (size_t)len);
    buf_push_char(out, '\n');
    free(text);
}

/* --- head, source, service -------------------------------------------------------------------- */

/* Returns the file name as in a command line. */
static const char *init_write_file_of(const struct init *i)
{
    const char *file = i->arguments->values[OPTION_OUTPUT];
    return file != NULL && strcmp(file, "-") != 0 ? file : "FILE";
}

static void init_write_push_step(struct buf *out, const struct init *i, const char *command,
                                 const char *what)
{
    init_write_push_comment(out, 0, "  rowferry -c %s %-14s   %s", init_write_file_of(i), command,
                            what);
}

static void init_write_push_head(struct buf *out, const struct init *i)
{
    const struct survey *s = &i->survey;
    init_write_push_comment(out, 0, "The %s %s of the database %s, as the index %s.",
                            s->view != NULL ? "view" : "table", s->view != NULL ? s->view : s->name,
                            s->identity.database, i->index);
    init_write_push_comment(
        out, 0,
        "Proposed by rowferry init: it works as it is, and you can change each line. Next:");
    if (i->capture != INIT_CURSOR && s->log != INSTALL_CURRENT) {
        if (i->capture == INIT_LOG_BY_DBA) {
            init_write_push_step(out, i, "source print",
                                 "SQL for a DBA: the change log and grants");
        } else {
            init_write_push_step(out, i, "source install", "the change log in the database");
        }
    }
    init_write_push_step(out, i, "check",
                         "checks everything that a sync needs, and changes nothing");
    init_write_push_step(out, i, "sync", "builds the index; after that, sends what changed");
}

static void init_write_push_source(struct buf *out, const struct init *i)
{
    const struct pg_identity *id = &i->survey.identity;
    buf_push_literal(out, "  \"source\": {\n");
    init_write_push_comment(out, 4,
                            "PostgreSQL %d.%d. This file has no password: it comes from ~/.pgpass "
                            "or $PGPASSWORD, or from",
                            id->server_version / 10000, id->server_version % 10000);
    init_write_push_comment(out, 4, "  \"password\": { \"file\": \"/run/secrets/pg\" }");
    if (i->survey.may_install) {
        init_write_push_comment(
            out, 4,
            "Role \"%s\" may do more than a sync needs. \"rowferry source print "
            "--reader rowferry\" shows",
            id->role);
        init_write_push_comment(out, 4,
                                "the SQL for a role of its own; run it and name that role here.");
    }
    if (i->capture == INIT_LOG_PRIMARY) {
        init_write_push_comment(out, 4,
                                "This is a standby, and the change log is written on its primary: "
                                "name it here before the next step,");
        init_write_push_comment(out, 4, "  \"primary\": \"postgresql://...\"");
    }
    if (pg_is_unverified(i->arguments->values[OPTION_SOURCE])) {
        init_write_push_comment(out, 4,
                                "The server's identity is not verified. With the certificate of "
                                "the authority that signed the server's,");
        init_write_push_comment(out, 4, "add to the URI: ?sslmode=verify-full&sslrootcert=FILE");
    }
    buf_push_literal(out, "    \"uri\": ");
    init_write_push_quoted(out, i->arguments->values[OPTION_SOURCE]);
    buf_push_literal(out, "\n  },\n");
}

static void init_write_push_product(struct buf *out, const struct init *i)
{
    if (i->trouble[0] != '\0') {
        init_write_push_comment(out, 4, "It could not be identified: %s.", i->trouble);
    } else {
        init_write_push_comment(out, 4, "%s%s%s%s answered.", product_name(i->product.product),
                                i->product.version[0] != '\0' ? " " : "", i->product.version,
                                i->product.stand_in ? " (devsearch, a stand-in)" : "");
    }
}

static void init_write_push_auth(struct buf *out, const struct init *i)
{
    const struct init_credential *c = &i->credential;
    if (c->api_key != NULL) {
        buf_printf(out, "    \"auth\": { \"api_key\": { \"env\": \"%s\" } },\n", INIT_KEY_VARIABLE);
    } else if (c->user != NULL) {
        buf_push_literal(out, "    \"auth\": { \"user\": ");
        init_write_push_quoted(out, c->user);
        buf_printf(out, ", \"password\": { \"env\": \"%s\" } },\n", INIT_PASSWORD_VARIABLE);
    } else {
        init_write_push_comment(out, 4, "Requests are anonymous, unless a credential is named:");
        init_write_push_comment(out, 4, "  \"auth\": { \"api_key\": { \"env\": \"%s\" } },",
                                INIT_KEY_VARIABLE);
    }
}

static void init_write_push_service(struct buf *out, const struct init *i)
{
    buf_push_literal(out, "  \"service\": {\n");
    init_write_push_product(out, i);
    init_write_push_auth(out, i);
    if (i->credential.ca_file != NULL) {
        buf_push_literal(out, "    \"tls\": { \"ca_file\": ");
        init_write_push_quoted(out, i->credential.ca_file);
        buf_push_literal(out, " },\n");
    }
    buf_push_literal(out, "    \"url\": ");
    init_write_push_quoted(out, i->url);
    buf_push_literal(out, "\n  },\n");
}

/* --- from ------------------------------------------------------------------------------------- */

static void init_write_push_list(struct buf *out, char *const *items, size_t count)
{
    buf_push_char(out, '[');
    for (size_t k = 0; k < count; k++) {
        buf_push_text(out, k > 0 ? ", " : "");
        init_write_push_quoted(out, items[k]);
    }
    buf_push_char(out, ']');
}

static void init_write_push_key(struct buf *out, const struct survey *s)
{
    if (s->key_primary) {
        init_write_push_comment(out, 6, "The primary key becomes the document's _id.");
    } else {
        init_write_push_comment(
            out, 6, "There is no primary key: the unique index %s identifies a row.", s->key_index);
    }
    if (!s->key_filled) {
        init_write_push_comment(out, 6,
                                "Its columns may be NULL, and such a row can only be a dead "
                                "letter: set them NOT NULL.");
    }
    buf_push_literal(out, "      \"key\": ");
    init_write_push_list(out, s->table->key, s->table->key_count);
    buf_push_literal(out, ",\n");
}

/* Appends the query twice: readable in a comment, then as a JSON text. */
static void init_write_push_query(struct buf *out, const struct survey *s)
{
    struct buf flat;
    buf_init(&flat, INIT_TEXT_BYTES);
    init_write_push_comment(out, 6, "%s:",
                            s->view != NULL ? "The rows are those of the view, by"
                                            : "Each document with rows of other tables, by");
    for (const char *line = s->lines; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        init_write_push_comment(out, 6, "  %.*s", (int)len, line);
        line += len + (line[len] == '\n');
    }
    for (const char *at = s->lines; *at != '\0'; at++) {
        if (*at == '\n') {
            buf_push_char(&flat, ' ');
            at += strspn(at + 1, " ");
        } else {
            buf_push_char(&flat, *at);
        }
    }
    buf_push_literal(out, "      \"query\": ");
    init_write_push_quoted(out, buf_text(&flat));
    buf_push_literal(out, ",\n");
    buf_release(&flat);
}

static void init_write_push_dependencies(struct buf *out, const struct survey *s)
{
    init_write_push_comment(
        out, 6, "The other tables of a document, and which documents a change there updates.");
    for (size_t k = 0; k < s->doubt_count; k++) {
        init_write_push_comment(out, 6, "Costly: %s.", s->doubts[k]);
    }
    buf_push_literal(out, "      \"depends_on\": [\n");
    for (size_t k = 0; k < s->dependency_count; k++) {
        const struct dependency *d = &s->dependencies[k];
        buf_push_literal(out, "        { \"table\": ");
        init_write_push_quoted(out, d->table);
        buf_push_literal(out, ", \"key\": ");
        init_write_push_list(out, d->key, d->key_count);
        buf_push_literal(out, ",\n          \"keys\": ");
        init_write_push_quoted(out, d->keys);
        buf_push_text(out, k + 1 < s->dependency_count ? " },\n" : " }\n");
    }
    buf_push_literal(out, "      ],\n");
}

/* Appends the members of mode cursor. */
static void init_write_push_cursor(struct buf *out, const struct init *i)
{
    const struct survey *s = &i->survey;
    buf_push_literal(out, "\"capture\": { \"mode\": \"cursor\", \"column\": ");
    init_write_push_quoted(out, s->cursor);
    buf_push_text(out, i->stream ? " }" : ", \"deletes\": { \"reconcile\": \"1h\" } }");
}

static void init_write_push_log_reason(struct buf *out, const struct init *i)
{
    const struct survey *s = &i->survey;
    if (i->capture == INIT_LOG_BY_DBA) {
        init_write_push_comment(out, 6,
                                "The change log sees each change and delete. Role \"%s\" may not "
                                "install it: let a DBA run",
                                s->identity.role);
        init_write_push_comment(
            out, 6, "what \"rowferry source print\" shows, or use \"source install --as ROLE\".");
    } else {
        init_write_push_comment(out, 6, "The change log sees each change and delete; %s.",
                                s->log == INSTALL_CURRENT ? "it is installed"
                                : i->capture == INIT_LOG  ? "this role may install it"
                                                          : "it needs the primary");
    }
}

static void init_write_push_capture(struct buf *out, const struct init *i)
{
    const struct survey *s = &i->survey;
    struct buf other;
    if (i->capture == INIT_CURSOR) {
        init_write_push_comment(
            out, 6,
            "The column says when a row was changed%s%s: nothing is installed, and rows that",
            s->cursor_index != NULL ? ", with the index " : ", without an index",
            s->cursor_index != NULL ? s->cursor_index : "");
        init_write_push_comment(
            out, 6,
            "are deleted are found once an hour. \"mode\": \"changelog\" sees all at once.");
        buf_push_literal(out, "      ");
        init_write_push_cursor(out, i);
        buf_push_char(out, '\n');
        return;
    }
    init_write_push_log_reason(out, i);
    if (s->cursor != NULL && s->table->query == NULL) {
        buf_init(&other, INIT_TEXT_BYTES);
        init_write_push_cursor(&other, i);
        init_write_push_comment(out, 6, "Without installing anything%s:",
                                s->cursor_index != NULL ? ""
                                                        : " (and it needs an index on the column)");
        init_write_push_comment(out, 6, "  %s", buf_text(&other));
        buf_release(&other);
    }
    buf_push_literal(out, "      \"capture\": { \"mode\": \"changelog\" }\n");
}

static void init_write_push_from(struct buf *out, const struct init *i)
{
    const struct survey *s = &i->survey;
    buf_push_literal(out, "    \"from\": {\n");
    if (s->view != NULL) {
        init_write_push_comment(
            out, 6, "The changes of the view %s are those of the tables behind it.", s->view);
    }
    buf_push_literal(out, "      \"table\": ");
    init_write_push_quoted(out, s->name);
    buf_push_literal(out, ",\n");
    init_write_push_key(out, s);
    if (s->lines != NULL) {
        init_write_push_query(out, s);
    }
    if (s->dependency_count > 0) {
        init_write_push_dependencies(out, s);
    }
    init_write_push_capture(out, i);
    buf_push_literal(out, "    },\n");
}

/* --- to --------------------------------------------------------------------------------------- */

static void init_write_push_mapping_reason(struct buf *out, const struct survey *s)
{
    char n[UNITS_BYTES];
    int64_t rows = s->table->estimated_rows;
    if (s->analysed && rows >= 0) {
        init_write_push_comment(
            out, 6, "From the types, the planner's statistics of %s rows, and a sample.",
            units_count(n, rows));
    } else if (s->view != NULL) {
        init_write_push_comment(
            out, 6, "From the types and a sample: the planner has no statistics of a view.");
    } else {
        init_write_push_comment(out, 6,
                                "From the types and a sample. The planner has no statistics of the "
                                "table: after ANALYZE,");
        init_write_push_comment(out, 6, "init knows better which texts are keywords.");
    }
}

static int init_write_shards(const struct survey *s)
{
    int64_t n = (s->table->bytes + SHARD_BYTES - 1) / SHARD_BYTES;
    return n < 1 ? 1 : n > SHARDS_MOST ? SHARDS_MOST : (int)n;
}

static void init_write_push_settings(struct buf *out, const struct init *i)
{
    char size[UNITS_BYTES];
    size_t fields = propose_fields(&i->mapping);
    bool serverless = i->product.product == PRODUCT_ELASTICSEARCH && i->product.permitted &&
                      i->product.version[0] == '\0';
    if (serverless) {
        init_write_push_comment(out, 6, "The service chooses shards and replicas itself.");
        buf_push_literal(out, "      \"settings\": {}\n");
        return;
    }
    init_write_push_comment(out, 6, "%s on disk: %s. %s", units_size(size, i->survey.table->bytes),
                            init_write_shards(&i->survey) == 1 ? "one shard"
                                                               : "a shard for each 30 GiB",
                            i->nodes == 1  ? "One node: a replica could not be assigned."
                            : i->nodes > 1 ? "A replica, so that one node can fail."
                                           : "A replica, if there are two nodes.");
    buf_printf(out, "      \"settings\": { \"number_of_shards\": %d, \"number_of_replicas\": %d",
               init_write_shards(&i->survey), i->nodes == 1 ? 0 : 1);
    if (fields > FIELDS_LIMIT * 9 / 10) {
        buf_printf(out, ",\n                    \"index.mapping.total_fields.limit\": %zu",
                   (fields / FIELDS_LIMIT + 1) * FIELDS_LIMIT * 2);
    }
    if (propose_has_vector(&i->mapping)) {
        buf_push_literal(out, ",\n                    \"index.knn\": true");
    }
    buf_push_literal(out, " }\n");
}

/* Appends the kind, or what speaks for a data stream. */
static void init_write_push_kind(struct buf *out, const struct init *i)
{
    char rows[UNITS_BYTES];
    char time[UNITS_BYTES];
    const struct review_changes *seen = &i->survey.changes;
    if (i->suits_stream) {
        init_write_push_comment(out, 6,
                                "Rows were only added: %s inserts, no update and no delete in %s "
                                "of the server's",
                                units_count(rows, seen->inserts),
                                units_duration(time, seen->seconds * 1000));
        init_write_push_comment(out, 6, "statistics, and \"%s\" has their time. %s", i->time->name,
                                i->stream ? "If rows will change, it needs an index."
                                          : "If that stays so, a data stream suits them,");
    }
    if (i->stream) {
        buf_push_literal(out, "      \"kind\": \"data_stream\",\n");
    } else if (i->suits_stream) {
        init_write_push_comment(out, 6, "which init writes with --kind data_stream.");
    }
}

static void init_write_push_to(struct buf *out, const struct init *i)
{
    buf_push_literal(out, "    \"to\": {\n");
    init_write_push_kind(out, i);
    init_write_push_comment(out, 6,
                            "The %s that people search, named after application and purpose.",
                            i->stream ? "data stream" : "alias");
    if (i->taken != NULL) {
        init_write_push_comment(out, 6, "\"%s\" is in use.", i->taken);
    }
    buf_push_literal(out, "      \"index\": ");
    init_write_push_quoted(out, i->index);
    buf_push_literal(out, ",\n");
    init_write_push_mapping_reason(out, &i->survey);
    buf_push_literal(out, "      \"mappings\": {\n        \"dynamic\": \"strict\",\n"
                          "        \"properties\": {\n");
    init_write_properties(out, &i->mapping, 10);
    buf_push_literal(out, "        }\n      },\n");
    init_write_push_settings(out, i);
    buf_push_literal(out, "    }");
}

/* Appends only the names that differ. */
static void init_write_push_fields(struct buf *out, const struct proposed *mapping)
{
    size_t count = 0;
    for (size_t k = 0; k < mapping->count; k++) {
        const struct proposed *p = &mapping->children[k];
        if (p->column == NULL || p->left_out) {
            continue;
        }
        if (count++ == 0) {
            buf_push_literal(out, ",\n");
            init_write_push_comment(
                out, 4, "Property and column, if a property cannot have the column's name.");
            buf_push_literal(out, "    \"fields\": {");
        } else {
            buf_push_char(out, ',');
        }
        buf_push_literal(out, "\n      ");
        init_write_push_quoted(out, p->name);
        buf_push_literal(out, ": ");
        init_write_push_quoted(out, p->column);
    }
    buf_push_text(out, count > 0 ? "\n    }" : "");
}

void init_write(struct buf *out, const struct init *i)
{
    init_write_push_head(out, i);
    buf_push_literal(out, "{\n");
    init_write_push_source(out, i);
    init_write_push_service(out, i);
    buf_push_literal(out, "  \"pipelines\": [ {\n    \"name\": ");
    init_write_push_quoted(out, i->pipeline);
    buf_push_literal(out, ",\n");
    init_write_push_comment(
        out, 4, "If you state what you expect, check examines if the service is large enough:");
    init_write_push_comment(
        out, 4,
        "  \"capacity\": { \"query_rate\": 10, \"retention\": \"365d\", \"growth\": 1000 },");
    init_write_push_from(out, i);
    init_write_push_to(out, i);
    init_write_push_fields(out, &i->mapping);
    buf_push_literal(out, "\n  } ]\n}\n");
}
