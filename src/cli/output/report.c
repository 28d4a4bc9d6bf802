/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how a command ended. */
#include "output/report.h"

#include "output/terminal.h"

#define RESULT_BYTES (64 * 1024)

enum exit_code report_exit_code(bool dead_letters_ok, const struct pipeline_result *result, int rc)
{
    if (rc < 0) {
        return err_exit_code((enum err_class)rc);
    }
    bool open = result->dead_letters > 0;
    return open && !dead_letters_ok ? EXIT_DEAD_LETTERS : EXIT_DONE;
}

void report_write(const struct buf *result, struct sync_outcome *o, struct progress_line *progress)
{
    struct err unwritten;
    progress_line_end(progress, o->pipeline);
    if (o->err != NULL) {
        terminal_error(o->pipeline, o->err);
    }
    if (terminal_result(result, &unwritten) < 0) {
        terminal_error(o->pipeline, &unwritten);
        o->exit_code = err_exit_code_worse(o->exit_code, EXIT_TEMPORARY);
    }
}

void report_print(bool json, struct sync_outcome *o, struct progress_line *progress)
{
    struct buf out;
    buf_init(&out, RESULT_BYTES);
    if (json) {
        result_push_json(&out, o);
    } else {
        result_push_text(&out, o);
    }
    report_write(&out, o, progress);
    buf_release(&out);
}
