/* SPDX-License-Identifier: Apache-2.0 */
/* Installs the change log, prints it for a DBA, and removes it. */
#include "rowferry/source/catalog/install.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "catalog/installed.h"
#include "pg/pg_private.h"
#include "pg/template.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/embed.h"
#include "rowferry/base/text.h"
#include "rowferry/source/catalog/keytext.h"
#include "rowferry/source/catalog/review.h"
#include "sql/sqlquote.h"

#define SCRIPT_MAX_BYTES ((size_t)1 << 20)
#define LOCK_TRIES 10
#define LOCK_TIMEOUT_MS 2000
#define LOCK_PAUSE_MS 200

/* Appends a script with its placeholders filled. */
static void install_push_script(struct buf *out, const char *name, const struct table *t,
                                const char *reader, const char *notify)
{
    enum { RELATION, KEY, EXPRESSION, SCHEMA, READER, NAME, TEXTS };
    struct buf quoted[TEXTS];
    struct buf text;
    buf_init(&text, SCRIPT_MAX_BYTES);
    for (int i = 0; i < TEXTS; i++) {
        buf_init(&quoted[i], SCRIPT_MAX_BYTES);
    }
    sqlquote_literal(&quoted[RELATION], t->quoted);
    sqlquote_array(&text, (const char *const *)t->key, t->key_count);
    sqlquote_literal(&quoted[KEY], buf_text(&text));
    buf_reset(&text);
    keytext_push_recorded(&text, "r", t);
    sqlquote_literal(&quoted[EXPRESSION], buf_text(&text));
    sqlquote_identifier(&quoted[SCHEMA], t->schema);
    sqlquote_identifier(&quoted[READER], reader != NULL ? reader : "READER");
    sqlquote_literal(&quoted[NAME], reader != NULL ? reader : "READER");
    const struct placeholder places[] = {{"relation", buf_text(&quoted[RELATION])},
                                         {"key", buf_text(&quoted[KEY])},
                                         {"expression", buf_text(&quoted[EXPRESSION])},
                                         {"schema", buf_text(&quoted[SCHEMA])},
                                         {"table", t->quoted},
                                         {"reader", buf_text(&quoted[READER])},
                                         {"name", buf_text(&quoted[NAME])},
                                         {"notify", notify},
                                         {0}};
    template_fill(out, embed_text(source_sql, name), places);
    buf_release(&text);
    for (int i = 0; i < TEXTS; i++) {
        buf_release(&quoted[i]);
    }
}

/* Escapes the name, because a line break in it would end the comment. */
static void install_push_comment(struct buf *out, const char *words, const struct table *t)
{
    buf_printf(out, "\n-- %s ", words);
    text_escape(out, t->quoted, strlen(t->quoted));
    buf_push_literal(out, ".\n");
}

/* Appends one way past row security: the statement, or only a comment about it. */
static void install_push_way(const struct review_right *way, bool as_comment, const struct table *t,
                             struct buf *out)
{
    install_push_comment(out,
                         as_comment ? "If that is impossible, there is another way for"
                                    : "Row security hides rows from the reader of",
                         t);
    buf_push_literal(out, "-- Let ");
    text_escape(out, way->words, strlen(way->words));
    buf_push_text(out, as_comment ? " run: " : " run:\n");
    if (as_comment) {
        text_escape(out, way->statement, strlen(way->statement));
    } else {
        buf_push_text(out, way->statement);
    }
    buf_push_literal(out, ";\n");
}

/* Returns the way that this session's role can take, or the best one. */
static size_t install_choose_way(const struct pg *pg, const struct review_rights *ways)
{
    char self[128];
    snprintf(self, sizeof(self), "\"%s\"", pg_role(pg));
    for (size_t i = 0; i < ways->count; i++) {
        if (strcmp(ways->items[i].words, self) == 0) {
            return i;
        }
    }
    return 0;
}

/* Appends the statement that lets the reader pass row security. It is no part of the transaction,
 * because another role than the one that runs the rest may be needed. */
static int install_push_bypass(struct pg *pg, const struct table *t, const char *reader,
                               struct buf *out, struct err *err)
{
    struct review_rights ways;
    int rc = review_bypass(pg, t, reader, &ways, err);
    size_t chosen = install_choose_way(pg, &ways);
    if (rc == 0 && ways.count > 0) {
        install_push_way(&ways.items[chosen], false, t, out);
    }
    for (size_t i = 0; rc == 0 && i < ways.count; i++) {
        if (i != chosen) {
            install_push_way(&ways.items[i], true, t, out);
        }
    }
    review_rights_release(&ways);
    return rc;
}

int install_print(struct pg *pg, const struct table *table, const char *reader, struct buf *out,
                  struct err *err)
{
    const struct placeholder places[] = {{"look_log", embed_text(source_sql, "look_log")}, {0}};
    int rc = catalog_capturable(table, err);
    if (rc < 0) {
        return rc;
    }
    /* the session that runs the script may have other settings, and more rights than the owner */
    template_fill(out, embed_text(source_sql, "install_begin"), places);
    if (reader != NULL) {
        install_push_script(out, "install_roles", table, reader, NULL);
    }
    buf_push_text(out, embed_text(source_sql, "001_change_log"));
    install_push_comment(out, "The triggers of", table);
    install_push_script(out, "install_capture", table, reader, NULL);
    buf_printf(out, "\n-- What the reader needs%s.\n",
               reader == NULL ? "; replace \"READER\" by its role" : "");
    install_push_script(out, "install_grants", table, reader, NULL);
    buf_push_literal(out, "\ncommit;\n");
    return reader != NULL ? install_push_bypass(pg, table, reader, out, err) : 0;
}

/* Runs a script that takes strong locks. It has a short lock timeout and is retried, so that the
 * application's writes never queue behind it for long. */
static int install_run_locking(struct pg *pg, const char *script, struct err *err)
{
    struct buf sql;
    buf_init(&sql, SCRIPT_MAX_BYTES);
    buf_printf(&sql, "begin read write;" PG_GUARD_PATH "; set local lock_timeout = %d;\n",
               LOCK_TIMEOUT_MS);
    buf_push_text(&sql, script);
    buf_push_literal(&sql, "\ncommit;");
    int rc = 0;
    for (int i = 0; i < LOCK_TRIES; i++) {
        struct err ignored;
        rc = pg_script(pg, buf_text(&sql), err);
        if (rc == 0) {
            break;
        }
        int ended = pg_script(pg, "rollback", &ignored);
        if (rc != ERR_TRANSIENT || ended < 0) {
            break;
        }
        clock_sleep(LOCK_PAUSE_MS * (i + 1), NULL);
    }
    buf_release(&sql);
    return rc;
}

/* Objects in the schema may run their owner's code with the rights of the installing role. */
static int install_require_owner(const struct installed *found, struct err *err)
{
    if (found->installs) {
        return 0;
    }
    err_set(err, ERR_REJECTED, "cannot install into the schema \"rowferry\": it belongs to \"%s\"",
            found->owner);
    return err_hint(err,
                    "connect as \"%s\" (--as %s), or let that role remove its change log first: "
                    "rowferry source uninstall " ERR_PIPELINE,
                    found->owner, found->owner);
}

static int install_explain_rights(const struct table *t, int rc, struct err *err)
{
    if (rc < 0 && strcmp(err->sqlstate, "42501") == 0) {
        err_hint(err,
                 "this needs the right to create a schema, and the table's owner: let a DBA run "
                 "what \"rowferry source print\" shows");
    } else if (rc < 0 && strcmp(err->sqlstate, "42704") == 0) {
        err_hint(err, "create the reader, or let a DBA run what \"rowferry source print\" shows");
    }
    return rc < 0 ? err_context(err, "could not install the change log for %s", t->quoted) : 0;
}

int install_apply(struct pg *pg, const struct table *table, const char *reader, struct err *err)
{
    struct buf script;
    struct installed found = {0};
    int rc = catalog_capturable(table, err);
    rc = rc == 0 ? installed_look(pg, table, &found, NULL, err) : rc;
    rc = rc == 0 ? install_require_owner(&found, err) : rc;
    if (rc < 0) {
        return rc;
    }
    buf_init(&script, SCRIPT_MAX_BYTES);
    if (!found.schema || found.version < INSTALLED_VERSION) {
        buf_push_text(&script, embed_text(source_sql, "001_change_log"));
    }
    if (found.state != INSTALL_CURRENT) {
        install_push_script(&script, "install_capture", table, reader, NULL);
    }
    if (reader != NULL) {
        install_push_script(&script, "install_grants", table, reader, NULL);
    }
    rc = script.len > 0 ? install_run_locking(pg, buf_text(&script), err) : 0;
    buf_release(&script);
    return install_explain_rights(table, rc, err);
}

int install_notifies(struct pg *pg, const struct table *table, bool *notifies, struct err *err)
{
    struct installed found = {0};
    int rc = installed_look(pg, table, &found, NULL, err);
    *notifies = rc == 0 && found.notifies;
    return rc;
}

static void install_push_notify(struct buf *out, const struct table *table, bool on)
{
    install_push_script(out, "install_notify", table, NULL, on ? "true" : "false");
}

void install_print_notify(const struct table *table, bool on, struct buf *out)
{
    install_push_comment(out,
                         on ? "Send NOTIFY with each statement that changes"
                            : "No NOTIFY with a statement that changes",
                         table);
    install_push_notify(out, table, on);
}

int install_notify(struct pg *pg, const struct table *table, bool on, struct err *err)
{
    struct buf script;
    struct installed found = {0};
    int rc = installed_look(pg, table, &found, NULL, err);
    if (rc < 0 || found.notifies == on) {
        return rc;
    }
    rc = install_require_owner(&found, err);
    if (rc < 0) {
        return rc;
    }
    buf_init(&script, SCRIPT_MAX_BYTES);
    install_push_notify(&script, table, on);
    rc = install_run_locking(pg, buf_text(&script), err);
    buf_release(&script);
    return install_explain_rights(table, rc, err);
}

static int install_remove_found(struct pg *pg, const struct table *table,
                                const struct installed *found, struct err *err)
{
    struct buf script;
    bool left = false; /* another table is captured */
    int rc = install_require_owner(found, err);
    if (rc < 0) {
        return rc;
    }
    buf_init(&script, SCRIPT_MAX_BYTES);
    install_push_script(&script, "remove_capture", table, NULL, NULL);
    rc = install_run_locking(pg, buf_text(&script), err);
    buf_release(&script);
    if (rc == 0) {
        rc = pg_query_bool(pg, "select exists (select from rowferry.capture)", NULL, 0, &left, err);
    }
    return rc < 0 || left ? rc
                          : install_run_locking(pg, embed_text(source_sql, "remove_schema"), err);
}

int install_remove(struct pg *pg, const struct table *table, struct err *err)
{
    struct installed found = {0};
    int rc = installed_look(pg, table, &found, NULL, err);
    if (rc == 0 && found.schema) {
        rc = install_remove_found(pg, table, &found, err);
    }
    return rc < 0 ? err_context(err, "could not remove the change log of %s", table->quoted) : 0;
}
