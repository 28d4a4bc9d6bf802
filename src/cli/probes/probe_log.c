/* SPDX-License-Identifier: Apache-2.0 */
/* check: the change log. Whether it exists and is intact, and for which consumers it is kept. */
#include <stdlib.h>

#include "probes/probe.h"
#include "rowferry/source/catalog/install.h"
#include "rowferry/source/catalog/query.h"
#include "rowferry/state/lock.h"

#define WHY_BYTES 4096

/* Appends nothing if it is installed correctly. */
static int probe_log_push_state(struct check *c, const struct table *table, struct buf *why,
                                struct err *err)
{
    enum install_state state;
    static const char *const texts[] = {
        [INSTALL_ABSENT] = "is not installed",
        [INSTALL_OLDER] = "was installed by an older version",
        [INSTALL_BROKEN] = "is broken",
        [INSTALL_CURRENT] = "",
    };
    int rc = installed_read(c->pg, table, &state, why, err);
    if (rc == 0 && why->len == 0) {
        buf_push_text(why, texts[state]);
    }
    if (rc == 0 && why->len > 0 && table != c->table) {
        buf_printf(why, " (%s)", table->quoted);
    }
    return rc;
}

static void probe_log_report_installed(struct check *c, bool notifies, const char *dumper)
{
    const char *notify = notifies ? ", sends NOTIFY" : "";
    if (dumper != NULL) {
        check_pass(c, "is installed%s; role \"%s\" dumps its tables by " INSTALL_DUMP_REMEDY,
                   notify, dumper);
    } else {
        check_pass(c, "is installed%s", notify);
    }
}

/* Returns true unless it has reported that the log lacks changes, or cannot be read as the index
 * needs it. A process that holds the pipeline finds out by itself. */
static bool probe_log_is_complete(struct check *c)
{
    struct err err = {0};
    struct checkpoint checkpoint = {0};
    char holder[256];
    bool live = false;
    bool held = false;
    struct state *state = NULL;
    int rc = state_open_read_only(&state, c->setup->config->state_path, c->pipeline->name, &err);
    rc = rc == 0 && state != NULL ? lock_look(state, &held, holder, sizeof(holder), &err) : rc;
    rc = rc == 0 && !held ? probe_live_read(c, &checkpoint, &live, &err) : rc;
    if (rc == 0 && live) {
        rc = session_examine_capture(c->pg, c->pipeline, &checkpoint, &err);
    }
    if (rc > 0) { /* no FAIL, because the next sync mends it by itself */
        check_report(c, VERDICT_WARN, err.hint, "%s", err.message);
    } else if (rc < 0) {
        check_fail(c, &err);
    }
    checkpoint_release(&checkpoint);
    state_close(state);
    return rc == 0;
}

static void probe_log_look(struct check *c)
{
    struct err err;
    struct install_beside beside = {0};
    struct buf why;
    const struct from_config *from = &c->pipeline->from;
    buf_init(&why, WHY_BYTES);
    bool notifies = false;
    const struct table *table = c->table;
    int rc = catalog_capturable(c->table, &err);
    if (rc == 0) {
        rc = probe_log_push_state(c, c->table, &why, &err);
    }
    if (rc == 0 && why.len == 0) {
        rc = install_notifies(c->pg, c->table, &notifies, &err);
    }
    if (rc == 0 && why.len == 0) {
        rc = installed_beside(c->pg, c->table, &beside, &err);
    }
    for (size_t i = 0; rc == 0 && why.len == 0 && i < from->dependency_count; i++) {
        rc = probe_table_dependency(c, i, &table, &err);
        rc = rc == 0 ? probe_log_push_state(c, table, &why, &err) : rc;
    }
    if (rc < 0) {
        check_fail(c, &err);
    } else if (why.len > 0) {
        err_set(&err, ERR_REJECTED, "%s", buf_text(&why));
        installed_hint(c->pg, table, &err);
        check_fail(c, &err);
    } else if (probe_log_is_complete(c)) {
        probe_log_report_installed(c, notifies, beside.dumper);
    }
    installed_beside_release(&beside);
    buf_release(&why);
}

/* Finds stale consumers of the table and of the tables that its query depends on. */
static int probe_log_find_stale(struct check *c, struct buf *names, struct err *err)
{
    const struct from_config *from = &c->pipeline->from;
    int rc = installed_stale(c->pg, c->table, names, err);
    for (size_t i = 0; rc == 0 && i < from->dependency_count; i++) {
        const struct table *table = NULL;
        rc = probe_table_dependency(c, i, &table, err);
        rc = rc == 0 ? installed_stale(c->pg, table, names, err) : rc;
    }
    return rc;
}

/* Checks for consumers that do not come back: their entries fill the application's disk. */
static void probe_log_consumers(struct check *c)
{
    struct err err;
    struct buf names;
    buf_init(&names, WHY_BYTES);
    int rc = installed_left(c->pg, c->table, &names, &err);
    if (rc == 0 && names.len > 0) {
        check_report(c, VERDICT_WARN,
                     "attach it again; else the next sync looks for its documents and deletes them",
                     "tables left %s with their rows: %s", c->table->quoted, buf_text(&names));
        buf_release(&names);
        return;
    }
    rc = rc == 0 ? probe_log_find_stale(c, &names, &err) : rc;
    if (rc < 0) {
        check_fail(c, &err);
    } else if (names.len > 0) {
        check_report(c, VERDICT_WARN,
                     "sync it; if it was given up: select rowferry.drop_consumer('...')",
                     "the change log keeps entries for %s", buf_text(&names));
    } else {
        check_pass(c, "no consumer of this role keeps entries of the change log for long");
    }
    buf_release(&names);
}

/* Reported before the change log is installed too: its subscribers stop at our first row. */
static void probe_log_publications(struct check *c)
{
    struct err err;
    struct install_beside beside;
    struct buf remedy;
    buf_init(&remedy, WHY_BYTES);
    if (installed_beside(c->pg, c->table, &beside, &err) < 0) {
        check_fail(c, &err);
    } else if (beside.publications != NULL) {
        buf_printf(&remedy, "drop publication %s; " INSTALL_PUBLICATIONS_REMEDY,
                   beside.publications);
        check_report(
            c, VERDICT_WARN, buf_text(&remedy),
            "%s: includes all tables, also the change log's: a subscriber that lacks them stops",
            beside.publications);
    } else {
        check_pass(c, "none includes all tables");
    }
    buf_release(&remedy);
    installed_beside_release(&beside);
}

const struct probe probes_log[] = {
    {"publications", FACT_TABLE, 0, probe_log_publications},
    {"change log", FACT_TABLE | FACT_GRANTS, FACT_LOG, probe_log_look},
    {"consumers", FACT_LOG, 0, probe_log_consumers},
    {0},
};
