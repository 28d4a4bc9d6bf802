/* SPDX-License-Identifier: Apache-2.0 */
/* source install, upgrade, uninstall, print: the change log in the source database. */
#include <stdlib.h>
#include <string.h>

#include "client/permit.h"
#include "output/terminal.h"
#include "rowferry/daemon/session.h"
#include "rowferry/document/json/record.h"
#include "rowferry/source/catalog/install.h"
#include "rowferry/source/catalog/query.h"
#include "setup.h"

#define SCRIPT_BYTES ((size_t)16 * 1024 * 1024)
#define WHY_BYTES 4096

struct installer {
    struct pg *pg;
    struct table *table;
    const char *reader;          /* null if none */
    struct pg_identity identity; /* of the configuration's connection, if it is the reader */
    const char *pipeline;
    const struct arguments *arguments;
    bool json;
    size_t tables; /* number of tables in the JSON object */
    struct buf out;
};

typedef int (*install_step)(struct installer *i, struct err *err);

/* --- steps ------------------------------------------------------------------------------------ */

static void source_push_done(struct installer *i, const char *what)
{
    buf_printf(&i->out, "%s: the change log of ", i->pipeline);
    terminal_push_safe(&i->out, i->table->quoted, strlen(i->table->quoted));
    buf_printf(&i->out, " %s\n", what);
}

/* Returns true if --notify or --no-notify was given; *on is which. */
static bool source_notify_chosen(const struct installer *i, bool *on)
{
    *on = arguments_have(i->arguments, OPTION_NOTIFY);
    return *on || arguments_have(i->arguments, OPTION_NO_NOTIFY);
}

/* Sets NOTIFY as chosen. *was and *on: whether the log sent it before, and sends it now. */
static int source_set_notify(struct installer *i, bool *was, bool *on, struct err *err)
{
    bool chosen;
    int rc = install_notifies(i->pg, i->table, was, err);
    *on = *was;
    if (rc == 0 && source_notify_chosen(i, &chosen)) {
        *on = chosen;
        rc = install_notify(i->pg, i->table, chosen, err);
    }
    return rc;
}

/* Warns before the installation: a subscriber may stop at the first row of our tables. */
static void source_warn_publications(const struct installer *i, const struct install_beside *beside,
                                     enum install_state state)
{
    if (beside->publications != NULL && state != INSTALL_CURRENT) {
        terminal_print(
            "warning: pipeline \"%s\": the publication %s includes all tables, also the change "
            "log's: a subscriber that lacks them stops; " INSTALL_PUBLICATIONS_REMEDY,
            i->pipeline, beside->publications);
    }
}

/* Begins the JSON object of i->table. */
static void source_open_table(struct installer *i)
{
    buf_push_text(&i->out, i->tables++ > 0 ? "," : "");
    record_open(&i->out);
    record_text(&i->out, "schema", i->table->schema);
    record_text(&i->out, "table", i->table->name);
}

/* Reports an installation. `state` is what it found; `was` and `on` as of source_set_notify. */
static void source_push_installed(struct installer *i, enum install_state state,
                                  const struct install_beside *beside, bool was, bool on)
{
    static const struct {
        const char *action, *text;
    } done[] = {
        [INSTALL_ABSENT] = {"installed", "is installed"},
        [INSTALL_OLDER] = {"upgraded", "is upgraded to the current version"},
        [INSTALL_BROKEN] = {"repaired", "is repaired"},
        [INSTALL_CURRENT] = {"none", "is already installed, nothing changed"},
    };
    if (i->json) {
        source_open_table(i);
        record_text(&i->out, "action", done[state].action);
        record_text(&i->out, "reader", i->reader);
        record_bool(&i->out, "notify", on);
        record_text(&i->out, "publications", beside->publications);
        record_text(&i->out, "dumper", beside->dumper);
        record_close(&i->out);
        return;
    }
    source_push_done(i, done[state].text);
    if (beside->dumper != NULL) {
        buf_printf(&i->out, "%s: role \"", i->pipeline);
        terminal_push_safe(&i->out, beside->dumper, strlen(beside->dumper));
        buf_push_literal(&i->out, "\" dumps its tables by " INSTALL_DUMP_REMEDY
                                  ", it may not read that schema\n");
    }
    if (i->reader != NULL) {
        buf_printf(&i->out, "%s: role \"%s\" may read it\n", i->pipeline, i->reader);
    }
    if (on != was) {
        source_push_done(i, on ? "sends NOTIFY" : "no longer sends NOTIFY");
    }
}

static int source_step_install(struct installer *i, struct err *err)
{
    enum install_state state;
    struct install_beside beside = {0};
    struct buf why;
    bool was;
    bool on;
    buf_init(&why, WHY_BYTES);
    int rc = installed_read(i->pg, i->table, &state, &why, err);
    if (rc == 0) {
        rc = installed_beside(i->pg, i->table, &beside, err);
    }
    if (rc == 0) {
        source_warn_publications(i, &beside, state);
        rc = install_apply(i->pg, i->table, i->reader, err);
    }
    if (rc == 0) {
        rc = source_set_notify(i, &was, &on, err);
    }
    if (rc == 0) {
        source_push_installed(i, state, &beside, was, on);
    }
    installed_beside_release(&beside);
    buf_release(&why);
    return rc;
}

static int source_step_upgrade(struct installer *i, struct err *err)
{
    enum install_state state;
    int rc = installed_read(i->pg, i->table, &state, NULL, err);
    if (rc == 0 && state == INSTALL_ABSENT) {
        err_set(err, ERR_REJECTED, "no change log is installed for %s", i->table->quoted);
        rc = err_hint(err, "run: rowferry source install " ERR_PIPELINE);
    }
    return rc == 0 ? source_step_install(i, err) : rc;
}

static int source_step_uninstall(struct installer *i, struct err *err)
{
    enum install_state state;
    struct buf why;
    buf_init(&why, WHY_BYTES);
    int rc = installed_read(i->pg, i->table, &state, &why, err);
    if (rc == 0) {
        rc = install_remove(i->pg, i->table, err);
    }
    if (rc == 0 && i->json) {
        source_open_table(i);
        record_text(&i->out, "action", state == INSTALL_ABSENT ? "none" : "removed");
        record_close(&i->out);
    } else if (rc == 0) {
        source_push_done(i, state == INSTALL_ABSENT ? "was not installed, nothing changed"
                                                    : "is removed");
    }
    buf_release(&why);
    return rc;
}

/* Escapes names of publications: a line break would end the comment. */
static void source_push_comments(struct buf *sql, const struct install_beside *beside)
{
    if (beside->publications != NULL) {
        buf_push_text(sql, "-- warning: a publication includes all tables, also these: ");
        text_escape(sql, beside->publications, strlen(beside->publications));
        buf_push_text(sql,
                      "\n-- a subscriber that lacks them stops; " INSTALL_PUBLICATIONS_REMEDY "\n");
    }
    buf_push_text(
        sql, "-- roles other than the one that runs this dump their tables by " INSTALL_DUMP_REMEDY
             "\n");
}

static int source_push_sql(const struct installer *i, struct buf *sql, struct err *err)
{
    struct install_beside beside = {0};
    bool on;
    bool is = false;
    int rc = install_notifies(i->pg, i->table, &is, err);
    if (rc == 0) {
        rc = installed_beside(i->pg, i->table, &beside, err);
    }
    if (rc == 0) {
        source_push_comments(sql, &beside);
        buf_push_text(sql, is ? "-- installed with --notify, and stays so\n" : "");
        rc = install_print(i->pg, i->table, i->reader, sql, err);
    }
    if (rc == 0 && source_notify_chosen(i, &on)) {
        install_print_notify(i->table, on, sql);
    }
    installed_beside_release(&beside);
    return rc;
}

static int source_step_print(struct installer *i, struct err *err)
{
    struct buf sql;
    if (!i->json) {
        buf_printf(&i->out, "-- pipeline %s\n", i->pipeline);
        return source_push_sql(i, &i->out, err);
    }
    buf_init(&sql, SCRIPT_BYTES);
    int rc = source_push_sql(i, &sql, err);
    if (rc == 0 && sql.failed) {
        rc = err_set(err, ERR_TRANSIENT, "not enough memory for the result");
    }
    if (rc == 0) {
        source_open_table(i);
        record_span(&i->out, "sql", buf_text(&sql), sql.len);
        record_close(&i->out);
    }
    buf_release(&sql);
    return rc;
}

/* --- connecting ------------------------------------------------------------------------------- */

struct source_task {
    const struct arguments *arguments;
    const char *command;
    install_step step;
    bool names_reader; /* also if the connection itself is the reader's */
    char *password;    /* of --as, if it was entered on the terminal */
};

static int source_hint_password(struct err *err)
{
    return err_hint(err, "the password of --as comes from $PGPASSWORD, ~/.pgpass or a service "
                         "file, or is asked for on a terminal");
}

/* Returns true if --as names a role, not a URI or a list of key=value. */
static bool source_is_role(const char *as)
{
    return as[strcspn(as, ":/=@?")] == '\0';
}

/* Opens the connection of --as. The configuration's password belongs to another role. */
static int source_connect_as(struct source_task *t, struct source_options *options, struct pg **pg,
                             struct err *err)
{
    struct err no_terminal;
    bool asks = false;
    const char *as = t->arguments->values[OPTION_AS];
    options->uri = !source_is_role(as)        ? as
                   : options->primary != NULL ? options->primary
                                              : options->uri;
    options->role = source_is_role(as) ? as : NULL;
    options->primary = NULL;
    options->password = t->password;
    options->renewal = NULL;
    options->rds_region = NULL;
    options->needs_password = &asks;
    int rc = pg_open(pg, options, err);
    if (rc < 0 && asks && t->password == NULL &&
        secret_from_prompt("Password of --as", "--as", &t->password, &no_terminal) == 0) {
        options->password = t->password;
        rc = pg_open(pg, options, err);
    }
    options->needs_password = NULL;
    bool refused = rc < 0 && (asks || strstr(err->hint, "source.password") != NULL);
    return refused ? source_hint_password(err) : rc;
}

/* Opens the connection of --as if given, else that of the configuration. */
static int source_connect(struct source_task *t, const struct session *s, struct pg **pg,
                          struct err *err)
{
    struct source_options options;
    session_source_options(s, &options);
    if (t->arguments->values[OPTION_AS] != NULL) {
        return source_connect_as(t, &options, pg, err);
    }
    options.uri = options.primary != NULL ? options.primary : options.uri;
    return pg_open(pg, &options, err);
}

/* Finds out the role of the configuration's connection. */
static int source_ask_reader(const struct session *s, struct pg_identity *identity, struct err *err)
{
    struct source_options options;
    struct pg *pg = NULL;
    session_source_options(s, &options);
    int rc = pg_open(&pg, &options, err);
    if (rc == 0) {
        rc = pg_identify(pg, identity, err);
    }
    pg_close(pg);
    if (rc < 0) {
        err_context(err, "could not find out the reader's role");
        err_hint(err, "name it with --reader");
    }
    return rc;
}

/* Returns true if the reader is the configuration's role, which is to be found out. The installing
 * role owns the change log, so another reader needs grants. */
static bool source_asks_reader(const struct source_task *t)
{
    bool wanted = t->names_reader || t->arguments->values[OPTION_AS] != NULL;
    return t->arguments->values[OPTION_READER] == NULL && wanted &&
           t->step != source_step_uninstall;
}

/* Determines the reader. */
static int source_find_reader(struct installer *i, const struct source_task *t,
                              const struct session *s, struct err *err)
{
    i->reader = t->arguments->values[OPTION_READER];
    if (!source_asks_reader(t)) {
        return 0;
    }
    int rc = source_ask_reader(s, &i->identity, err);
    i->reader = i->identity.role;
    return rc;
}

/* Runs one step on i->table and frees the table. */
static int source_run_step(const struct source_task *t, struct installer *i, struct err *err)
{
    int rc = t->step(i, err);
    if (rc < 0 && strcmp(err->sqlstate, "42501") == 0 && t->arguments->values[OPTION_AS] == NULL) {
        err_hint(err, "connect as a role that may: --as ROLE");
    }
    catalog_table_free(i->table);
    i->table = NULL;
    return rc;
}

/* Reports that nothing is to be installed; as a comment in a script, as no tables in JSON. */
static void source_push_nothing(const struct source_task *t, const struct pipeline_config *p,
                                struct installer *i)
{
    if (!i->json) {
        buf_printf(&i->out, "%s%s: nothing to install, capture mode %s follows a column\n",
                   t->step == source_step_print ? "-- pipeline " : "", p->name,
                   capture_traits(p->from.capture_mode)->name);
    }
}

/* Runs the step on the pipeline's table and on those that its query depends on. */
static int source_run_tables(struct source_task *t, const struct config *config,
                             const struct pipeline_config *p, struct installer *i, struct err *err)
{
    struct session session;
    int rc = session_init(&session, config, p, t->command, err);
    if (rc == 0) {
        rc = source_find_reader(i, t, &session, err);
    }
    if (rc == 0) {
        rc = source_connect(t, &session, &i->pg, err);
    }
    if (rc == 0) {
        rc = catalog_table(i->pg, &i->table, p->from.table, (const char *const *)p->from.key,
                           p->from.key_count, err);
    }
    if (rc == 0) {
        rc = source_run_step(t, i, err);
    }
    for (size_t d = 0; rc == 0 && d < p->from.dependency_count; d++) {
        rc = depend_of_query(i->pg, &i->table, &p->from.dependencies[d], err);
        if (rc == 0) {
            rc = source_run_step(t, i, err);
        }
    }
    catalog_table_free(i->table);
    pg_close(i->pg);
    session_release(&session);
    return rc;
}

/* Prints the result, after an error as JSON only: with the tables that were done before. Returns
 * the error. */
static int source_print_result(struct installer *i, int rc, struct err *err)
{
    struct err unwritten;
    if (i->json) {
        buf_push_char(&i->out, ']');
        record_int(&i->out, "exit_code", rc < 0 ? err_exit_code((enum err_class)rc) : EXIT_DONE);
        record_text(&i->out, "error", rc < 0 ? err->message : NULL);
        record_close(&i->out);
        buf_push_char(&i->out, '\n');
    }
    int written = rc == 0 || i->json ? terminal_result(&i->out, rc == 0 ? err : &unwritten) : 0;
    return rc < 0 ? rc : written;
}

static int source_run_pipeline(struct source_task *t, const struct config *config,
                               const struct pipeline_config *p, struct err *err)
{
    struct installer i = {.pipeline = p->name,
                          .arguments = t->arguments,
                          .json = arguments_have(t->arguments, OPTION_JSON)};
    int rc = 0;
    buf_init(&i.out, SCRIPT_BYTES);
    if (i.json) {
        record_open(&i.out);
        record_text(&i.out, "pipeline", p->name);
        record_name(&i.out, "tables");
        buf_push_char(&i.out, '[');
    }
    if (capture_traits(p->from.capture_mode)->installs) {
        rc = source_run_tables(t, config, p, &i, err);
        if (rc == 0 && t->step == source_step_install) {
            permit_try_again(config, p);
        }
    } else {
        source_push_nothing(t, p, &i);
    }
    rc = source_print_result(&i, rc, err);
    buf_release(&i.out);
    if (rc < 0) {
        err_name_pipeline(err, p->name);
    }
    return rc < 0 ? err_context(err, "pipeline \"%s\"", p->name) : 0;
}

static int source_run_task(struct source_task *t, struct err *err)
{
    const struct arguments *a = t->arguments;
    const char *as = a->values[OPTION_AS];
    struct setup setup = {0};
    int rc = 0;
    if (as != NULL && !source_is_role(as)) {
        rc = config_check_uri(as, err); /* argv must not have a password: it is readable for
                                         * everyone on the machine */
    }
    if (rc < 0) {
        err_context(err, "option \"--as\"");
        return source_hint_password(err);
    }
    if (arguments_have(a, OPTION_NOTIFY) && arguments_have(a, OPTION_NO_NOTIFY)) {
        rc = err_set(err, ERR_CONFIG,
                     "options \"--notify\" and \"--no-notify\": only one can be given");
    }
    if (rc == 0) {
        rc = setup_load(&setup, a, err);
    }
    if (rc == 0 && (as == NULL || source_asks_reader(t))) { /* else its login is not used */
        rc = setup_secrets(&setup, err);
    }
    for (size_t i = 0; rc == 0 && i < setup.count; i++) {
        rc = source_run_pipeline(t, setup.config, setup.pipelines[i], err);
    }
    setup_release(&setup);
    text_wipe(t->password);
    free(t->password);
    return rc;
}

int command_source_install(const struct arguments *a, struct err *err)
{
    struct source_task t = {a, "source install", source_step_install, false, NULL};
    return source_run_task(&t, err);
}

int command_source_upgrade(const struct arguments *a, struct err *err)
{
    struct source_task t = {a, "source upgrade", source_step_upgrade, false, NULL};
    return source_run_task(&t, err);
}

int command_source_uninstall(const struct arguments *a, struct err *err)
{
    struct source_task t = {a, "source uninstall", source_step_uninstall, false, NULL};
    return source_run_task(&t, err);
}

int command_source_print(const struct arguments *a, struct err *err)
{
    struct source_task t = {a, "source print", source_step_print, true, NULL};
    return source_run_task(&t, err);
}
