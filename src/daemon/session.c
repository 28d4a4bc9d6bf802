/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the parts of a pipeline from its configuration. */
#include "rowferry/daemon/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/log.h"
#include "rowferry/base/text.h"
#include "rowferry/service/http/http.h"
#include "rowferry/source/changelog/changelog.h"
#include "rowferry/state/generation_config.h"
#include "rowferry/state/lock.h"
#include "rowferry/state/rebuild.h"

#define CONSUMER_BYTES ((size_t)4096)

#define BUILT_MAX_BYTES ((size_t)16 << 20)

/* Replaces the definition of the pipeline, its mapping and its canonical text. */
static int session_take_pipeline(struct session *s, const struct pipeline_config *pipeline,
                                 struct err *err)
{
    struct buf text;
    mapping_release(&s->mapping);
    free(s->built_text);
    buf_init(&text, BUILT_MAX_BYTES);
    config_write_built(pipeline, &text);
    s->built_text = buf_detach(&text);
    s->pipeline = pipeline;
    return config_mapping(pipeline, &s->mapping, err);
}

int session_init(struct session *s, const struct config *config,
                 const struct pipeline_config *pipeline, const char *command, struct err *err)
{
    *s = (struct session){
        .config = config, .pipeline = pipeline, .command = command, .clock = clock_system()};
    struct buf name;
    buf_init(&name, 1024);
    buf_printf(&name, "rowferry %s %s", command, pipeline->name);
    s->application_name = buf_detach(&name);
    return session_take_pipeline(s, pipeline, err);
}

/* Reads the canonical text of the live generation; null if it is unknown. */
static int session_read_live(struct state *state, char **text, struct err *err)
{
    struct checkpoint live;
    *text = NULL;
    int rc = checkpoint_load(state, &live, err);
    if (rc == 0 && live.phase == GENERATION_LIVE) {
        rc = generation_config_read(state, live.generation, text, err);
    }
    checkpoint_release(&live);
    return rc;
}

int session_look_returned(struct state *state, const struct pipeline_config *pipeline,
                          bool *returned, struct err *err)
{
    struct former_config former;
    struct buf text;
    char *live = NULL;
    int rc = generation_config_read_former(state, &former, err);
    if (rc == 0 && former.returned) {
        rc = session_read_live(state, &live, err);
    }
    buf_init(&text, BUILT_MAX_BYTES);
    config_write_built(pipeline, &text);
    *returned = live != NULL && strcmp(live, buf_text(&text)) != 0;
    free(live);
    free(former.configuration);
    buf_release(&text);
    return rc;
}

/* Looks up the canonical text of the live generation if that must be kept by its own definition;
 * otherwise null. */
static int session_look_live(struct session *s, const struct pipeline_config *now, char **text,
                             struct err *err)
{
    struct rebuild rebuild;
    bool underway;
    bool known = s->returned;
    int rc = rebuild_look(s->state, &rebuild, &underway, err);
    rc = rc == 0 ? session_look_returned(s->state, now, &s->returned, err) : rc;
    s->keeps = s->keeps || underway; /* also after an abort: only the file has the new definition */
    if (rc == 0 && (s->keeps || s->returned)) {
        rc = session_read_live(s->state, text, err);
    }
    if (rc == 0 && s->returned && !known) {
        struct buf until;
        buf_init(&until, 1024);
        buf_printf(&until, "rowferry reindex %s", now->name);
        log_event(LOG_WARN, "definition_not_used", F_TEXT("pipeline", now->name),
                  F_TEXT("until", buf_text(&until)));
        buf_release(&until);
    }
    return rc;
}

static int session_look_built(struct session *s, const struct pipeline_config *now, char **text,
                              struct err *err)
{
    struct former_config former = {0};
    int rc = 0;
    *text = NULL;
    switch (s->target) {
    case SESSION_LIVE:
        return session_look_live(s, now, text, err);
    case SESSION_FORMER:
        rc = generation_config_read_former(s->state, &former, err);
        *text = former.configuration;
        break;
    case SESSION_NEXT:
        break;
    }
    return rc;
}

static int session_take_as_built(struct session *s, struct err *err)
{
    char *text;
    const struct pipeline_config *now = config_pipeline(s->config, s->pipeline->name);
    int rc = session_look_built(s, now, &text, err);
    config_free(s->built);
    s->built = NULL;
    if (rc == 0 && text != NULL) {
        rc = config_read_built(&s->built, text, err);
    }
    free(text);
    if (rc < 0) {
        return rc;
    }
    s->as_built = *now;
    if (s->built != NULL) {
        const struct pipeline_config *then = &s->built->pipelines[0];
        s->as_built.from = then->from;
        s->as_built.fields = then->fields;
        s->as_built.field_count = then->field_count;
        s->as_built.to.mappings = then->to.mappings;
        s->as_built.to.ingest_pipeline = then->to.ingest_pipeline;
        s->as_built.to.routing = then->to.routing;
        s->as_built.to.id = then->to.id;
        s->as_built.to.provenance = then->to.provenance;
    }
    return session_take_pipeline(s, s->built != NULL ? &s->as_built : now, err);
}

void session_hash_definition(const struct pipeline_config *pipeline,
                             char out[VALIDATION_DEFINITION_BYTES])
{
    struct buf text;
    buf_init(&text, 2 * BUILT_MAX_BYTES);
    config_write_built(pipeline, &text);
    if (pipeline->to.settings != NULL) {
        buf_push_text(&text, pipeline->to.settings);
    }
    snprintf(out, VALIDATION_DEFINITION_BYTES, "%016" PRIx64, text_hash(buf_text(&text), text.len));
    buf_release(&text);
}

static int session_look_validation(struct session *s, struct err *err)
{
    bool known;
    struct validation last;
    char definition[VALIDATION_DEFINITION_BYTES];
    int rc = validation_read(s->state, &last, &known, err);
    session_hash_definition(s->pipeline, definition);
    bool passed = known && last.passed && strcmp(last.definition, definition) == 0;
    s->trial = passed                           ? DEFINITION_TRIED
               : s->pipeline->validate.required ? DEFINITION_BARRED
                                                : DEFINITION_UNTRIED;
    return rc;
}

void session_close_servers(struct session *s)
{
    table_source_free(s->table);
    http_service_close(s->service);
    s->table = NULL;
    s->service = NULL;
}

void session_release(struct session *s)
{
    session_close_servers(s);
    state_close(s->state);
    mapping_release(&s->mapping);
    config_free(s->built);
    free(s->built_text);
    free(s->application_name);
}

int session_open_state(struct session *s, struct err *err)
{
    return state_open(&s->state, s->config->state_path, s->pipeline->name, err);
}

int session_hold(struct session *s, struct err *err)
{
    return lock_take(s->state, s->command, clock_wall_us(&s->clock), err);
}

static bool session_is_one_of(const struct session *s, const char *const *commands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(s->command, commands[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* What writes an index day by day needs no such rights. A look at it may have them. */
static bool session_refuses_admin(const struct session *s)
{
    static const char *const commands[] = {"sync", "run", "reindex"};
    return !s->config->accept_admin &&
           session_is_one_of(s, commands, sizeof(commands) / sizeof(commands[0]));
}

/* Reading a table may run its owner's code, even while the statement is planned. */
static bool session_refuses_superuser(const struct session *s)
{
    static const char *const commands[] = {"sync",     "run",      "reindex", "verify",
                                           "validate", "document", "resync"};
    return !s->config->accept_admin &&
           session_is_one_of(s, commands, sizeof(commands) / sizeof(commands[0]));
}

int session_open_service(struct session *s, struct err *err)
{
    int rc = s->state != NULL ? session_take_as_built(s, err) : 0;
    rc = rc == 0 && s->state != NULL ? session_look_validation(s, err) : rc;
    if (rc < 0) {
        return rc;
    }
    config_service_options(s->config, s->pipeline, &s->service_options);
    s->service_options.refuse_admin = session_refuses_admin(s);
    return http_service_open(&s->service, &s->service_options, err);
}

void session_source_options(const struct session *s, struct source_options *out)
{
    config_source_options(s->config, s->application_name, out);
    out->fences = s->fences;
    out->refuse_superuser = session_refuses_superuser(s);
}

void session_open_table(struct session *s)
{
    const struct pipeline_config *p = s->pipeline;
    struct table_source_options options = {
        .table = p->from.table,
        .key = (const char *const *)p->from.key,
        .key_count = p->from.key_count,
        .where = p->from.where,
        .capture = p->from.capture_mode,
        .cursor = p->from.cursor_column,
        .overlap_ms = p->from.overlap_ms,
        .retain_age_ms = s->config->source.retain_age_ms,
        .retain_size = s->config->source.retain_size,
        .routing = p->to.routing,
        .id = config_id(p),
        .provenance = p->to.provenance ? p->name : NULL,
        .query = p->from.query,
        .dependencies = p->from.dependencies,
        .dependency_count = p->from.dependency_count,
        .mapping = &s->mapping,
        .fields = p->fields,
        .field_count = p->field_count,
        .document_bytes = (size_t)p->limits.document_bytes,
        .readers = (size_t)p->limits.readers,
    };
    session_source_options(s, &options.connection);
    s->table = table_source_new(&options);
}

void session_options(const struct session *s, struct pipeline_options *out)
{
    const struct pipeline_config *p = s->pipeline;
    const struct limits_config *limits = &p->limits;
    *out = (struct pipeline_options){
        .definition = {.name = p->name,
                       .alias = p->to.index,
                       .stream = p->to.kind == INDEX_KIND_DATA_STREAM,
                       .ingest_pipeline = p->to.ingest_pipeline,
                       .routing = config_routing(p),
                       .mapping = &s->mapping,
                       .settings = p->to.settings,
                       .built = s->built_text,
                       .trial = s->trial,
                       .keep = p->to.keep},
        .limits = {.batch_bytes = (size_t)limits->batch_bytes,
                   .batch_operations = (size_t)limits->batch_operations,
                   .in_flight = (unsigned)limits->in_flight,
                   .window_bytes = (size_t)limits->window_bytes,
                   .document_bytes = (size_t)limits->document_bytes,
                   .retry_budget_ms = limits->retry_budget_ms},
        .guard = {.share = p->delete_guard.share, .count = p->delete_guard.count},
        .follow = {.poll_min_ms = limits->poll_min_ms,
                   .poll_max_ms = limits->poll_max_ms,
                   .linger_ms = limits->linger_ms},
        .reconcile_ms = p->from.reconcile_ms,
    };
}

void session_ports(const struct session *s, struct pipeline_ports *out)
{
    *out = (struct pipeline_ports){
        .source = table_source_port(s->table),
        .service = service_port_of(s->service),
        .state = s->state,
        .clock = s->clock,
    };
}

void session_listing(const struct session *s, const char *only, struct listing_options *out)
{
    const struct from_config *from = &s->pipeline->from;
    *out = (struct listing_options){.table = from->table,
                                    .key = (const char *const *)from->key,
                                    .key_count = from->key_count,
                                    .where = from->where,
                                    .only = only,
                                    .query = from->query,
                                    .capture = from->capture_mode,
                                    .cursor = from->cursor_column,
                                    .dependencies = from->dependencies,
                                    .dependency_count = from->dependency_count};
}

int session_examine_capture(struct pg *pg, const struct pipeline_config *pipeline,
                            const struct checkpoint *live, struct err *err)
{
    struct buf consumer;
    const struct from_config *from = &pipeline->from;
    buf_init(&consumer, CONSUMER_BYTES);
    checkpoint_push_consumer(&consumer, pipeline->name, live->generation,
                             live->index_uuid != NULL ? live->index_uuid : "");
    const struct changelog_options options = {.consumer = buf_text(&consumer),
                                              .table = from->table,
                                              .key = (const char *const *)from->key,
                                              .key_count = from->key_count,
                                              .where = from->where,
                                              .query = from->query,
                                              .dependencies = from->dependencies,
                                              .dependency_count = from->dependency_count};
    int rc = changelog_examine(pg, &options, live->position, err);
    if (rc != 0) {
        err_drop_guess(err);
        err_name_pipeline(err, pipeline->name);
    }
    buf_release(&consumer);
    return rc;
}
