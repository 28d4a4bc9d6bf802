/* SPDX-License-Identifier: Apache-2.0 */
/* init: examines a table and proposes a configuration for it. */
#include "init/init.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/newfile.h"
#include "output/terminal.h"
#include "rowferry/base/text.h"
#include "rowferry/config/config.h"
#include "rowferry/service/cluster/cluster.h"
#include "rowferry/service/index/index.h"

#define DEFAULT_URL "http://127.0.0.1:9200"
#define CONNECT_TIMEOUT_MS 10000
#define REQUEST_TIMEOUT_MS 15000
#define LOCK_TIMEOUT_MS 10000
#define NAMES_TRIED 9

/* --- arguments -------------------------------------------------------------------------------- */

static int init_check_required(const struct arguments *a, struct err *err)
{
    if (arguments_have(a, OPTION_CONFIG)) {
        err_set(err, ERR_CONFIG, "command \"init\" reads no configuration");
        return err_hint(err, "to write one: -o FILE");
    }
    const enum option_id required[] = {OPTION_SOURCE, OPTION_TABLE};
    for (size_t k = 0; k < sizeof(required) / sizeof(required[0]); k++) {
        if (!arguments_have(a, required[k])) {
            const struct option_row *row = &option_rows[required[k]];
            return err_set(err, ERR_CONFIG, "command \"init\" needs %s %s", row->name,
                           row->argument);
        }
    }
    return 0;
}

static const char *init_variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool init_has_credential(void)
{
    return init_variable(INIT_KEY_VARIABLE) != NULL || init_variable(INIT_USER_VARIABLE) != NULL;
}

static int init_check_url(const char *url, struct err *err)
{
    return config_check_url(url, init_has_credential(), err);
}

static int init_take_credential(struct init_credential *c, struct err *err)
{
    const char *ca_file = init_variable(INIT_CA_VARIABLE);
    c->api_key = init_variable(INIT_KEY_VARIABLE);
    c->user = c->api_key == NULL ? init_variable(INIT_USER_VARIABLE) : NULL;
    c->password = c->user != NULL ? init_variable(INIT_PASSWORD_VARIABLE) : NULL;
    if (c->user != NULL && c->password == NULL) {
        return err_set(err, ERR_CONFIG,
                       "$" INIT_USER_VARIABLE " is set without $" INIT_PASSWORD_VARIABLE);
    }
    c->ca_file = ca_file != NULL ? realpath(ca_file, NULL) : NULL;
    return ca_file == NULL || c->ca_file != NULL
               ? 0
               : err_set(err, ERR_CONFIG, "$" INIT_CA_VARIABLE ": cannot read \"%s\": %s", ca_file,
                         strerror(errno));
}

static int init_check_kind(const char *kind, struct err *err)
{
    bool known = strcmp(kind, "index") == 0 || strcmp(kind, "data_stream") == 0;
    return known ? 0 : err_set(err, ERR_CONFIG, "\"%s\" is not index or data_stream", kind);
}

/* Returns the output file; null for standard output. */
static const char *init_file_of(const struct arguments *a)
{
    const char *file = a->values[OPTION_OUTPUT];
    return file != NULL && strcmp(file, "-") != 0 ? file : NULL;
}

static int init_check_arguments(const struct arguments *a, struct err *err)
{
    const char *url = a->values[OPTION_SERVICE];
    int rc = init_check_required(a, err);
    if (rc == 0 && config_check_uri(a->values[OPTION_SOURCE], err) < 0) {
        err_context(err, "option \"--source\"");
        rc = err_hint(err, "the password comes from $PGPASSWORD or ~/.pgpass; write the URI like "
                           "postgresql://user@host/database");
    }
    if (rc == 0 && url != NULL && init_check_url(url, err) < 0) {
        rc = err_context(err, "option \"--service\"");
    }
    const char *kind = a->values[OPTION_KIND];
    if (rc == 0 && kind != NULL && init_check_kind(kind, err) < 0) {
        rc = err_context(err, "option \"--kind\"");
    }
    if (rc == 0 && init_file_of(a) != NULL) {
        rc = newfile_check(init_file_of(a), arguments_have(a, OPTION_FORCE), err);
    }
    return rc;
}

/* --- the source ------------------------------------------------------------------------------- */

static int init_look_at_source(struct init *i, struct err *err)
{
    struct pg *pg = NULL;
    const struct source_options options = {.uri = i->arguments->values[OPTION_SOURCE],
                                           .connect_timeout_ms = CONNECT_TIMEOUT_MS,
                                           .lock_timeout_ms = LOCK_TIMEOUT_MS,
                                           .application_name = "rowferry init"};
    const struct survey_input in = {.table = i->arguments->values[OPTION_TABLE],
                                    .with = i->arguments->several,
                                    .with_count = i->arguments->several_count};
    int rc = pg_open(&pg, &options, err);
    if (rc == ERR_CONFIG) {
        err_context(err, "option \"--source\"");
        err_hint(err, "write it like postgresql://user@host/database");
    } else if (rc < 0 && strstr(err->hint, "source.password") != NULL) {
        err_hint(err, "the password comes from $PGPASSWORD or ~/.pgpass");
    }
    if (rc == 0) {
        rc = survey_take(&i->survey, pg, &in, err);
    }
    pg_close(pg);
    return rc;
}

/* --- the service ------------------------------------------------------------------------------ */

/* A pipeline of the same name may have another database as its source. */
static bool init_index_is_ours(const struct init *i, const struct index_info *info)
{
    const struct pg_identity *id = &i->survey.identity;
    char source[sizeof(id->system) + sizeof(id->database) + 1];
    snprintf(source, sizeof(source), "%s/%s", id->system, id->database);
    return strcmp(info->pipeline, i->pipeline) == 0 && strcmp(info->source, source) == 0;
}

static int init_name_index(struct init *i, struct service *service)
{
    struct err err;
    struct index_info info;
    enum alias_kind kind = ALIAS_ABSENT;
    struct buf name;
    int rc = 0;
    buf_init(&name, INIT_TEXT_BYTES);
    for (int n = 1; n <= NAMES_TRIED; n++) {
        buf_reset(&name);
        buf_push_text(&name, i->index);
        if (n > 1) {
            buf_printf(&name, "-%d", n);
        }
        rc = index_resolve(service, buf_text(&name), &kind, &info, &err);
        if (rc < 0 || kind == ALIAS_ABSENT || init_index_is_ours(i, &info)) {
            break;
        }
    }
    if (rc == 0 && kind == ALIAS_ABSENT && strcmp(buf_text(&name), i->index) != 0) {
        i->taken = i->index;
        i->index = buf_detach(&name);
    }
    buf_release(&name);
    return rc;
}

static int init_ask_service(struct init *i, struct service *service, struct err *err)
{
    int rc = product_detect(service, &i->product, err);
    if (rc == 0) {
        rc = cluster_nodes(service, &i->nodes, err);
    }
    /* without the privilege to look up a name, `check` reports whether it is in use */
    return rc == 0 && init_name_index(i, service) == ERR_TRANSIENT
               ? err_set(err, ERR_TRANSIENT, "it no longer answers")
               : rc;
}

static void init_look_at_service(struct init *i)
{
    struct err err;
    struct service *service = NULL;
    const char *const urls[] = {i->url};
    const struct service_options options = {
        .urls = urls,
        .url_count = 1,
        .user = i->credential.user,
        .credentials = {[SERVICE_API_KEY] = {i->credential.api_key, NULL},
                        [SERVICE_PASSWORD] = {i->credential.password, NULL}},
        .ca_file = i->credential.ca_file,
        .request_timeout_ms = REQUEST_TIMEOUT_MS,
        .connect_timeout_ms = CONNECT_TIMEOUT_MS,
        .in_flight = 1};
    int rc = http_service_open(&service, &options, &err);
    if (rc == 0) {
        rc = init_ask_service(i, service, &err);
    }
    if (rc < 0) {
        snprintf(i->trouble, sizeof(i->trouble), "%s", err.message);
        i->product = (struct product_info){0};
        terminal_print("could not identify the service: %s", err.message);
    }
    http_service_close(service);
}

/* --- choices ---------------------------------------------------------------------------------- */

/* Proposes the names of index and pipeline. The index is <database>-<table>, its owner and its
 * purpose. */
static void init_propose_names(struct init *i)
{
    struct buf text;
    struct buf name;
    const struct survey *s = &i->survey;
    const char *from = s->view != NULL ? s->view : s->name;
    const char *table = strncmp(from, "public.", 7) == 0 ? from + 7 : from;
    buf_init(&text, INIT_TEXT_BYTES);
    buf_init(&name, INIT_TEXT_BYTES);
    buf_printf(&text, "%s-", s->identity.database);
    buf_push_text(&text, table);
    propose_index_name(&name, buf_text(&text));
    i->index = buf_detach(&name);
    propose_pipeline_name(&name, table);
    i->pipeline = buf_detach(&name);
    buf_release(&text);
}

int init_choose_capture(struct init *i, bool *cursor_too, struct err *err)
{
    const struct survey *s = &i->survey;
    bool cursor = s->cursor != NULL && s->table->query == NULL;
    *cursor_too = cursor && s->log_obstacle == NULL;
    if (s->log_obstacle != NULL && !cursor) {
        err_set(err, ERR_REJECTED, "%s", s->log_obstacle);
        return err_hint(err, "and no column says when a row was changed (see docs/cursor.md)");
    }
    bool indexed = cursor && s->cursor_index != NULL && s->cursor_filled;
    bool ready = !s->identity.in_recovery && (s->log == INSTALL_CURRENT || s->may_install);
    if (s->log_obstacle != NULL || (!ready && indexed)) {
        i->capture = INIT_CURSOR;
    } else if (ready) {
        i->capture = INIT_LOG;
    } else {
        i->capture = s->identity.in_recovery ? INIT_LOG_PRIMARY : INIT_LOG_BY_DBA;
    }
    return 0;
}

static int init_check_capture(const char *answer, struct err *err)
{
    return capture_mode_find(answer) >= 0 ? 0
                                          : err_set(err, ERR_CONFIG, "answer changelog or cursor");
}

static void init_take_capture(struct init *i, const char *answer)
{
    if (capture_mode_find(answer) == CAPTURE_MODE_CURSOR) {
        i->capture = INIT_CURSOR;
    } else if (i->capture == INIT_CURSOR) {
        i->capture = i->survey.identity.in_recovery                              ? INIT_LOG_PRIMARY
                     : i->survey.may_install || i->survey.log == INSTALL_CURRENT ? INIT_LOG
                                                                                 : INIT_LOG_BY_DBA;
    }
}

static int init_ended(struct err *err)
{
    return err_set(err, ERR_REJECTED, "nothing was written: unexpected end of input");
}

static int init_choose_url(struct init *i, struct err *err)
{
    const char *given = i->arguments->values[OPTION_SERVICE];
    i->url = text_copy(given != NULL ? given : DEFAULT_URL);
    if (given == NULL && init_asks(i->arguments) &&
        !init_ask("URL of the search service", &i->url, init_check_url)) {
        return init_ended(err);
    }
    return given == NULL && init_check_url(i->url, err) < 0 ? ERR_CONFIG : 0;
}

/* A data stream takes no row that changes, so nothing but a person's word makes one. */
static int init_choose_kind(struct init *i, struct err *err)
{
    const struct survey *s = &i->survey;
    const char *given = i->arguments->values[OPTION_KIND];
    char *kind = text_copy(given != NULL ? given : "index");
    int rc = 0;
    if (s->view == NULL && s->table->query == NULL) {
        i->time = review_time_column(&s->facts.columns);
        i->suits_stream = review_stream_time(&s->facts.columns, &s->changes) != NULL;
    }
    if (given == NULL && i->suits_stream && init_asks(i->arguments) &&
        !init_ask("Rows were only added so far; kind: index, or data_stream", &kind,
                  init_check_kind)) {
        rc = init_ended(err);
    }
    i->stream = strcmp(kind, "data_stream") == 0;
    free(kind);
    if (rc == 0 && i->stream && i->time == NULL) {
        err_set(err, ERR_REJECTED, "\"%s\" does not suit a data stream: its rows have no time",
                s->name);
        rc = err_hint(err, "a column of type timestamptz that is NOT NULL is needed, in a table, "
                           "without --with; or omit --kind");
    }
    return rc;
}

static int init_choose_rest(struct init *i, struct err *err)
{
    bool cursor_too = false;
    int rc = init_choose_kind(i, err);
    rc = rc == 0 ? init_choose_capture(i, &cursor_too, err) : rc;
    if (rc < 0 || !init_asks(i->arguments)) {
        return rc;
    }
    if (!init_ask("Alias that people search", &i->index, index_alias_check)) {
        return init_ended(err);
    }
    int mode = i->capture == INIT_CURSOR ? CAPTURE_MODE_CURSOR : CAPTURE_MODE_CHANGELOG;
    char *capture = text_copy(capture_traits(mode)->name);
    if (cursor_too &&
        !init_ask("Changes found by: changelog (triggers, sees all) or cursor (nothing installed)",
                  &capture, init_check_capture)) {
        rc = init_ended(err);
    }
    init_take_capture(i, capture);
    free(capture);
    return rc;
}

/* --- the command ------------------------------------------------------------------------------ */

/* A data stream demands this name for the time of a document. */
static void init_name_timestamp(struct init *i)
{
    for (size_t k = 0; k < i->mapping.count && i->stream; k++) {
        struct proposed *p = &i->mapping.children[k];
        if (strcmp(p->column != NULL ? p->column : p->name, i->time->name) == 0) {
            free(p->column);
            p->column = p->name;
            p->name = text_copy("@timestamp");
        }
    }
}

static void init_propose(struct init *i)
{
    const struct survey *s = &i->survey;
    enum propose_for product = i->product.product == PRODUCT_OPENSEARCH      ? PROPOSE_OPENSEARCH
                               : i->product.product == PRODUCT_ELASTICSEARCH ? PROPOSE_ELASTICSEARCH
                                                                             : PROPOSE_ANY;
    propose_mapping(&i->mapping, &s->facts, (const char *const *)s->table->key, s->table->key_count,
                    product);
    init_name_timestamp(i);
}

static void init_warn(const struct init *i)
{
    const struct survey *s = &i->survey;
    if (!s->readable) {
        terminal_print("role \"%s\" may not read \"%s\", so its values were not examined",
                       s->identity.role, s->name);
    }
    if (s->bypass != NULL) {
        terminal_print("row security hides rows of \"%s\" from this role, and a sync refuses that: "
                       "%s",
                       s->name, s->bypass);
    }
    if (i->capture == INIT_LOG_PRIMARY) {
        terminal_print("this is a standby: name its primary in the file, as source.primary");
    }
    if (i->capture == INIT_CURSOR && s->cursor_index == NULL) {
        terminal_print("no index begins with \"%s\": each sync reads the whole table", s->cursor);
    }
    for (size_t k = 0; k < s->doubt_count; k++) {
        terminal_print("%s", s->doubts[k]);
    }
}

static int init_write_out(const struct init *i, struct err *err)
{
    struct buf text;
    const char *file = init_file_of(i->arguments);
    buf_init(&text, INIT_TEXT_BYTES);
    init_write(&text, i);
    int rc = 0;
    if (text.failed) {
        rc = err_set(err, ERR_REJECTED, "the configuration would be larger than 16 MiB");
    } else if (file == NULL) {
        rc = terminal_result(&text, err);
    } else {
        rc = newfile_save(file, arguments_have(i->arguments, OPTION_FORCE), &text, err);
    }
    if (rc == 0 && file != NULL) {
        const char *next = i->capture == INIT_CURSOR || i->survey.log == INSTALL_CURRENT ? "check"
                           : i->capture == INIT_LOG_BY_DBA ? "source print, for a DBA to run"
                                                           : "source install";
        terminal_print("\"%s\" is written; next: rowferry -c %s %s", file, file, next);
    }
    buf_release(&text);
    return rc;
}

static void init_release(struct init *i)
{
    survey_release(&i->survey);
    propose_release(&i->mapping);
    free(i->url);
    free(i->index);
    free(i->taken);
    free(i->pipeline);
    free(i->credential.ca_file);
}

int command_init(const struct arguments *a, struct err *err)
{
    struct init i = {.arguments = a};
    int rc = init_check_arguments(a, err);
    if (rc == 0) {
        rc = init_take_credential(&i.credential, err);
    }
    if (rc == 0) {
        rc = init_look_at_source(&i, err);
    }
    if (rc == 0) {
        init_propose_names(&i);
        rc = init_choose_url(&i, err);
    }
    if (rc == 0) {
        init_look_at_service(&i);
        rc = init_choose_rest(&i, err);
    }
    if (rc == 0) {
        init_propose(&i);
        init_warn(&i);
        rc = init_write_out(&i, err);
    }
    init_release(&i);
    return rc;
}
