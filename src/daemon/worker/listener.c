/* SPDX-License-Identifier: Apache-2.0 */
/* Connects the pipeline workers with the HTTP server. */
#include "rowferry/daemon/worker/listener.h"

#include <stdlib.h>

#include "rowferry/base/log.h"
#include "rowferry/base/text.h"
#include "rowferry/source/pg/pg.h"

#define PLACE_BYTES 2048

static int64_t listener_silent_ms(void *context, size_t pipeline)
{
    const struct listener *l = context;
    const struct pipeline_worker *r = &l->workers[pipeline];
    const struct clock clock = clock_system();
    return pipeline_worker_silent_ms(r, clock_monotonic_us(&clock));
}

static void listener_describe_snapshot(void *context, size_t pipeline,
                                       const struct status_snapshot_view *view, struct buf *out)
{
    const struct listener *l = context;
    l->describe(out, l->config, config_pipeline(l->config, l->workers[pipeline].name), view);
}

static void listener_report(const struct listener *l)
{
    log_event(LOG_INFO, "listening", F_TEXT("address", serve_address(l->serve)));
    if (serve_is_open(l->serve)) {
        log_event(LOG_WARN, "listening_open", F_TEXT("address", serve_address(l->serve)),
                  F_TEXT("message", "any client of this address can read metrics and status: no "
                                    "credential is asked for"));
    }
}

int listener_start(struct listener *l, const struct config *config, struct pipeline_worker *workers,
                   size_t count, listener_describe describe_pipeline, int64_t silent_most_ms,
                   struct err *err)
{
    *l = (struct listener){.config = config, .workers = workers, .describe = describe_pipeline};
    if (config->listen == NULL) {
        return 0;
    }
    buf_init(&l->source, PLACE_BYTES);
    buf_init(&l->service, PLACE_BYTES);
    pg_place(config->source.uri, &l->source);
    config_push_service_place(&config->service, &l->service);
    l->snapshots = mem_zero(count, sizeof(*l->snapshots));
    for (size_t i = 0; i < count; i++) {
        l->snapshots[i] = workers[i].shared.snapshot;
    }
    const struct serve_options options = {.listen = config->listen,
                                          .names = (const char *const *)config->listen_names,
                                          .name_count = config->listen_name_count,
                                          .source = buf_text(&l->source),
                                          .service = buf_text(&l->service),
                                          .snapshots = l->snapshots,
                                          .count = count,
                                          .silent_most_ms = silent_most_ms,
                                          .silent_ms = listener_silent_ms,
                                          .describe = listener_describe_snapshot,
                                          .context = l,
                                          .clock = clock_system()};
    int rc = serve_start(&l->serve, &options, err);
    if (rc == 0) {
        listener_report(l);
    }
    return rc;
}

int64_t listener_sample(struct listener *l)
{
    return l->serve != NULL ? serve_sample(l->serve) : -1;
}

void listener_stop(struct listener *l)
{
    serve_stop(l->serve);
    buf_release(&l->source);
    buf_release(&l->service);
    free(l->snapshots);
    l->serve = NULL;
    l->snapshots = NULL;
}
