/* SPDX-License-Identifier: Apache-2.0 */
/* Files a request for a rebuild and follows it. */
#include "client/rebuild_client.h"

#include "client/holder_client.h"
#include "status/holder_progress.h"

#define ARGUMENTS_BYTES 4096

static int rebuild_client_take(void *context, const struct holder_reply *reply, struct err *err)
{
    struct rebuild_client *k = context;
    /* a failed rebuild may have progress too */
    bool read = reply->final && rebuild_outcome_read_answer(&k->rebuilt, reply->text);
    return read || reply->state != REQUEST_DONE
               ? 0
               : err_set(err, ERR_STATE, "cannot read the holder's answer");
}

/* Appends the progress of the next generation, if the state file records it. */
static void rebuild_client_show(void *context, struct buf *line)
{
    const struct rebuild_client *k = context;
    struct state *next = NULL;
    struct err ignored;
    if (rebuild_open(k->session->state, &next, &ignored) == 0 && next != NULL) {
        holder_progress_push_recorded(line, next);
    }
    state_close(next);
}

int rebuild_client(struct rebuild_client *k, struct err *err)
{
    struct buf arguments;
    struct holder_client client = {.session = k->session,
                                   .request = k->request,
                                   .stop = k->stop,
                                   .progress = k->progress,
                                   .take = rebuild_client_take,
                                   .show = rebuild_client_show,
                                   .context = k};
    buf_init(&arguments, ARGUMENTS_BYTES);
    rebuild_arguments_push(&arguments, k->session->pipeline, &k->terms);
    int rc = holder_client_file(&client, buf_text(&arguments), err);
    buf_release(&arguments);
    if (rc == 0) {
        k->id = client.ids[0];
        rc = holder_client_follow(&client, err);
    }
    k->held = rc == 0 && client.holding && client.answered == 0;
    k->taken = client.taken;
    k->stopped = client.stopped;
    holder_client_release(&client);
    return rc;
}
