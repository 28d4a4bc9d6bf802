/* SPDX-License-Identifier: Apache-2.0 */
/* The lock holder of a pipeline, its progress, and the standbys. */
#include "output/terminal.h"
#include "rowferry/document/json/record.h"
#include "status/holder_progress.h"
#include "status/status.h"

void status_push_holder(struct buf *out, const struct status *s)
{
    status_push_line(out, "holder");
    buf_printf(out, "%s\n", s->holder.hold != STATUS_UNHELD ? s->holder.name : "none");
    if (s->holder.standbys.len > 0) {
        status_push_line(out, "standby");
        buf_printf(out, "%s\n", buf_text(&s->holder.standbys));
    }
    if (s->holder.hold == STATUS_WORKING && status_state(s) != STATUS_STANDS_BY) {
        status_push_line(out, "working");
        holder_progress_push_stage(out, &s->holder.work);
        buf_push_char(out, '\n');
        status_push_line(out, "limits");
        holder_progress_push_limits(out, &s->holder.work);
        buf_push_char(out, '\n');
    }
}

void status_push_json_holder(struct buf *out, const struct status *s)
{
    record_text(out, "holder", s->holder.hold != STATUS_UNHELD ? s->holder.name : NULL);
    record_text(out, "standby", s->holder.standbys.len > 0 ? buf_text(&s->holder.standbys) : NULL);
    holder_progress_push_json(out, s->holder.hold == STATUS_WORKING ? &s->holder.work : NULL);
}
