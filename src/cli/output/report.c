/* SPDX-License-Identifier: Apache-2.0 */
/* Tells and records how a command ended. */
#include "output/report.h"

#include <stdio.h>

#include "output/terminal.h"
#include "rowferry/state/history.h"

#define RESULT_BYTES (64 * 1024)

enum exit_code report_exit_code(const struct arguments *a, const struct pipeline_result *result,
                                int rc)
{
    if (rc < 0) {
        return err_exit_code((enum err_class)rc);
    }
    bool open = result->dead_letters > 0;
    return open && !arguments_have(a, OPTION_DEAD_LETTERS_OK) ? EXIT_DEAD_LETTERS : EXIT_DONE;
}

int report_begin(struct session *s, int64_t *id, struct err *err)
{
    return history_begin(s->state, s->command, clock_wall_us(&s->clock), id, err);
}

int report_end(struct session *s, int64_t id, const struct sync_outcome *o, struct err *err)
{
    const struct counters *c = &o->result.counters;
    struct run run = {.id = id,
                      .ended_us = clock_wall_us(&s->clock),
                      .upserts = c->upserts,
                      .deletes = c->deletes,
                      .rejected = c->rejected,
                      .bytes = c->bytes,
                      .exit_code = (int)o->exit_code};
    if (o->err != NULL) {
        snprintf(run.message, sizeof(run.message), "%s", o->err->message);
    }
    return history_end(s->state, &run, err);
}

void report_write(const struct buf *result, struct sync_outcome *o, struct progressline *progress)
{
    struct err unwritten;
    progressline_clear(progress);
    if (o->err != NULL) {
        terminal_error(o->pipeline, o->err);
    }
    if (terminal_result(result, &unwritten) < 0) {
        terminal_error(o->pipeline, &unwritten);
        o->exit_code = exit_code_worse(o->exit_code, EXIT_TEMPORARY);
    }
}

void report_tell(const struct arguments *a, struct sync_outcome *o, struct progressline *progress)
{
    struct buf out;
    buf_init(&out, RESULT_BYTES);
    if (arguments_have(a, OPTION_JSON)) {
        result_push_json(&out, o);
    } else {
        result_push_text(&out, o);
    }
    report_write(&out, o, progress);
    buf_release(&out);
}
