/* SPDX-License-Identifier: Apache-2.0 */
/* A secret from a shell command: its first line, within a time limit. */
#include <errno.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/child.h"
#include "rowferry/base/text.h"
#include "secret.h"

static int secret_command_verdict(int cause, int status, const char *option, int64_t timeout_ms,
                                  struct err *err)
{
    if (cause == ETIMEDOUT) {
        return err_set(err, ERR_TRANSIENT, "the command of \"%s\" did not end within %lld s",
                       option, (long long)(timeout_ms / 1000));
    }
    if (cause != 0) {
        return err_set(err, ERR_REJECTED, "cannot run the command of \"%s\": %s", option,
                       strerror(cause));
    }
    if (status != 0) {
        return err_set(err, ERR_REJECTED, "the command of \"%s\" ended with %d", option, status);
    }
    return 0;
}

int secret_from_command(const char *command, const char *option, int64_t timeout_ms, char **out,
                        struct err *err)
{
    struct buf output;
    int status = 0;
    buf_init(&output, SECRET_MAX_BYTES);
    int cause = child_run(command, span_make(NULL, 0), timeout_ms, -1, &output, &status);
    int result = secret_command_verdict(cause, status, option, timeout_ms, err);
    if (result == 0) {
        const char *newline = output.len > 0 ? memchr(output.data, '\n', output.len) : NULL;
        size_t len = newline != NULL ? (size_t)(newline - output.data) : output.len;
        *out = text_copy_span(span_make(buf_text(&output), len));
    }
    if (output.data != NULL) {
        explicit_bzero(output.data, output.capacity);
    }
    buf_release(&output);
    return result;
}
