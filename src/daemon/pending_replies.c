/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the replies to the state file. */
#include "rowferry/daemon/pending_replies.h"

#include <stdlib.h>

#include "rowferry/base/clock.h"
#include "rowferry/base/log.h"
#include "rowferry/document/json/record.h"
#include "rowferry/state/request.h"

#define ANSWER_BYTES ((size_t)16 * 1024)

void pending_replies_push(struct pending_replies *a, int64_t id)
{
    if (id != 0) {
        a->ids = mem_grow(a->ids, a->count + 1, sizeof(*a->ids));
        a->ids[a->count++] = id;
    }
}

static void pending_replies_answer_all(struct pending_replies *a, struct state *state,
                                       const char *pipeline, enum request_state now,
                                       const char *text)
{
    const struct clock clock = clock_system();
    for (size_t i = 0; i < a->count; i++) {
        struct err err;
        if (request_answer(state, a->ids[i], now, text, clock_wall_us(&clock), &err) < 0) {
            log_err(LOG_WARN, "not_answered", pipeline, &err);
        }
    }
    free(a->ids);
    *a = (struct pending_replies){0};
}

void pending_replies_refuse(struct pending_replies *a, struct state *state, const char *pipeline,
                            const struct err *why, const struct rebuild_outcome *rebuilt)
{
    struct buf text;
    buf_init(&text, ANSWER_BYTES);
    record_open(&text);
    record_text(&text, "error", why->message);
    record_text(&text, "hint", why->hint[0] != '\0' ? why->hint : NULL);
    if (rebuilt != NULL) {
        rebuild_outcome_push_members(&text, rebuilt);
    }
    record_close(&text);
    pending_replies_answer_all(a, state, pipeline, REQUEST_FAILED, buf_text(&text));
    buf_release(&text);
}

void pending_replies_answer(struct pending_replies *a, struct state *state, const char *pipeline,
                            const struct rebuild_outcome *rebuilt)
{
    struct buf text;
    buf_init(&text, ANSWER_BYTES);
    rebuild_outcome_push_answer(&text, rebuilt);
    pending_replies_answer_all(a, state, pipeline, REQUEST_DONE, buf_text(&text));
    buf_release(&text);
}

void pending_replies_put_back(struct pending_replies *a, struct state *state, const char *pipeline)
{
    pending_replies_answer_all(a, state, pipeline, REQUEST_FILED, "{}");
}
