/* SPDX-License-Identifier: Apache-2.0 */
/* deadletter retry, deadletter discard: requests that concern open dead letters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choice.h"
#include "client/holder_request.h"
#include "output/terminal.h"
#include "rowferry/base/units.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/deadletter.h"

/* The selected dead letters. */
struct choice {
    struct holder_request *ask;
    const struct arguments *arguments;
    bool *found; /* [operand]: it is an open dead letter */
};

static int deadletter_edit_choose(void *context, const struct dead_letter *letter)
{
    struct choice *c = context;
    struct span key = span_make(letter->key, letter->key_len);
    bool wanted = c->arguments->operand_count == 0;
    for (size_t i = 0; i < c->arguments->operand_count; i++) {
        if (span_is(key, c->arguments->operands[i])) {
            c->found[i] = true;
            wanted = true;
        }
    }
    if (wanted) {
        holder_request_push(c->ask, key);
    }
    return 0;
}

/* Checks that each given key is an open dead letter. */
static int deadletter_edit_check_found(const struct choice *c, struct err *err)
{
    for (size_t i = 0; i < c->arguments->operand_count; i++) {
        if (!c->found[i]) {
            err_set(err, ERR_STATE, "no dead letter has the key \"%s\"", c->arguments->operands[i]);
            return err_hint(err, "see: rowferry deadletter list " ERR_PIPELINE);
        }
    }
    return 0;
}

static int deadletter_edit_choose_letters(struct holder_request *k, const struct arguments *a,
                                          struct err *err)
{
    struct choice c = {.ask = k, .arguments = a};
    struct dead_letter_filter filter;
    int rc = choice_of(a, clock_wall_us(&k->session.clock), &filter, err);
    if (rc < 0) {
        return rc;
    }
    c.found = mem_zero(a->operand_count + 1, sizeof(*c.found));
    rc = deadletter_select(k->session.state, &filter, deadletter_edit_choose, &c, err);
    if (rc == 0) {
        rc = deadletter_edit_check_found(&c, err);
    }
    free(c.found);
    return rc;
}

/* Runs the request, if any dead letter was selected. */
static int deadletter_edit_run_or_explain(struct holder_request *k, struct err *err)
{
    if (k->count > 0 || arguments_have(k->arguments, OPTION_JSON)) {
        return holder_request_run(k, err);
    }
    struct buf out;
    buf_init(&out, 1024);
    buf_printf(&out, "%s: no dead letters\n", k->session.pipeline->name);
    int rc = terminal_result(&out, err);
    buf_release(&out);
    return rc;
}

/* Does it for the named pipeline, or without a key for each pipeline of the file. Returns the worst
 * exit code. */
static int deadletter_edit_each(const struct arguments *a,
                                int (*one)(const struct arguments *a, struct err *err),
                                struct err *err)
{
    struct setup setup = {0};
    enum exit_code worst = EXIT_DONE;
    if (a->operand_count > 0 || a->values[OPTION_PIPELINE] != NULL) {
        return one(a, err);
    }
    int rc = setup_load(&setup, a, err);
    for (size_t i = 0; rc >= 0 && i < setup.count; i++) {
        struct arguments named = *a;
        named.values[OPTION_PIPELINE] = setup.pipelines[i]->name;
        rc = one(&named, err);
        worst = err_exit_code_worse(worst, rc < 0 ? EXIT_DONE : (enum exit_code)rc);
    }
    setup_release(&setup);
    return rc < 0 ? rc : (int)worst;
}

static int deadletter_edit_retry(const struct arguments *a, struct err *err)
{
    struct holder_request ask;
    int rc = holder_request_open(&ask, a, "retry", REQUEST_RESYNC, err);
    if (rc == 0) {
        rc = deadletter_edit_choose_letters(&ask, a, err);
    }
    if (rc == 0) {
        rc = deadletter_edit_run_or_explain(&ask, err);
    }
    rc = holder_request_end(&ask, rc, err);
    holder_request_release(&ask);
    return rc;
}

int command_deadletter_retry(const struct arguments *a, struct err *err)
{
    if (a->operand_count > 0 && choice_given(a)) {
        return err_set(
            err, ERR_CONFIG,
            "command \"deadletter retry\" takes either KEY..., or --reason, --older and --newer");
    }
    return deadletter_edit_each(a, deadletter_edit_retry, err);
}

/* --- discard ------------------------------------------------------------------------------- */

static int deadletter_edit_check_discard(const struct arguments *a, struct err *err)
{
    bool many = arguments_have(a, OPTION_ALL) || choice_given(a);
    if (many == (a->operand_count > 0)) {
        return err_set(err, ERR_CONFIG,
                       "command \"deadletter discard\" needs either KEY..., or --all, or one of "
                       "--reason, --older and --newer");
    }
    if (!arguments_have(a, OPTION_YES) &&
        (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1)) {
        return err_set(err, ERR_CONFIG,
                       "command \"deadletter discard\" needs --yes without a terminal");
    }
    return 0;
}

static bool deadletter_edit_is_agreed(const char *pipeline, size_t count)
{
    char n[UNITS_BYTES];
    char *line = NULL;
    size_t size = 0;
    fprintf(stderr, "%s: discard %s dead letter%s? [y/N] ", pipeline,
            units_count(n, (int64_t)count), count == 1 ? "" : "s");
    bool yes = getline(&line, &size, stdin) > 0 &&
               (strcmp(line, "y\n") == 0 || strcmp(line, "yes\n") == 0);
    free(line);
    return yes;
}

static int deadletter_edit_discard(const struct arguments *a, struct err *err)
{
    struct holder_request ask;
    int rc = holder_request_open(&ask, a, "discard", REQUEST_DISCARD, err);
    if (rc == 0) {
        rc = deadletter_edit_choose_letters(&ask, a, err);
    }
    if (rc == 0 && ask.client.keys > 0 && !arguments_have(a, OPTION_YES) &&
        !deadletter_edit_is_agreed(ask.session.pipeline->name, ask.client.keys)) {
        rc = err_set(err, ERR_REJECTED, "nothing was discarded");
    } else if (rc == 0) {
        rc = deadletter_edit_run_or_explain(&ask, err);
    }
    rc = holder_request_end(&ask, rc, err);
    holder_request_release(&ask);
    return rc;
}

int command_deadletter_discard(const struct arguments *a, struct err *err)
{
    int rc = deadletter_edit_check_discard(a, err);
    return rc < 0 ? rc : deadletter_edit_each(a, deadletter_edit_discard, err);
}
