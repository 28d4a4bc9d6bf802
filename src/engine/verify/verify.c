/* SPDX-License-Identifier: Apache-2.0 */
/* Controls a verify, and runs its first half: looks up the table's keys in the index. */
#include "verify/verify_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/clock.h"
#include "rowferry/base/log.h"
#include "rowferry/state/guard_stop.h"

#define SUSPECTS_MOST 500 /* number of suspects that triggers a second look */
#define REPLACED_MOST 3
#define SHOW_US INT64_C(200000)
#define NAME_MAX_BYTES 2048

/* --- both servers ---------------------------------------------------------------------------- */

static void verify_close_source(struct verify *v)
{
    if (v->capture != NULL) {
        v->capture->ops->free(v->capture);
    }
    listing_free(v->listing);
    v->capture = NULL;
    v->listing = NULL;
}

/* Uses a consumer name of its own, under which nothing is registered. */
static int verify_open_capture(struct verify *v, struct err *err)
{
    const struct source_port *port = &v->ports->pipeline->source;
    struct buf name;
    int rc = port->ops->connect(port->self, &v->facts, err);
    if (rc < 0) {
        return rc;
    }
    buf_init(&name, NAME_MAX_BYTES);
    buf_printf(&name, "%s/verify/%ld", v->options->pipeline->definition.name, (long)getpid());
    rc = port->ops->capture(port->self, buf_text(&name), &v->capture, err);
    buf_release(&name);
    return rc;
}

/* Checks that the generation is live and has not been replaced since the start. */
int verify_check_index(struct verify *v, struct err *err)
{
    int rc = generation_reload(&v->target, err);
    const struct checkpoint *c = &v->target.checkpoint;
    if (rc < 0) {
        return rc;
    }
    if (v->options->building) {
        snprintf(v->result->generation, sizeof(v->result->generation), "%s", c->generation);
        return generation_check_filled(&v->target, err);
    }
    if (c->phase != GENERATION_LIVE) {
        err_set(err, ERR_STATE, "it has not been synced yet");
        return err_hint(err, "run: rowferry sync %s", v->options->pipeline->definition.name);
    }
    bool same = strcmp(c->generation, v->result->generation) == 0;
    v->result->settled_us = c->settled_at_us;
    if (!same && v->result->generation[0] != '\0') {
        return VERIFY_REPLACED;
    }
    snprintf(v->result->generation, sizeof(v->result->generation), "%s", c->generation);
    return generation_prepare(&v->target, err);
}

int verify_connect(struct verify *v, struct err *err)
{
    const struct service_port *service = &v->ports->pipeline->service;
    struct pg *pg = NULL;
    verify_close_source(v);
    int rc = verify_open_capture(v, err);
    if (rc == 0) {
        rc = pg_open(&pg, v->ports->source, err);
    }
    if (rc == 0) {
        rc = listing_open(&v->listing, pg, v->ports->listing, err);
    }
    if (rc == 0) {
        rc = service->ops->greet(service->self, false, &v->target.product, err);
    }
    if (rc == 0) {
        v->target.facts = v->facts;
        rc = verify_check_index(v, err);
    }
    if (rc == 0) {
        rc = documents_form(v->ports->service, v->result->generation, &v->rules.form, err);
        v->result->form = v->rules.form;
    }
    return rc;
}

int verify_endure(struct verify *v, verify_step step, struct err *err)
{
    const struct clock *clock = &v->ports->pipeline->clock;
    int rc = step(v, err);
    while (rc == ERR_TRANSIENT && !verify_stopping(v) &&
           retry_budget_away(&v->retry_budget, clock, err)) {
        clock_sleep(retry_budget_wait_ms(&v->retry_budget, clock_monotonic_us(clock)),
                    v->options->stop);
        rc = verify_connect(v, err);
        if (rc == 0) {
            rc = step(v, err);
        }
    }
    if (rc == 0) {
        retry_budget_well(&v->retry_budget, clock);
    }
    return rc;
}

/* --- progress -------------------------------------------------------------------------------- */

void verify_begin_stage(struct verify *v, const char *stage, int64_t expected)
{
    v->stage.name = stage;
    v->stage.begun_us = clock_monotonic_us(&v->ports->pipeline->clock);
    v->stage.done = 0;
    v->stage.expected = expected;
}

void verify_moves(struct verify *v, size_t count)
{
    const struct verify_options *o = v->options;
    int64_t now = clock_monotonic_us(&v->ports->pipeline->clock);
    v->stage.done += (int64_t)count;
    if (o->progress != NULL && now - v->stage.shown_us >= SHOW_US) {
        v->stage.shown_us = now;
        o->progress(o->context, &(struct verify_progress){
                                    o->pipeline->definition.name, v->stage.name, v->stage.done,
                                    v->stage.expected, (now - v->stage.begun_us) / 1000,
                                    verify_differences(v->result)});
    }
}

/* --- the table's keys ------------------------------------------------------------------------ */

static void verify_on_document(void *context, struct span key, struct span row,
                               const struct document *document)
{
    struct verify *v = context;
    if (document->found && document->version > v->result->newest_us) {
        v->result->newest_us = document->version;
    }
    if (!document->found || document->source.len == 0 ||
        compare_documents(&v->rules, row, document->source, NULL, NULL) > 0) {
        scan_list_push(&v->suspects, key);
    }
}

static void verify_on_refused(void *context, struct span key, const char *reason)
{
    (void)reason;
    scan_list_push(&((struct verify *)context)->suspects, key);
}

int verify_look_at_page(struct verify *v, const struct look *look, struct err *err)
{
    size_t suspects = v->suspects.count;
    size_t count = v->page.count;
    struct span *keys = mem_zero(count + 1, sizeof(*keys));
    for (size_t i = 0; i < count; i++) {
        keys[i] = scan_list_get(&v->page, i);
    }
    int rc = verify_look_keys(v, keys, count, look, err);
    free(keys);
    if (rc != 0) { /* the whole page is checked again */
        scan_list_cut(&v->suspects, suspects);
    }
    return rc;
}

/* A row may be gone: deleted since it was listed, or excluded by the condition. The second half
 * covers it. */
static int verify_rows_of_page(struct verify *v, struct err *err)
{
    struct look look = {.document = verify_on_document, .refused = verify_on_refused, .context = v};
    return verify_look_at_page(v, &look, err);
}

static void verify_push_listed(void *context, struct span key)
{
    scan_list_push(context, key);
}

struct span verify_after(const struct verify *v)
{
    return v->begun ? span_make(buf_text(&v->after), v->after.len) : span_make(NULL, 0);
}

void verify_remember(struct verify *v, struct span key)
{
    buf_reset(&v->after);
    buf_push(&v->after, key.data, key.len);
    v->begun = true;
}

/* Attributes a refused condition to --where if that option was given. */
static int verify_blame_condition(const struct verify *v, int rc, struct err *err)
{
    bool own = rc == ERR_REJECTED && v->ports->listing->only != NULL;
    return own ? err_context(err, "--where") : rc;
}

static int verify_list_rows(struct verify *v, struct err *err)
{
    scan_list_cut(&v->page, 0);
    int rc =
        listing_next(v->listing, verify_after(v), VERIFY_PAGE, verify_push_listed, &v->page, err);
    return verify_blame_condition(v, rc, err);
}

static int verify_draw_sample(struct verify *v, struct err *err)
{
    scan_list_cut(&v->sample, 0);
    int rc = listing_sample(v->listing, v->options->sample, verify_push_listed, &v->sample, err);
    return verify_blame_condition(v, rc, err);
}

/* Reads the next page of keys. Sets *last if it is the last one. */
static int verify_next_rows(struct verify *v, size_t *drawn, bool *last, struct err *err)
{
    if (v->options->sample > 0) {
        scan_list_cut(&v->page, 0);
        for (; v->page.count < VERIFY_PAGE && *drawn < v->sample.count; (*drawn)++) {
            scan_list_push(&v->page, scan_list_get(&v->sample, *drawn));
        }
        *last = *drawn == v->sample.count;
        return 0;
    }
    int rc = verify_endure(v, verify_list_rows, err);
    *last = v->page.count < VERIFY_PAGE;
    if (rc == 0 && v->page.count > 0) {
        verify_remember(v, scan_list_get(&v->page, v->page.count - 1));
    }
    return rc;
}

int verify_confirm_many(struct verify *v, bool last, struct err *err)
{
    return v->suspects.count >= SUSPECTS_MOST || last ? verify_endure(v, verify_confirm, err) : 0;
}

static int verify_walk_rows(struct verify *v, struct err *err)
{
    size_t drawn = 0;
    bool last = false;
    v->begun = false;
    int rc = v->options->sample > 0 ? verify_endure(v, verify_draw_sample, err) : 0;
    verify_begin_stage(v, "rows",
                       v->options->sample > 0 ? (int64_t)v->sample.count
                                              : listing_estimated_rows(v->listing));
    while (rc == 0 && !last && !verify_stopping(v)) {
        rc = verify_next_rows(v, &drawn, &last, err);
        if (rc == 0 && v->page.count > 0) {
            rc = verify_endure(v, verify_rows_of_page, err);
        }
        if (rc == 0) {
            v->result->rows += (int64_t)v->page.count;
            verify_moves(v, v->page.count);
            rc = verify_confirm_many(v, last, err);
        }
    }
    return rc;
}

/* --- control --------------------------------------------------------------------------------- */

static int verify_look_halted(struct verify *v, struct err *err)
{
    struct guard_stop halt;
    return guard_stop_read(v->ports->pipeline->state, &halt, &v->result->halted, err);
}

static int verify_walk(struct verify *v, struct err *err)
{
    *v->result = (struct verify_result){0};
    scan_list_cut(&v->suspects, 0);
    int rc = verify_endure(v, verify_connect, err);
    if (rc == 0) {
        rc = verify_look_halted(v, err);
        v->impatient = v->result->halted; /* the lock holder settles nothing */
    }
    if (rc == 0) {
        log_event(LOG_INFO, "verify_started",
                  F_TEXT("pipeline", v->options->pipeline->definition.name),
                  F_TEXT("index", v->result->generation));
        rc = verify_walk_rows(v, err);
    }
    if (rc == 0 && !v->options->rows_only && !verify_stopping(v)) {
        rc = verify_walk_documents(v, err);
    }
    if (rc == 0 && !verify_stopping(v)) { /* make sure that the compared generation is still live */
        rc = verify_endure(v, verify_check_index, err);
    }
    v->result->stopped = verify_stopping(v);
    return rc;
}

static int verify_walk_again(struct verify *v, struct err *err)
{
    int rc = verify_walk(v, err);
    for (int i = 0; rc == VERIFY_REPLACED && i < REPLACED_MOST; i++) {
        log_event(LOG_WARN, "verify_begins_again",
                  F_TEXT("pipeline", v->options->pipeline->definition.name),
                  F_TEXT("why", "another generation is live now"));
        if (v->options->again != NULL) {
            v->options->again(v->options->context);
        }
        rc = verify_walk(v, err);
    }
    return rc == VERIFY_REPLACED
               ? err_set(err, ERR_STATE, "the index was replaced repeatedly during the comparison")
               : rc;
}

static void verify_init(struct verify *v)
{
    const struct pipeline_options *p = v->options->pipeline;
    const struct pipeline_ports *ports = v->ports->pipeline;
    v->target = (struct generation){.definition = &p->definition,
                                    .source = ports->source,
                                    .service = ports->service,
                                    .state = ports->state,
                                    .clock = ports->clock,
                                    .observes = true};
    v->rules = (struct compare_rules){.mapping = p->definition.mapping,
                                      .fields = v->options->fields,
                                      .field_count = v->options->field_count,
                                      .filled = p->definition.ingest_pipeline != NULL};
    retry_budget_init(&v->retry_budget, "source or service", p->definition.name,
                      p->limits.retry_budget_ms);
    batch_init(&v->batch, p->limits.document_bytes, p->limits.document_bytes, VERIFY_PAGE);
    v->batch.routing = p->definition.routing;
    documents_init(&v->documents);
    scan_list_init(&v->page, VERIFY_KEYS_BYTES);
    scan_list_init(&v->sample, VERIFY_KEYS_BYTES);
    scan_list_init(&v->suspects, VERIFY_KEYS_BYTES);
    scan_page_init(&v->scanned);
    buf_init(&v->after, NAME_MAX_BYTES * 32);
}

static void verify_release(struct verify *v)
{
    verify_close_source(v);
    generation_release(&v->target);
    batch_release(&v->batch);
    documents_release(&v->documents);
    scan_list_release(&v->page);
    scan_list_release(&v->sample);
    scan_list_release(&v->suspects);
    scan_page_release(&v->scanned);
    buf_release(&v->after);
}

static void verify_log_end(const struct verify *v)
{
    const struct verify_result *r = v->result;
    log_event(verify_differences(r) > 0 ? LOG_WARN : LOG_INFO, "verify_ended",
              F_TEXT("pipeline", v->options->pipeline->definition.name), F_INT("rows", r->rows),
              F_INT("documents", r->documents), F_INT("missing", r->found[VERIFY_MISSING]),
              F_INT("extra", r->found[VERIFY_EXTRA]), F_INT("altered", r->found[VERIFY_ALTERED]),
              F_INT("dead_letters", r->found[VERIFY_LETTER]), F_INT("waiting", r->waiting),
              F_BOOL("stopped", r->stopped));
}

int verify_run(const struct verify_options *options, const struct verify_ports *ports,
               struct verify_result *result, struct err *err)
{
    struct verify v = {.options = options, .ports = ports, .result = result};
    *result = (struct verify_result){0};
    verify_init(&v);
    int rc = generation_init(&v.target, err);
    if (rc == 0) {
        rc = verify_walk_again(&v, err);
    }
    if (rc == 0) {
        rc = verify_look_halted(&v, err);
    }
    if (rc == 0) { /* the caller logs a failure */
        verify_log_end(&v);
    }
    verify_release(&v);
    return rc;
}
