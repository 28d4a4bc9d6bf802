/* SPDX-License-Identifier: Apache-2.0 */
/* `rowferry completion`: a shell's script, and the answers to its queries. */
#include <string.h>

#include "arguments.h"
#include "complete.h"
#include "output/terminal.h"
#include "rowferry/base/embed.h"
#include "rowferry/config/config.h"

#define COMPLETION_BYTES (1024 * 1024)

/* Ignores an invalid configuration: completion cannot report errors. */
static void completion_push_pipelines(struct buf *out, const char *config, const char *prefix)
{
    struct err ignored;
    struct config *c = NULL;
    if (config_load(&c, config, &ignored) < 0) {
        return;
    }
    for (size_t i = 0; i < c->pipeline_count; i++) {
        complete_candidate(out, prefix, c->pipelines[i].name, c->pipelines[i].to.index);
    }
    config_free(c);
}

static int completion_push_script(struct buf *out, const char *shell, struct err *err)
{
    for (const struct embedded *script = cli_completion; script->name != NULL; script++) {
        if (strcmp(script->name, shell) == 0) {
            buf_push_text(out, script->text);
            return 0;
        }
    }
    return err_set(err, ERR_CONFIG, "no completion for \"%s\"; there is one for bash, zsh and fish",
                   shell);
}

int command_completion(const struct arguments *a, struct err *err)
{
    struct buf out;
    int rc = 0;
    buf_init(&out, COMPLETION_BYTES);
    if (strcmp(a->operands[0], "words") == 0) {
        complete_push(&out, a->operands + 1, a->operand_count - 1, completion_push_pipelines);
    } else if (a->operand_count > 1) {
        rc = err_set(err, ERR_CONFIG,
                     "command \"completion\" takes one SHELL; see: rowferry completion --help");
    } else {
        rc = completion_push_script(&out, a->operands[0], err);
    }
    rc = rc < 0 ? rc : terminal_result(&out, err);
    buf_release(&out);
    return rc;
}
