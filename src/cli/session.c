/* SPDX-License-Identifier: Apache-2.0 */
/* From a pipeline's configuration to its open parts. */
#include "session.h"

#include <stdlib.h>

#include "rowferry/base/buf.h"
#include "rowferry/service/http.h"
#include "rowferry/state/lock.h"

int session_init(struct session *s, const struct config *config,
                 const struct pipeline_config *pipeline, const char *command, struct err *err)
{
    *s = (struct session){
        .config = config, .pipeline = pipeline, .command = command, .clock = clock_system()};
    struct buf name;
    buf_init(&name, 1024);
    buf_printf(&name, "rowferry %s %s", command, pipeline->name);
    s->application_name = buf_detach(&name);
    return mapping_parse(&s->mapping, pipeline->to.mappings, err);
}

void session_release(struct session *s)
{
    table_source_free(s->table);
    service_close(s->service);
    state_close(s->state);
    mapping_release(&s->mapping);
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

int session_open_service(struct session *s, struct err *err)
{
    config_service_options(s->config, s->pipeline, &s->service_options);
    return service_open(&s->service, &s->service_options, err);
}

void session_source_options(const struct session *s, struct source_options *out)
{
    config_source_options(s->config, s->application_name, out);
}

void session_open_table(struct session *s)
{
    const struct pipeline_config *p = s->pipeline;
    struct table_source_options options = {
        .table = p->from.table,
        .key = (const char *const *)p->from.key,
        .key_count = p->from.key_count,
        .where = p->from.where,
        .cursor = p->from.cursor_column,
        .overlap_ms = p->from.overlap_ms,
        .query = p->from.query,
        .dependencies = p->from.dependencies,
        .dependency_count = p->from.dependency_count,
        .mapping = &s->mapping,
        .fields = p->fields,
        .field_count = p->field_count,
        .document_bytes = (size_t)p->limits.document_bytes,
    };
    session_source_options(s, &options.connection);
    s->table = table_source_new(&options);
}

void session_options(const struct session *s, struct pipeline_options *out)
{
    const struct pipeline_config *p = s->pipeline;
    const struct limits_config *limits = &p->limits;
    *out = (struct pipeline_options){
        .name = p->name,
        .alias = p->to.index,
        .ingest_pipeline = p->to.ingest_pipeline,
        .mapping = &s->mapping,
        .settings = p->to.settings,
        .batch_bytes = (size_t)limits->batch_bytes,
        .batch_operations = (size_t)limits->batch_operations,
        .in_flight = (unsigned)limits->in_flight,
        .window_bytes = (size_t)limits->window_bytes,
        .document_bytes = (size_t)limits->document_bytes,
        .retry_budget_ms = limits->retry_budget_ms,
        .guard_share = p->delete_guard.share,
        .guard_count = p->delete_guard.count,
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
