/* SPDX-License-Identifier: Apache-2.0 */
/* check: runs the probes and prints their lines. */
#include "probes/probe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "output/advice.h"
#include "output/terminal.h"
#include "rowferry/document/json/record.h"
#include "rowferry/service/http/http.h"

#define CHECK_BYTES ((size_t)64 * 1024 * 1024)
#define SUBJECT_COLUMN 40 /* maximum */

static const struct {
    const char *name;
    enum colour colour;
} verdict_rows[] = {
    [VERDICT_PASS] = {"PASS", COLOUR_GREEN},  [VERDICT_INFO] = {"INFO", COLOUR_GREEN},
    [VERDICT_WARN] = {"WARN", COLOUR_YELLOW}, [VERDICT_FAIL] = {"FAIL", COLOUR_RED},
    [VERDICT_SKIP] = {"SKIP", COLOUR_YELLOW},
};

/* --- lines ------------------------------------------------------------------------------------ */

static struct check_line *check_add_line(struct check *c, enum verdict verdict)
{
    c->lines = mem_grow(c->lines, c->count + 1, sizeof(*c->lines));
    struct check_line *line = &c->lines[c->count++];
    *line = (struct check_line){.verdict = verdict,
                                .pipeline = c->pipeline != NULL ? c->pipeline->name : NULL,
                                .what = c->what};
    return line;
}

static void __attribute__((format(printf, 3, 0)))
check_add_text(struct check *c, enum verdict verdict, const char *format, va_list args)
{
    struct check_line *line = check_add_line(c, verdict);
    if (vasprintf(&line->text, format, args) < 0) {
        line->text = text_copy("out of memory");
    }
}

void check_report(struct check *c, enum verdict verdict, const char *remedy, const char *format,
                  ...)
{
    va_list args;
    va_start(args, format);
    check_add_text(c, verdict, format, args);
    va_end(args);
    c->lines[c->count - 1].remedy = remedy != NULL ? text_copy(remedy) : NULL;
}

void check_pass(struct check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    check_add_text(c, VERDICT_PASS, format, args);
    va_end(args);
}

void check_remedy(struct check *c, const char *format, ...)
{
    struct check_line *line = &c->lines[c->count - 1];
    va_list args;
    va_start(args, format);
    free(line->remedy);
    if (vasprintf(&line->remedy, format, args) < 0) {
        line->remedy = NULL;
    }
    va_end(args);
}

void check_fail_else(struct check *c, const struct err *err, const char *remedy)
{
    struct err named = *err;
    if (c->pipeline != NULL) {
        err_name_pipeline(&named, c->pipeline->name);
    }
    const char *hint = named.hint[0] != '\0' ? named.hint : remedy;
    struct check_line *line = check_add_line(c, VERDICT_FAIL);
    line->text = text_copy(err->message);
    line->detail = err->detail[0] != '\0' ? text_copy(err->detail) : NULL;
    line->remedy = hint != NULL ? text_copy(hint) : NULL;
}

void check_fail(struct check *c, const struct err *err)
{
    const char *remedy =
        err->class == ERR_TRANSIENT
            ? "it may be temporary: look for the server's problem, then run check again"
        : err->http_status >= 500
            ? "ask the operator of the service for the reason in its log, then run check again"
            : NULL;
    check_fail_else(c, err, remedy);
}

static size_t check_count_of(const struct check *c, size_t from, enum verdict verdict)
{
    size_t n = 0;
    for (size_t i = from; i < c->count; i++) {
        n += c->lines[i].verdict == verdict;
    }
    return n;
}

/* --- probes ----------------------------------------------------------------------------------- */

static const char *check_missing_fact(unsigned missing)
{
    static const struct {
        unsigned fact;
        const char *text;
    } rows[] = {
        {FACT_SECRETS, "the secrets"},
        {FACT_RIGHTS, "privileges"},
        {FACT_GRANTS, "rights"},
        {FACT_PLAN, "a mapping that fits"},
        {FACT_WAY, "a way to the service"},
        {FACT_SERVICE, "the service"},
        {FACT_SOURCE, "the source"},
        {FACT_ROLE, "a role that is no superuser"},
        {FACT_TABLE, "the table"},
        {FACT_LOG, "the capture"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if ((missing & rows[i].fact) != 0) {
            return rows[i].text;
        }
    }
    return "something";
}

static void check_run_probes(struct check *c, const struct probe *probes)
{
    for (; probes->what != NULL; probes++) {
        c->what = probes->what;
        unsigned missing = probes->needs & ~c->facts;
        if (missing != 0) {
            check_report(c, VERDICT_SKIP, NULL, "skipped: needs %s", check_missing_fact(missing));
            continue;
        }
        size_t before = c->count;
        probes->run(c);
        if (check_count_of(c, before, VERDICT_FAIL) == 0) {
            c->facts |= probes->gives;
        }
    }
}

static void check_pipeline(struct check *c, const struct pipeline_config *pipeline)
{
    static const struct probe *const of_capture[CAPTURE_MODES] = {
        [CAPTURE_MODE_CHANGELOG] = probes_log, [CAPTURE_MODE_CURSOR] = probes_cursor};
    c->pipeline = pipeline;
    c->facts &= ~(unsigned)(FACT_TABLE | FACT_LOG | FACT_RIGHTS | FACT_GRANTS | FACT_PLAN);
    check_run_probes(c, probes_standing);
    check_run_probes(c, probes_index);
    check_run_probes(c, probes_table);
    check_run_probes(c, of_capture[pipeline->from.capture_mode]);
    check_run_probes(c, probes_mapping);
    if (pipeline->to.kind == INDEX_KIND_DATA_STREAM) {
        check_run_probes(c, probes_stream);
    }
    check_run_probes(c, probes_origin);
    check_run_probes(c, probes_capacity);
    catalog_table_free(c->table);
    c->table = NULL;
    for (size_t i = 0; c->dependencies != NULL && i < pipeline->from.dependency_count; i++) {
        catalog_table_free(c->dependencies[i]);
    }
    free(c->dependencies);
    c->dependencies = NULL;
}

static int check_all(struct check *c, struct err *err)
{
    const struct setup *setup = c->setup;
    int rc = session_init(&c->session, setup->config, setup->pipelines[0], "check", err);
    if (rc == 0) {
        check_run_probes(c, probes_local);
        check_run_probes(c, probes_state);
        check_run_probes(c, probes_reach);
        check_run_probes(c, probes_service);
        check_run_probes(c, probes_source);
        check_run_probes(c, probes_server);
        for (size_t i = 0; i < setup->count; i++) {
            check_pipeline(c, setup->pipelines[i]);
        }
    }
    pg_close(c->pg);
    session_release(&c->session);
    return rc;
}

/* --- output ----------------------------------------------------------------------------------- */

/* Lines that differ in the pipeline alone are printed once, with the first of these names. */
#define NAMES_SHOWN 3
#define SUBJECT_BYTES 512

/* The lines to print: bits of enum verdict. `joined`: one for several pipelines. */
struct check_choice {
    unsigned verdicts;
    bool joined;
};

static int check_choose(const struct arguments *a, struct check_choice *out, struct err *err)
{
    const char *list = a->values[OPTION_ONLY];
    bool all = arguments_have(a, OPTION_ALL) || arguments_have(a, OPTION_JSON);
    *out = (struct check_choice){.verdicts = all ? ~0U : 1U << VERDICT_FAIL | 1U << VERDICT_WARN,
                                 .joined = !all};
    if (list == NULL) {
        return 0;
    }
    out->verdicts = 0;
    for (size_t len; *list != '\0'; list += len + (list[len] == ',')) {
        unsigned before = out->verdicts;
        len = strcspn(list, ",");
        for (int v = 0; v < VERDICT_COUNT; v++) {
            bool named = len == 4 && strncasecmp(list, verdict_rows[v].name, len) == 0;
            out->verdicts |= named ? 1U << v : 0;
        }
        if (out->verdicts == before) {
            return err_set(err, ERR_CONFIG,
                           "option \"--only\": \"%.*s\" is not one of fail, warn, info, pass, skip",
                           (int)len, list);
        }
    }
    return 0;
}

static bool check_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool check_same_remark(const struct check_line *a, const struct check_line *b)
{
    return a->verdict == b->verdict && a->pipeline != NULL && b->pipeline != NULL &&
           strcmp(a->what, b->what) == 0 && check_same_text(a->text, b->text) &&
           check_same_text(a->detail, b->detail) && check_same_text(a->remedy, b->remedy);
}

/* Returns true if a line before says the same of another pipeline. */
static bool check_said_before(const struct check *c, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (check_same_remark(&c->lines[j], &c->lines[i])) {
            return true;
        }
    }
    return false;
}

/* Prints whom and what a line is about: "articles, products and 3 more: load". */
static void check_subject(const struct check *c, const struct check_choice *choice, size_t i,
                          char out[SUBJECT_BYTES])
{
    const struct check_line *line = &c->lines[i];
    struct buf text;
    size_t more = 0;
    buf_init(&text, SUBJECT_BYTES);
    buf_push_text(&text, line->pipeline != NULL ? line->pipeline : "");
    for (size_t j = i + 1, shown = 1; choice->joined && j < c->count; j++) {
        if (check_same_remark(line, &c->lines[j])) {
            bool fits = shown++ < NAMES_SHOWN;
            more += !fits;
            buf_printf(&text, "%s%s", fits ? ", " : "", fits ? c->lines[j].pipeline : "");
        }
    }
    if (more > 0) {
        buf_printf(&text, " and %zu more", more);
    }
    snprintf(out, SUBJECT_BYTES, "%s%s%s", buf_text(&text), text.len > 0 ? ": " : "", line->what);
    buf_release(&text);
}

static bool check_is_shown(const struct check *c, const struct check_choice *choice, size_t i)
{
    return (choice->verdicts & 1U << c->lines[i].verdict) != 0 &&
           !(choice->joined && check_said_before(c, i));
}

/* Returns the width of the widest subject, so that all texts begin in one column. */
static size_t check_text_column(const struct check *c, const struct check_choice *choice)
{
    size_t widest = 0;
    char subject[SUBJECT_BYTES];
    for (size_t i = 0; i < c->count; i++) {
        if (check_is_shown(c, choice, i)) {
            check_subject(c, choice, i, subject);
            size_t width = strlen(subject);
            widest = width > widest && width <= SUBJECT_COLUMN ? width : widest;
        }
    }
    return widest;
}

/* Appends a text that may contain output of servers and rows. Null appends nothing. */
static void check_push_said(struct buf *out, const char *before, const char *text)
{
    if (text != NULL) {
        buf_push_text(out, before);
        terminal_push_safe(out, text, strlen(text));
        buf_push_char(out, '\n');
    }
}

static void check_push_text_line(struct buf *out, bool colours, size_t column, const char *subject,
                                 const struct check_line *line)
{
    terminal_push(out, colours, verdict_rows[line->verdict].colour,
                  verdict_rows[line->verdict].name);
    buf_printf(out, "  %-*s", (int)column, subject);
    check_push_said(out, "  ", line->text);
    check_push_said(out, "      detail: ", line->detail);
    struct buf remedy;
    buf_init(&remedy, CHECK_BYTES);
    advice_push(&remedy, line->remedy != NULL ? line->remedy : "");
    check_push_said(out, "      -> ", line->remedy != NULL ? buf_text(&remedy) : NULL);
    buf_release(&remedy);
}

static void check_push_count(struct buf *out, const struct check *c, enum verdict verdict,
                             const char *word)
{
    size_t n = check_count_of(c, 0, verdict);
    if (n > 0 || verdict == VERDICT_FAIL) {
        buf_printf(out, ", %zu %s", n, word);
    }
}

static void check_push_sums(struct buf *out, const struct check *c, bool complete)
{
    buf_printf(out, "%zu passed", check_count_of(c, 0, VERDICT_PASS));
    check_push_count(out, c, VERDICT_INFO, "noted");
    check_push_count(out, c, VERDICT_WARN, "warned");
    check_push_count(out, c, VERDICT_FAIL, "failed");
    check_push_count(out, c, VERDICT_SKIP, "skipped");
    buf_push_text(out, complete ? "\n" : "; all lines: rowferry check --all\n");
}

static void check_push_text(struct buf *out, const struct check *c,
                            const struct check_choice *choice)
{
    bool colours = terminal_colours(STDOUT_FILENO);
    size_t column = check_text_column(c, choice);
    char subject[SUBJECT_BYTES];
    const struct check_line *last = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const struct check_line *line = &c->lines[i];
        if (check_is_shown(c, choice, i)) {
            if (!choice->joined && last != NULL && line->pipeline != last->pipeline) {
                buf_push_char(out, '\n');
            }
            check_subject(c, choice, i, subject);
            check_push_text_line(out, colours, column, subject, line);
            last = line;
        }
    }
    buf_push_text(out, last != NULL ? "\n" : "");
    check_push_sums(out, c, choice->verdicts == ~0U);
}

static void check_push_json_line(struct buf *out, const struct check_line *line)
{
    record_open(out);
    record_text(out, "line", line->what);
    record_text(out, "status", verdict_rows[line->verdict].name);
    record_text(out, "text", line->text);
    record_text(out, "detail", line->detail);
    advice_record(out, "remedy", line->remedy);
    record_close(out);
}

/* Appends an object for the whole configuration, which has no pipeline, and one for each
 * pipeline. */
static void check_push_json(struct buf *out, const struct check *c, unsigned verdicts)
{
    for (size_t i = 0; i < c->count;) {
        const char *pipeline = c->lines[i].pipeline;
        const char *comma = "";
        enum exit_code code = EXIT_DONE;
        record_open(out);
        record_text(out, "pipeline", pipeline);
        record_name(out, "lines");
        buf_push_char(out, '[');
        for (; i < c->count && c->lines[i].pipeline == pipeline; i++) {
            enum verdict verdict = c->lines[i].verdict;
            code = verdict == VERDICT_FAIL ? EXIT_DIFFERENCES : code;
            if ((verdicts & 1U << verdict) != 0) {
                buf_push_text(out, comma);
                comma = ",";
                check_push_json_line(out, &c->lines[i]);
            }
        }
        buf_push_char(out, ']');
        record_int(out, "exit_code", code);
        record_close(out);
        buf_push_char(out, '\n');
    }
}

static int check_show(const struct check *c, const struct check_choice *choice, bool json,
                      struct err *err)
{
    struct buf out;
    buf_init(&out, CHECK_BYTES);
    if (json) {
        check_push_json(&out, c, choice->verdicts);
    } else {
        check_push_text(&out, c, choice);
    }
    int rc = terminal_result(&out, err);
    buf_release(&out);
    return rc;
}

static void check_release(struct check *c)
{
    for (size_t i = 0; i < c->count; i++) {
        free(c->lines[i].text);
        free(c->lines[i].detail);
        free(c->lines[i].remedy);
    }
    free(c->lines);
}

int command_check(const struct arguments *a, struct err *err)
{
    struct setup setup;
    struct check c = {.setup = &setup};
    struct check_choice choice;
    int rc = setup_load(&setup, a, err);
    if (rc == 0) {
        rc = check_choose(a, &choice, err);
    }
    if (rc == 0) {
        rc = check_all(&c, err);
    }
    if (rc == 0) {
        rc = check_show(&c, &choice, arguments_have(a, OPTION_JSON), err);
    }
    if (rc == 0 && check_count_of(&c, 0, VERDICT_FAIL) > 0) {
        rc = EXIT_DIFFERENCES;
    }
    check_release(&c);
    setup_release(&setup);
    return rc;
}
