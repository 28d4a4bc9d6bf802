/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the parts of a loop together. */
#include "pipeline/loop.h"
#include "rowferry/state/guard_stop.h"

/* Returns the target size of a batch: a share of the window, so that all batches in flight and the
 * one being filled fit into it together. */
static size_t loop_init_batch_bytes(const struct pipeline_options *options)
{
    size_t share = options->limits.window_bytes / (options->limits.in_flight + 1);
    return share < options->limits.batch_bytes ? share : options->limits.batch_bytes;
}

/* Initializes the guards with the last guard stop and the permission granted for it, if any. */
static int loop_init_guards(struct loop *l, struct err *err)
{
    const struct pipeline_options *options = l->options;
    struct guard_stop halt;
    bool known;
    int rc = guard_stop_read(l->view.state, &halt, &known, err);
    l->reject_guard = (struct reject_guard){.view = &l->view,
                                            .pending_commit = &l->pending_commit,
                                            .building = options->mode == PIPELINE_BUILD};
    l->deletes = (struct deletes){.view = &l->view,
                                  .reader = &l->source_reader,
                                  .service_retry = &l->service_retry,
                                  .backup = &l->backup,
                                  .pending_commit = &l->pending_commit};
    deletes_init(&l->deletes, &options->guard,
                 rc == 0 && options->permission.deletes ? halt.deletes : 0);
    reject_stats_init(&l->reject_guard.rejects, options->permission.rejections ? halt.reason : "",
                      halt.reason);
    return rc < 0 ? rc : reconcile_load(&l->deletes, options->reconcile_ms, err);
}

static void loop_init_watchers(struct loop *l)
{
    const struct pipeline_options *options = l->options;
    struct loop_watchers *w = &l->watchers;
    w->alias = (struct alias_watch){.view = &l->view, .service_retry = &l->service_retry};
    w->lag_monitor = (struct lag_monitor){
        .view = &l->view,
        .reader = &l->source_reader,
        .stall = options->follow.stall,
        .moment = &w->report.moment,
        .queries = options->mode != PIPELINE_REQUESTS &&
                   (options->follow.snapshot != NULL || options->follow.stall != NULL),
        .waiting = -1};
    w->report = (struct progress_report){.view = &l->view,
                                         .lag_monitor = &w->lag_monitor,
                                         .growth_watch = &w->growth,
                                         .flow = &l->sender.flow,
                                         .snapshot = options->follow.snapshot,
                                         .progress = options->hooks.progress,
                                         .progress_context = options->hooks.progress_context,
                                         .moment = {.work = {.lag_rows = -1}, .dead_letters = -1},
                                         .written = {.at_us = l->view.started_us},
                                         .logged = {.at_us = l->view.started_us}};
    w->growth = (struct growth_watch){.view = &l->view, .flow = &l->sender.flow};
    w->batch_limit = (struct batch_limit){.view = &l->view, .flow = &l->sender.flow};
    w->retention = (struct consumer_retention){.view = &l->view, .reader = &l->source_reader};
    lag_monitor_begin(&w->lag_monitor);
}

/* Registers guards and observers, in the order in which they act. */
static void loop_init_register(struct loop *l)
{
    struct loop_watchers *w = &l->watchers;
    const struct loop_observer all[] = {
        lag_monitor_observer(&w->lag_monitor),
        reject_guard_observer(&l->reject_guard),
        {.self = &l->deletes, .on_change = deletes_on_change},
        {.self = &w->report, .on_turn = progress_report_on_turn},
        {.self = &w->growth, .on_turn = growth_watch_on_turn},
        {.self = &w->batch_limit, .on_turn = batch_limit_on_turn},
        {.self = &w->alias, .on_turn = alias_watch_on_turn},
        {.self = &w->retention,
         .on_page = l->options->mode != PIPELINE_BUILD ? consumer_retention_on_page : NULL},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        loop_observers_add(&l->observers, &all[i]);
    }
}

static void loop_init_view(struct loop *l, const struct pipeline_ports *ports)
{
    l->view = (struct loop_view){.target = {.pipeline = l->options->definition.name,
                                            .stream = l->options->definition.stream},
                                 .service = ports->service,
                                 .state = ports->state,
                                 .clock = ports->clock,
                                 .started_us = clock_monotonic_us(&ports->clock),
                                 .stop = l->options->hooks.stop,
                                 .counters = &l->counters,
                                 .window = &l->window,
                                 .reader = &l->source_reader,
                                 .service_retry = &l->service_retry};
}

int loop_init(struct loop *l, const struct pipeline_options *options,
              const struct pipeline_ports *ports, struct err *err)
{
    *l = (struct loop){.options = options, .reading = {.let_go_us = LOOP_LET_GO_US}};
    struct sender_options sending = {.in_flight = options->limits.in_flight,
                                     .batch_bytes = loop_init_batch_bytes(options),
                                     .document_bytes = options->limits.document_bytes,
                                     .batch_operations = options->limits.batch_operations,
                                     .routing = options->definition.routing,
                                     .creates = options->definition.stream};
    loop_init_view(l, ports);
    retry_budget_init(&l->source_retry, "source", options->definition.name,
                      options->limits.retry_budget_ms);
    retry_budget_init(&l->service_retry, "service", options->definition.name,
                      options->limits.retry_budget_ms);
    window_init(&l->window, options->limits.window_bytes);
    sender_init(&l->sender, &sending, ports->service, &l->counters);
    l->sender.ingest_pipeline = options->definition.ingest_pipeline;
    l->sender.open_letters = &l->pending_commit.open;
    l->source_reader = (struct source_reader){.source = ports->source,
                                              .state = ports->state,
                                              .clock = ports->clock,
                                              .window = &l->window,
                                              .retry_budget = &l->source_retry,
                                              .only_asked = options->mode == PIPELINE_REQUESTS};
    checkpoint_backup_init(&l->backup, &l->source_reader);
    requests_init(&l->requests, ports->state, ports->clock);
    l->requests.pipeline = options->definition.name;
    l->requests.source_reader = &l->source_reader;
    l->requests.pending_commit = &l->pending_commit;
    l->requests.deletes_guard = &l->deletes.guard;
    l->requests.rejects = &l->reject_guard.rejects;
    l->requests.permission = options->permission.request;
    l->requests.asked = options->follow.asked;
    l->requests.asked_context = options->follow.asked_context;
    follow_init(l);
    loop_init_watchers(l);
    loop_init_register(l);
    int rc = loop_init_guards(l, err);
    rc = rc == 0 ? batch_limit_load(&l->watchers.batch_limit, err) : rc;
    return rc < 0 ? rc : pending_commit_init(&l->pending_commit, ports->state, err);
}

void loop_release(struct loop *l)
{
    source_reader_release(&l->source_reader);
    requests_release(&l->requests);
    deletes_release(&l->deletes);
    pending_commit_release(&l->pending_commit);
    checkpoint_backup_release(&l->backup);
    sender_release(&l->sender);
    window_release(&l->window);
    wakeup_close(&l->follow.wakeup);
}
