/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of other commands to a rebuild worker. */
#include <string.h>

#include "rowferry/daemon/rebuild_worker.h"
#include "rowferry/engine/pipeline/requests.h"

struct rebuild_request_fit {
    const char *arguments;
    struct rebuild_terms *terms;
};

static bool rebuild_worker_request_fits(void *context, const struct pipeline_config *pipeline)
{
    const struct rebuild_request_fit *fit = context;
    return rebuild_arguments_read(fit->arguments, pipeline, fit->terms);
}

/* Checks that the requester and this process have the same definition of the pipeline. If they
 * differ, the file may have changed since it was read. */
static int rebuild_worker_request_agree(struct rebuild_worker *b, const char *arguments,
                                        struct rebuild_terms *terms, struct err *err)
{
    struct rebuild_request_fit fit = {arguments, terms};
    struct settings_reload *settings = b->options.settings;
    struct reading *reading = settings_reload_take(settings);
    bool same =
        rebuild_worker_request_fits(&fit, config_pipeline(&reading->config, b->options.pipeline));
    settings_reload_drop(settings, reading);
    if (same) {
        return 0;
    }
    int rc = settings_reload_redefine(settings, b->options.pipeline, rebuild_worker_request_fits,
                                      &fit, &same, err);
    if (rc == 0 && !same) {
        rc = err_set(err, ERR_STATE, "the process that holds it has another configuration");
        err_hint(
            err,
            "change \"%s\", which it read; another table, key, capture or alias needs a restart",
            settings->first->path);
    }
    return rc;
}

static int rebuild_worker_request_do(struct rebuild_worker *b, int64_t id, const char *command,
                                     const char *arguments, struct err *err)
{
    struct rebuild_terms terms;
    if (strcmp(command, REQUEST_ABORT_REBUILD) == 0) {
        rebuild_worker_abort(b, id);
        return 0;
    }
    int rc = rebuild_worker_request_agree(b, arguments, &terms, err);
    if (rc < 0) {
        return rc;
    }
    enum rebuild_kind kind = strcmp(command, REQUEST_ROLLBACK) == 0 ? REBUILD_BACK : REBUILD_NEW;
    return rebuild_worker_begin(b, id, kind, &terms, err);
}

bool rebuild_worker_asked(void *context, int64_t id, const char *command, const char *arguments)
{
    struct rebuild_worker *b = context;
    struct err err;
    if (rebuild_worker_request_do(b, id, command, arguments, &err) < 0) {
        struct pending_replies one = {0};
        pending_replies_push(&one, id);
        pending_replies_refuse(&one, b->options.state, b->options.pipeline, &err, NULL);
    }
    return true;
}
