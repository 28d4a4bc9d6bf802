/* SPDX-License-Identifier: Apache-2.0 */
/* The installation in the source for a table. */
#include "catalog/installed.h"

#include <stdlib.h>
#include <string.h>

#include "catalog/members.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "sql/sqlquote.h"

#define TEXT_MAX_BYTES ((size_t)64 * 1024)

static void installed_report_absent(const struct installed *found, bool ours, struct buf *why)
{
    if (ours) {
        buf_printf(why,
                   "the change log in this database belongs to \"%s\", which has no right over the "
                   "table",
                   found->owner);
    } else {
        buf_push_literal(why, "the change log is not installed in this database");
    }
}

/* Queries only the catalog. */
static int installed_look_schema(struct pg *pg, const struct table *table, struct installed *out,
                                 struct buf *why, struct err *err)
{
    struct schema {
        bool exists, usable, ours, fits, installs;
        char owner[sizeof(out->owner)];
        char installer[sizeof(out->installer)];
    } found = {0};
    static const struct pg_member members[] = {
        PG_MEMBER(struct schema, exists),    PG_MEMBER(struct schema, usable),
        PG_MEMBER(struct schema, ours),      PG_MEMBER(struct schema, owner),
        PG_MEMBER(struct schema, fits),      PG_MEMBER(struct schema, installs),
        PG_MEMBER(struct schema, installer), {0}};
    int rc = pg_trust_log(pg, err);
    if (rc == 0) {
        rc = pg_ask_row(pg, "look_schema", PG_PARAMS(PG_INT(table->oid)), members, &found, err);
    }
    if (rc == 0) {
        memcpy(out->owner, found.owner, sizeof(out->owner));
        out->schema = found.exists && found.ours && found.fits;
        memcpy(out->installer, found.installer, sizeof(out->installer));
        out->installs = found.installs;
        if (found.exists && !found.usable) {
            err_set(err, ERR_REJECTED, "permission denied for schema \"rowferry\"");
            memcpy(err->sqlstate, "42501", sizeof(err->sqlstate));
            rc = err_hint(err, "grant usage on schema rowferry to \"%s\"", pg_role(pg));
        } else if (!out->schema) {
            installed_report_absent(out, found.exists && found.ours, why);
        }
    }
    return rc;
}

static int installed_look_capture(struct pg *pg, const struct table *table, struct installed *out,
                                  struct buf *why, struct err *err)
{
    static const struct pg_member members[] = {PG_MEMBER(struct installed, version),
                                               PG_MEMBER(struct installed, capture),
                                               {.type = PG_SKIP},
                                               PG_MEMBER(struct installed, notifies),
                                               PG_MEMBER(struct installed, lacks),
                                               {0}};
    struct buf key;
    buf_init(&key, TEXT_MAX_BYTES);
    sqlquote_array(&key, (const char *const *)table->key, table->key_count);
    int rc = pg_ask_row(pg, "look_capture", PG_PARAMS(PG_INT(table->oid), buf_text(&key)), members,
                        out, err);
    if (rc == 0 && out->capture[0] == '\0') {
        buf_push_text(why, out->lacks[0] != '\0' ? "this role may not read the table"
                                                 : "no triggers are installed for this table and "
                                                   "key, or this role may not see them");
    }
    buf_release(&key);
    return rc;
}

static int installed_look_triggers(struct pg *pg, const struct table *table, struct installed *out,
                                   struct buf *why, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, "look_triggers", PG_PARAMS(PG_INT(table->oid), out->capture), err);
    if (rc == 0 && pg_rows(r) > 0) {
        bool itself = pg_true(r, 0, 3);
        out->state = INSTALL_BROKEN;
        buf_printf(why, "the trigger \"rowferry_%s_%s\" is %s%s%s", out->capture, pg_text(r, 0, 0),
                   pg_true(r, 0, 1) ? "missing or calls another function"
                                    : "disabled or not always enabled",
                   itself ? "" : ", in its member ", itself ? "" : pg_text(r, 0, 2));
    } else if (rc == 0) {
        out->state = INSTALL_CURRENT;
    }
    pg_result_release(r);
    return rc;
}

static int installed_look_table(struct pg *pg, const struct table *table, struct installed *out,
                                struct buf *why, struct err *err)
{
    int rc = installed_look_capture(pg, table, out, why, err);
    if (rc < 0 || out->capture[0] == '\0') {
        return rc;
    }
    if (out->version < INSTALLED_VERSION) {
        out->state = INSTALL_OLDER;
        buf_push_literal(why, "the change log was installed by an earlier version");
        return 0;
    }
    return installed_look_triggers(pg, table, out, why, err);
}

int installed_look(struct pg *pg, const struct table *table, struct installed *out, struct buf *why,
                   struct err *err)
{
    struct buf unwanted = {0}; /* takes nothing */
    why = why != NULL ? why : &unwanted;
    *out = (struct installed){.state = INSTALL_ABSENT};
    int rc = installed_look_schema(pg, table, out, why, err);
    if (rc == 0 && out->schema) {
        rc = installed_look_table(pg, table, out, why, err);
    }
    return rc < 0 ? err_context(err, "could not look at the change log") : 0;
}

/* Repeats the look-up after members were added, because another may join in between. A broken state
 * is also checked twice, because another session may have just added the missing triggers. A member
 * that joins later is noticed by the reader. */
static int installed_look_with_members(struct pg *pg, const struct table *table,
                                       struct installed *out, struct buf *why, struct err *err)
{
    bool sure = false;
    for (;;) {
        bool joined = false;
        buf_reset(why);
        int rc = installed_look(pg, table, out, why, err);
        if (rc == 0 && table->tree && out->state >= INSTALL_BROKEN) {
            rc = members_join(pg, out->capture, &joined, err);
        }
        if (rc < 0 || (!joined && (sure || out->state != INSTALL_BROKEN))) {
            return rc;
        }
        sure = !joined;
    }
}

/* Adds the command that completes the installation, with --as if this role may not. */
static int installed_set_hint(const struct installed *found, struct err *err)
{
    bool other = found->installer[0] != '\0';
    if (found->capture[0] == '\0' && found->lacks[0] != '\0') {
        return err_hint(err, "run: %s", found->lacks);
    }
    return err_hint(err, "run: rowferry source %s " ERR_PIPELINE "%s%s%s",
                    found->state == INSTALL_OLDER ? "upgrade" : "install", other ? " --as " : "",
                    other ? found->installer : "",
                    found->state == INSTALL_BROKEN
                        ? "; then everything is copied again, because changes may have been missed"
                        : "");
}

int installed_hint(struct pg *pg, const struct table *table, struct err *err)
{
    struct installed found;
    struct err ignored;
    return installed_look(pg, table, &found, NULL, &ignored) == 0 ? installed_set_hint(&found, err)
                                                                  : (int)err->class;
}

int installed_require(struct pg *pg, const struct table *table, struct installed *out,
                      struct err *err)
{
    struct buf why;
    buf_init(&why, TEXT_MAX_BYTES);
    int rc = pg_writer(pg, &pg, err);
    if (rc == 0) {
        rc = installed_look_with_members(pg, table, out, &why, err);
    }
    if (rc == 0 && out->state != INSTALL_CURRENT) {
        err_set(err, out->state == INSTALL_BROKEN ? ERR_STATE : ERR_REJECTED,
                "cannot read the changes of %s: %s", table->quoted, buf_text(&why));
        rc = installed_set_hint(out, err);
    }
    buf_release(&why);
    return rc;
}

int installed_require_current(struct pg *pg, const struct table *table, struct err *err)
{
    struct installed found;
    return installed_require(pg, table, &found, err);
}

int installed_read(struct pg *pg, const struct table *table, enum install_state *state,
                   struct buf *why, struct err *err)
{
    struct installed found;
    int rc = installed_look(pg, table, &found, why, err);
    *state = found.state;
    return rc;
}

/* Appends the rows of a query about the capture: a consumer and a property of it. */
static int installed_ask_consumers(struct pg *pg, const struct table *table, const char *question,
                                   const char *between, struct buf *names, struct err *err)
{
    struct installed found;
    struct pg_result *r = NULL;
    int rc = installed_look(pg, table, &found, NULL, err);
    if (rc < 0 || found.state < INSTALL_BROKEN) {
        return rc;
    }
    rc = pg_ask(pg, &r, question, PG_PARAMS(found.capture), err);
    for (size_t i = 0; rc == 0 && i < pg_rows(r); i++) {
        buf_printf(names, "%s\"%s\" %s %s", names->len > 0 ? ", " : "", pg_text(r, i, 0), between,
                   pg_text(r, i, 1));
    }
    pg_result_release(r);
    return rc;
}

int installed_stale(struct pg *pg, const struct table *table, struct buf *names, struct err *err)
{
    return installed_ask_consumers(pg, table, "look_stale", "since", names, err);
}

int installed_left(struct pg *pg, const struct table *table, struct buf *names, struct err *err)
{
    return installed_ask_consumers(pg, table, "look_left", "relies on", names, err);
}

int installed_beside(struct pg *pg, const struct table *table, struct install_beside *out,
                     struct err *err)
{
    static const struct pg_member members[] = {PG_MEMBER(struct install_beside, publications),
                                               PG_MEMBER(struct install_beside, dumper),
                                               {0}};
    *out = (struct install_beside){0};
    return pg_ask_row(pg, "look_beside", PG_PARAMS(PG_INT(table->oid)), members, out, err);
}

void installed_beside_release(struct install_beside *b)
{
    free(b->publications);
    free(b->dumper);
    *b = (struct install_beside){0};
}
