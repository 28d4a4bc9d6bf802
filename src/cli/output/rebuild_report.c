/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the outcome of a rebuild. */
#include "output/rebuild_report.h"

#include "output/result.h"
#include "rowferry/base/units.h"
#include "rowferry/document/json/record.h"

static void rebuild_report_push_live(struct buf *out, const struct rebuild_outcome *r,
                                     const char *took)
{
    char some[UNITS_BYTES];
    char all[UNITS_BYTES];
    buf_printf(out,
               "%s %s in %s: ", r->kind == REBUILD_OUTCOME_BACK ? "rolled back to" : "rebuilt as",
               r->generation, took);
    if (r->documents >= 0) {
        result_push_count(out, r->documents, "document");
        buf_push_literal(out, ", ");
    }
    result_push_count(out, r->dead_letters, "dead letter");
    buf_printf(out, "; checked %s", units_count(some, r->checked));
    if (r->rows >= 0) {
        buf_printf(out, " of %s", units_count(all, r->rows));
    }
    if (r->adopted) {
        buf_printf(out, "; the previous index is kept as %s", r->former);
    } else if (r->kept) {
        buf_printf(out, "; %s is kept for --rollback", r->former);
    } else if (r->former[0] != '\0') {
        buf_printf(out, "; %s is not kept", r->former);
    }
}

static void rebuild_report_push_end(struct buf *out, const struct rebuild_report_end *end)
{
    if (end->exit_code == EXIT_HELD) {
        buf_push_literal(out, "skipped, another process holds it");
    } else if (end->err != NULL) {
        buf_push_text(out, end->abort  ? "not aborted"
                           : end->back ? "not rolled back"
                                       : "not rebuilt");
    } else if (end->stopped && end->asked) {
        buf_push_literal(out, "left; the holder continues");
    } else if (end->stopped) {
        buf_printf(out, "stopped; rowferry reindex%s %s continues it, --abort %s",
                   end->back ? " --rollback" : "", end->pipeline,
                   end->back ? "gives it up" : "removes it");
    } else {
        buf_push_literal(out, "no rebuild is under way");
    }
}

static void rebuild_report_push_aborted(struct buf *out, const struct rebuild_outcome *r)
{
    if (r->kept) {
        buf_printf(out, "aborted, %s stays as it was: not live", r->former);
    } else if (r->generation[0] != '\0') {
        buf_printf(out, "aborted, %s is removed", r->generation);
    } else {
        buf_push_literal(out, "aborted, nothing was built yet");
    }
}

static void rebuild_report_push_text(struct buf *out, const struct rebuild_outcome *r,
                                     const struct rebuild_report_end *end)
{
    char took[UNITS_BYTES];
    buf_printf(out, "%s: ", end->pipeline);
    result_duration(took, end->took_ms);
    switch (r->kind) {
    case REBUILD_OUTCOME_NEW:
    case REBUILD_OUTCOME_BACK:
        rebuild_report_push_live(out, r, took);
        break;
    case REBUILD_OUTCOME_FIRST:
        buf_printf(out, "built as %s in %s, the first load", r->generation, took);
        break;
    case REBUILD_OUTCOME_ABORTED:
        rebuild_report_push_aborted(out, r);
        break;
    case REBUILD_OUTCOME_NOTHING:
    default:
        rebuild_report_push_end(out, end);
        break;
    }
    buf_push_char(out, '\n');
    if (end->file_differs) {
        buf_printf(out,
                   "%s: the file has another definition now, which is not used until rowferry "
                   "reindex %s\n",
                   end->pipeline, end->pipeline);
    }
    if (r->dead_letters > 0 &&
        r->kind != REBUILD_OUTCOME_NOTHING) { /* else they belong to a generation
                                               * that was not used */
        buf_printf(out, "%s: ", end->pipeline);
        result_push_count(out, r->dead_letters, "dead letter");
        buf_printf(out, " open; see: rowferry deadletter list %s\n", end->pipeline);
    }
}

static void rebuild_report_push_json(struct buf *out, const struct rebuild_outcome *r,
                                     const struct rebuild_report_end *end)
{
    record_open(out);
    record_text(out, "pipeline", end->pipeline);
    rebuild_outcome_push_members(out, r);
    record_bool(out, "stopped", end->stopped);
    record_bool(out, "file_differs", end->file_differs);
    record_seconds(out, "seconds", end->took_ms);
    record_int(out, "exit_code", end->exit_code);
    record_text(out, "error", end->err != NULL ? end->err->message : NULL);
    record_close(out);
    buf_push_char(out, '\n');
}

void rebuild_report_push(struct buf *out, bool json, const struct rebuild_outcome *r,
                         const struct rebuild_report_end *end)
{
    if (json) {
        rebuild_report_push_json(out, r, end);
    } else {
        rebuild_report_push_text(out, r, end);
    }
}
