/* SPDX-License-Identifier: Apache-2.0 */
/* help and version: the words that people type before they know the options. */
#include "help.h"

#include <stdlib.h>

#include "output/terminal.h"
#include "rowferry/base/text.h"

#define HELP_BYTES (64 * 1024)

/* Prints the help that the arguments ask for, or the version if they are null. */
static int help_print(const struct arguments *a, struct err *err)
{
    struct buf out;
    buf_init(&out, HELP_BYTES);
    if (a != NULL) {
        help_push(&out, a);
    } else {
        buf_push_literal(&out, "rowferry " ROWFERRY_VERSION "\n");
    }
    int rc = terminal_result(&out, err);
    buf_release(&out);
    return rc;
}

/* `help sync` is `sync --help`; also called for `--help` itself. */
int command_help(const struct arguments *a, struct err *err)
{
    if (arguments_have(a, OPTION_HELP)) {
        return help_print(a, err);
    }
    struct arguments asked;
    const char **argv = mem_zero(a->operand_count + 2, sizeof(*argv));
    for (size_t i = 0; i < a->operand_count; i++) {
        argv[i + 1] = a->operands[i];
    }
    argv[a->operand_count + 1] = "--help";
    int rc = arguments_parse(&asked, (int)a->operand_count + 2, argv, err);
    rc = rc == 0 ? help_print(&asked, err) : rc;
    arguments_release(&asked);
    free(argv);
    return rc;
}

int command_version(const struct arguments *a, struct err *err)
{
    (void)a;
    return help_print(NULL, err);
}
