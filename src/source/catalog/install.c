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
#include "rowferry/source/sql/sqlarray.h"

#define SCRIPT_MAX_BYTES ((size_t)1 << 20)
#define LOCK_TRIES 10
#define LOCK_TIMEOUT_MS 2000
#define LOCK_PAUSE_MS 200

/* Quoted texts for the placeholders of the scripts. */
struct quoted {
    const char *notify;    /* "true", "false" or null */
    struct buf relation;   /* '"public"."articles"'::regclass */
    struct buf key;        /* '{"id"}' */
    struct buf expression; /* the key's text, as a literal */
    struct buf schema;
    struct buf reader;
};

static void install_quoted_release(struct quoted *q)
{
    buf_release(&q->relation);
    buf_release(&q->key);
    buf_release(&q->expression);
    buf_release(&q->schema);
    buf_release(&q->reader);
}

static int install_push_key(struct pg *pg, const struct table *t, struct quoted *q, struct err *err)
{
    struct buf text;
    const char *const *key = (const char *const *)t->key;
    buf_init(&text, SCRIPT_MAX_BYTES);
    sqlarray_push(&text, key, t->key_count);
    int rc = pg_push_literal(pg, &q->key, buf_text(&text), err);
    buf_reset(&text);
    if (rc == 0) {
        rc = keytext_push_recorded(pg, &text, "r", t, err);
    }
    if (rc == 0) {
        rc = pg_push_literal(pg, &q->expression, buf_text(&text), err);
    }
    buf_release(&text);
    return rc;
}

static int install_quote(struct pg *pg, const struct table *t, const char *reader, struct quoted *q,
                         struct err *err)
{
    buf_init(&q->relation, SCRIPT_MAX_BYTES);
    buf_init(&q->key, SCRIPT_MAX_BYTES);
    buf_init(&q->expression, SCRIPT_MAX_BYTES);
    buf_init(&q->schema, SCRIPT_MAX_BYTES);
    buf_init(&q->reader, SCRIPT_MAX_BYTES);
    int rc = pg_push_literal(pg, &q->relation, t->quoted, err);
    if (rc == 0) {
        rc = install_push_key(pg, t, q, err);
    }
    if (rc == 0) {
        rc = pg_push_identifier(pg, &q->schema, t->schema, err);
    }
    if (rc == 0) {
        rc = pg_push_identifier(pg, &q->reader, reader != NULL ? reader : "READER", err);
    }
    return rc;
}

static void install_push_filled(struct buf *out, const char *name, const struct table *t,
                                const struct quoted *q)
{
    const struct place places[] = {{"relation", buf_text(&q->relation)},
                                   {"key", buf_text(&q->key)},
                                   {"expression", buf_text(&q->expression)},
                                   {"schema", buf_text(&q->schema)},
                                   {"table", t->quoted},
                                   {"reader", buf_text(&q->reader)},
                                   {"notify", q->notify != NULL ? q->notify : "null"},
                                   {0}};
    template_fill(out, embed_text(source_sql, name), places);
}

/* Escapes the name, because a line break in it would end the comment. */
static void install_push_comment(struct buf *out, const char *words, const struct table *t)
{
    buf_printf(out, "\n-- %s ", words);
    text_escape(out, t->quoted, strlen(t->quoted));
    buf_push_literal(out, ".\n");
}

/* The session that runs the script may have other settings, and more rights than the schema's
 * owner. */
static void install_push_beginning(struct buf *out)
{
    const struct place places[] = {{"look_log", embed_text(source_sql, "look_log")}, {0}};
    template_fill(out, embed_text(source_sql, "install_begin"), places);
}

int install_print(struct pg *pg, const struct table *table, const char *reader, struct buf *out,
                  struct err *err)
{
    struct quoted q = {0};
    int rc = catalog_capturable(table, err);
    if (rc < 0) {
        return rc;
    }
    rc = install_quote(pg, table, reader, &q, err);
    if (rc == 0) {
        install_push_beginning(out);
        buf_push_text(out, embed_text(source_sql, "001_change_log"));
        install_push_comment(out, "The triggers of", table);
        install_push_filled(out, "install_capture", table, &q);
        buf_printf(out, "\n-- What the reader needs%s.\n",
                   reader == NULL ? "; replace \"READER\" by its role" : "");
        install_push_filled(out, "install_grants", table, &q);
        buf_push_literal(out, "\ncommit;\n");
    }
    install_quoted_release(&q);
    return rc;
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
                    "connect as \"%s\" (--as URI), or let that role remove its change log first: "
                    "rowferry source uninstall",
                    found->owner);
}

static int install_explain_rights(const struct table *t, int rc, struct err *err)
{
    if (rc < 0 && strcmp(err->sqlstate, "42501") == 0) {
        err_hint(err, "it takes the right to create a schema and the table's owner: let a DBA run "
                      "what \"rowferry source print\" shows");
    }
    return rc < 0 ? err_context(err, "could not install the change log for %s", t->quoted) : 0;
}

int install_apply(struct pg *pg, const struct table *table, const char *reader, struct err *err)
{
    struct quoted q = {0};
    struct buf script;
    struct installed found = {0};
    int rc = catalog_capturable(table, err);
    if (rc < 0) {
        return rc;
    }
    buf_init(&script, SCRIPT_MAX_BYTES);
    rc = install_quote(pg, table, reader, &q, err);
    if (rc == 0) {
        rc = installed_look(pg, table, &found, NULL, err);
    }
    if (rc == 0) {
        rc = install_require_owner(&found, err);
    }
    if (rc == 0) {
        if (!found.schema || found.version < INSTALLED_VERSION) {
            buf_push_text(&script, embed_text(source_sql, "001_change_log"));
        }
        if (found.state != INSTALL_CURRENT) {
            install_push_filled(&script, "install_capture", table, &q);
        }
        if (reader != NULL) {
            install_push_filled(&script, "install_grants", table, &q);
        }
        rc = script.len > 0 ? install_run_locking(pg, buf_text(&script), err) : 0;
        rc = install_explain_rights(table, rc, err);
    }
    install_quoted_release(&q);
    buf_release(&script);
    return rc;
}

int install_notifies(struct pg *pg, const struct table *table, bool *notifies, struct err *err)
{
    struct installed found = {0};
    int rc = installed_look(pg, table, &found, NULL, err);
    *notifies = rc == 0 && found.notifies;
    return rc;
}

static int install_fill_notify(struct pg *pg, const struct table *table, bool on,
                               struct buf *script, struct err *err)
{
    struct quoted q = {0};
    int rc = install_quote(pg, table, NULL, &q, err);
    q.notify = on ? "true" : "false";
    if (rc == 0) {
        install_push_filled(script, "install_notify", table, &q);
    }
    install_quoted_release(&q);
    return rc;
}

int install_print_notify(struct pg *pg, const struct table *table, bool on, struct buf *out,
                         struct err *err)
{
    install_push_comment(out,
                         on ? "Send NOTIFY with each statement that changes"
                            : "No NOTIFY with a statement that changes",
                         table);
    return install_fill_notify(pg, table, on, out, err);
}

int install_notify(struct pg *pg, const struct table *table, bool on, struct err *err)
{
    struct buf script;
    buf_init(&script, SCRIPT_MAX_BYTES);
    struct installed found = {0};
    int rc = installed_look(pg, table, &found, NULL, err);
    bool already = rc == 0 && found.notifies;
    if (rc == 0 && already != on) {
        rc = install_require_owner(&found, err);
    }
    if (rc == 0 && already != on) {
        rc = install_fill_notify(pg, table, on, &script, err);
        rc = rc == 0 ? install_run_locking(pg, buf_text(&script), err) : rc;
        rc = install_explain_rights(table, rc, err);
    }
    buf_release(&script);
    return rc;
}

/* Sets *left to true if another table is captured. */
static int install_anything_left(struct pg *pg, bool *left, struct err *err)
{
    struct pg_result *r = NULL;
    int rc =
        pg_query(pg, &r, "one: bool", "select exists (select from rowferry.capture)", NULL, 0, err);
    *left = rc < 0 || pg_true(r, 0, 0);
    pg_result_release(r);
    return rc;
}

int install_remove(struct pg *pg, const struct table *table, struct err *err)
{
    struct quoted q = {0};
    struct buf script;
    struct installed found = {0};
    bool left = true;
    buf_init(&script, SCRIPT_MAX_BYTES);
    int rc = install_quote(pg, table, NULL, &q, err);
    if (rc == 0) {
        rc = installed_look(pg, table, &found, NULL, err);
    }
    if (rc == 0 && found.schema) {
        rc = install_require_owner(&found, err);
    }
    if (rc == 0 && found.schema) {
        install_push_filled(&script, "remove_capture", table, &q);
        rc = install_run_locking(pg, buf_text(&script), err);
        if (rc == 0) {
            rc = install_anything_left(pg, &left, err);
        }
        if (rc == 0 && !left) {
            rc = install_run_locking(pg, embed_text(source_sql, "remove_schema"), err);
        }
    }
    install_quoted_release(&q);
    buf_release(&script);
    return rc < 0 ? err_context(err, "could not remove the change log of %s", table->quoted) : 0;
}
