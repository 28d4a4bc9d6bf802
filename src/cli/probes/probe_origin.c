/* SPDX-License-Identifier: Apache-2.0 */
/* check: an existing index. Whether it was built from the configured definition, line by line, and
 * fields that its older documents lack. */
#include <stdlib.h>
#include <string.h>

#include "probes/probe.h"
#include "rowferry/base/text.h"
#include "rowferry/document/mapping/mapdiff.h"
#include "rowferry/service/index/index.h"
#include "rowferry/state/definition.h"

#define MAPPING_MAX_BYTES ((size_t)64 << 20)

/* Compares the live mapping if no definition of the index is recorded. */
static void probe_origin_report_live_mapping(struct check *c, struct session *s, const char *index,
                                             enum verdict verdict)
{
    struct buf live;
    struct buf configured;
    struct buf line;
    struct mapdiff diff = {0};
    struct err ignored;
    buf_init(&live, MAPPING_MAX_BYTES);
    buf_init(&configured, MAPPING_MAX_BYTES);
    buf_init(&line, MAPPING_MAX_BYTES);
    mapping_write(&configured, &s->mapping, NULL);
    if (index_mapping(c->session.service, index, &live, &ignored) == 0 &&
        mapdiff_make(&diff, buf_text(&configured), buf_text(&live), &ignored) == 0) {
        for (size_t i = 0; i < diff.count; i++) {
            buf_reset(&line);
            mapdiff_describe(&line, &diff.lines[i]);
            check_report(c, verdict, NULL, "%s", buf_text(&line));
        }
    }
    mapdiff_release(&diff);
    buf_release(&live);
    buf_release(&configured);
    buf_release(&line);
}

static bool probe_origin_is_stream(const struct check *c)
{
    return c->pipeline->to.kind == INDEX_KIND_DATA_STREAM;
}

static void probe_origin_report_additive(struct check *c, const struct drift_found *d,
                                         const char *index)
{
    struct buf remedy;
    buf_init(&remedy, 4096);
    buf_printf(&remedy, "the next sync applies it; then older documents lack it%s%s",
               probe_origin_is_stream(c) ? "" : " until: rowferry reindex ",
               probe_origin_is_stream(c) ? "" : c->pipeline->name);
    check_report(c, VERDICT_WARN, buf_text(&remedy), "index \"%s\" can be extended as configured",
                 index);
    for (size_t i = 0; i < d->line_count; i++) {
        check_report(c, VERDICT_WARN, NULL, "%s", d->lines[i]);
    }
    buf_release(&remedy);
}

static void probe_origin_report_rebuild(struct check *c, struct session *s,
                                        const struct drift_found *d, const char *index)
{
    struct buf remedy;
    buf_init(&remedy, 4096);
    buf_printf(&remedy, "restore its former definition, or %s%s",
               probe_origin_is_stream(c) ? "fill a new data stream: give the "
                                           "pipeline another name and another to.index"
                                         : "rebuild the index: rowferry reindex ",
               probe_origin_is_stream(c) ? "" : c->pipeline->name);
    check_report(c, VERDICT_FAIL, buf_text(&remedy),
                 "index \"%s\" has another definition: %s that it was built from", index, d->what);
    for (size_t i = 0; i < d->line_count; i++) {
        check_report(c, VERDICT_FAIL, NULL, "%s", d->lines[i]);
    }
    if (d->line_count == 0) {
        probe_origin_report_live_mapping(c, s, index, VERDICT_FAIL);
    }
    buf_release(&remedy);
}

static void probe_origin_report_lacking(struct check *c, struct state *state, const char *index)
{
    struct lacking lacking = {0};
    struct err ignored;
    struct buf remedy;
    buf_init(&remedy, 4096);
    if (state != NULL && !probe_origin_is_stream(c) &&
        definition_extension_look(state, index, &lacking, &ignored) == 0 &&
        lacking.properties != NULL) {
        buf_printf(&remedy, "run: rowferry reindex %s", c->pipeline->name);
        check_report(c, VERDICT_WARN, buf_text(&remedy),
                     "documents older than an addition to the mapping lack %s", lacking.properties);
    }
    free(lacking.properties);
    buf_release(&remedy);
}

/* Returns true if the pipeline has returned to the definition that the index was built from. */
static bool probe_origin_is_returned(const struct session *s, struct state *state)
{
    struct err ignored;
    bool returned = false;
    return state != NULL && session_look_returned(state, s->pipeline, &returned, &ignored) == 0 &&
           returned;
}

static void probe_origin_report_returned(struct check *c, const struct drift_found *d,
                                         const char *index)
{
    check_report(c, VERDICT_WARN, NULL,
                 "index \"%s\" is kept by its own definition since a rollback: %s that it "
                 "was built from",
                 index, d->what);
    check_remedy(c, "restore that definition in the file, or: rowferry reindex %s",
                 c->pipeline->name);
}

static void probe_origin_report_found(struct check *c, struct session *s, struct state *state,
                                      const struct drift_found *d, const char *index)
{
    if (d->kind != DRIFT_NONE && probe_origin_is_returned(s, state)) {
        probe_origin_report_returned(c, d, index);
        return;
    }
    switch (d->kind) {
    case DRIFT_NONE:
        check_pass(c, "index \"%s\" was built from this configuration", index);
        break;
    case DRIFT_ADDITIVE:
        probe_origin_report_additive(c, d, index);
        break;
    case DRIFT_REBUILD:
        probe_origin_report_rebuild(c, s, d, index);
        return;
    }
    probe_origin_report_lacking(c, state, index);
}

static void probe_origin_report(struct check *c, struct session *s, const struct index_info *index)
{
    struct err err;
    struct source_facts facts;
    struct pipeline_options options;
    struct drift_found found = {0};
    session_options(s, &options);
    session_open_table(s);
    struct source_port source = table_source_port(s->table);
    if (source.ops->connect(source.self, &facts, &err) < 0) { /* other lines explain it */
        check_report(c, VERDICT_SKIP, NULL,
                     "skipped: needs a table, a change log and a mapping that fit");
        return;
    }
    struct state *state = NULL; /* stays null if it is missing or unreadable, which others report */
    (void)!state_open_read_only(&state, s->config->state_path, s->pipeline->name, &err);
    if (schema_pipeline_drift(&options.definition, &facts, index, state, &found, &err) < 0) {
        check_fail(c, &err);
    } else {
        probe_origin_report_found(c, s, state, &found, index->name);
    }
    if (found.kind == DRIFT_NONE &&
        place_pipeline_check(&options.definition, &facts, index, state, &err) < 0) {
        check_fail(c, &err);
    }
    drift_release(&found);
    state_close(state);
}

/* Examines only an index that this pipeline built. probe_index reports other owners. */
static void probe_origin(struct check *c)
{
    struct err err;
    enum alias_kind kind;
    struct index_info index;
    struct session s;
    if (index_resolve(c->session.service, c->pipeline->to.index, &kind, &index, &err) < 0) {
        check_fail(c, &err);
        return;
    }
    if ((kind != ALIAS_ONE && kind != ALIAS_STREAM) ||
        strcmp(index.pipeline, c->pipeline->name) != 0) {
        return;
    }
    if (session_init(&s, c->setup->config, c->pipeline, "check", &err) < 0) {
        check_fail(c, &err);
    } else {
        probe_origin_report(c, &s, &index);
    }
    session_release(&s);
}

const struct probe probes_origin[] = {
    {"definition", FACT_SERVICE | FACT_RIGHTS | FACT_TABLE | FACT_LOG, 0, probe_origin},
    {0},
};
