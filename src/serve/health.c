/* SPDX-License-Identifier: Apache-2.0 */
/* Decides on readiness and describes the state. */
#include "rowferry/serve/health.h"

#include <string.h>

#include "rowferry/base/text.h"

static const char *const ready_stages[] = {"following", "standing by", "paused"};

static bool health_is_ready_stage(const char *stage)
{
    for (size_t i = 0; i < sizeof(ready_stages) / sizeof(ready_stages[0]); i++) {
        if (strcmp(stage, ready_stages[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool health_ready(const struct status_snapshot_view *v)
{
    const struct status_snapshot_moment *m = &v->moment;
    return !v->over && health_is_ready_stage(v->stage) && m->work.stall[0] == '\0' &&
           !m->source_away && !m->service_away;
}

static void health_push_safe(struct buf *out, const char *text)
{
    text_escape(out, text, strlen(text));
}

/* A stall names the servers itself. */
static const char *health_away(const struct status_snapshot_moment *m)
{
    if (m->work.stall[0] != '\0' || (!m->source_away && !m->service_away)) {
        return "";
    }
    return m->source_away             ? ", the source is unreachable"
           : m->service_status == 0   ? ", the service is unreachable"
           : m->service_status == 200 ? ", an answer of the service cannot be read"
                                      : ", the service answers, but accepts nothing";
}

void health_push_words(struct buf *out, const struct status_snapshot_view *v)
{
    const struct status_snapshot_moment *m = &v->moment;
    if (v->over) {
        buf_printf(out, "stopped with exit code %d%s", v->exit_code,
                   v->message[0] != '\0' ? ": " : "");
        health_push_safe(out, v->message);
        return;
    }
    health_push_safe(out, v->stage);
    if (m->work.stall[0] != '\0') {
        buf_printf(out, ", stalled (");
        health_push_safe(out, m->work.stall);
        buf_push_literal(out, "): ");
        health_push_safe(out, m->work.stall_why);
    }
    buf_push_text(out, health_away(m));
}
