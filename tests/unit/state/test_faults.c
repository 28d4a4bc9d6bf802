/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs every step of state with one failing call: each call of SQLite's files, each allocation and
 * each statement. The step must report it and be done completely or not at all. Then the same
 * connection must succeed.
 */
#include <signal.h>

#include "fake_faults.h"
#include "steps.h"

#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* Tests every n-th call of each step; all of them if $ROWFERRY_STRIDE is 1. */
static const struct {
    const char *name;
    int stride;
} kinds[FAULT_KINDS] = {{"", 1},        {"IOERR", 5}, {"FULL", 3},       {"BUSY", 1},
                        {"NOMEM", 101}, {"DENY", 11}, {"INTERRUPT", 101}};

/* --- the file -------------------------------------------------------------------------------- */

/* Fills every table, so that each step finds rows. */
static void furnish(struct state *s)
{
    struct err err = {0};
    int64_t id;
    const struct new_letter letter = statefile_letter("a", 1);
    const struct settlement settlement = statefile_settles(&letter, "before");
    statefile_begin(s, 1);
    OK(checkpoint_set_uuid(s, "one", &err));
    OK(checkpoint_go_live(s, 6, &err));
    OK(checkpoint_settle(s, &settlement, &err));
    OK(checkpoint_raise_ceiling(s, 1700000000000000, &err));
    OK(live_progress_write(s, &(struct live_progress){.stage = "settling"}, &err));
    OK(guard_stop_write(s, &(struct guard_stop){.deletes = 1}, &err));
    OK(pause_begin(s, 7, &err));
    OK(reconcile_write(s, &(struct reconcile){.owed_us = 2}, &err));
    OK(history_begin(s, "reindex", 4, &id, &err));
    OK(request_file(s, "resync", "{}", 5, &id, &err));
    OK(rebuild_former_meet(s, "articles/articles-0", 4, &err));
}

static void furnish_next(struct state *s)
{
    struct err err = {0};
    struct state *next;
    const struct new_letter letter = statefile_letter("n", 1);
    const struct settlement settlement = statefile_settles(&letter, "next");
    OK(rebuild_begin(s, &(struct rebuild){.begun_us = 98}, NULL, &err));
    OK(rebuild_open(s, &next, &err));
    statefile_begin(next, 2);
    OK(checkpoint_settle(next, &settlement, &err));
    OK(reconcile_write(next, &(struct reconcile){.owed_us = 3}, &err));
    OK(generation_config_write(next, "articles-2", "words", &err));
    state_close(next);
}

/* The initial file of each trial. */
static char bytes[1 << 17];
static size_t size;

static void keep_bytes(const struct statefile *f)
{
    FILE *file = fopen(f->path, "re");
    ck_assert_ptr_nonnull(file);
    size = fread(bytes, 1, sizeof(bytes), file);
    ck_assert(size > 0 && size < sizeof(bytes));
    fclose(file);
}

static void make_bytes(const struct step *step)
{
    struct statefile f = statefile_make_in_memory();
    struct state *s = statefile_open(&f, "articles");
    furnish(s);
    if (step->place == STEP_REBUILDS) {
        furnish_next(s);
    }
    state_close(s);
    keep_bytes(&f);
    statefile_remove(&f);
}

static void begin(struct trial *t, const struct step *step)
{
    t->file = statefile_make_in_memory();
    buf_init(&t->said, STEP_TEXT_BYTES);
    if (step->place != STEP_CREATES) {
        FILE *file = fopen(t->file.path, "we");
        ck_assert_ptr_nonnull(file);
        ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
        ck_assert_int_eq(fclose(file), 0);
    }
}

static void end(struct trial *t)
{
    buf_release(&t->said);
    statefile_remove(&t->file);
}

static int push_row(void *out, int count, char **values, char **names)
{
    (void)names;
    for (int i = 0; i < count; i++) {
        buf_printf(out, "%s|", values[i] != NULL ? values[i] : "-");
    }
    buf_push_char(out, '\n');
    return 0;
}

static int push_table(void *context, int count, char **values, char **names)
{
    char sql[128];
    struct trial *t = context;
    (void)count;
    (void)names;
    snprintf(sql, sizeof(sql), "select '%s', * from %s order by 2, 3", values[0], values[0]);
    ck_assert_int_eq(sqlite3_exec(t->s->db, sql, push_row, &t->said, NULL), SQLITE_OK);
    return 0;
}

/* Returns all rows of the file, which must be intact; the caller frees it. */
static char *content(const struct statefile *f)
{
    struct state reader = {.path = NULL};
    struct trial t = {.s = &reader};
    buf_init(&t.said, STEP_TEXT_BYTES);
    ck_assert_int_eq(
        sqlite3_open_v2(f->path, &reader.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
        SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(reader.db, "pragma integrity_check", push_row, &t.said, NULL),
                     SQLITE_OK);
    ck_assert_str_eq(buf_text(&t.said), "ok|\n");
    ck_assert_int_eq(sqlite3_exec(reader.db,
                                  "select name from sqlite_schema where type = 'table' and name "
                                  "not like 'sqlite%' order by 1",
                                  push_table, &t, NULL),
                     SQLITE_OK);
    sqlite3_close(reader.db);
    return buf_detach(&t.said);
}

/* --- one step -------------------------------------------------------------------------------- */

/* The results without a fault. */
struct whole {
    char *before;
    char *after;
    char *said;
};

/* The statements that were run. */
static bool used[SQL_COUNT];
static bool used_rows[PIPELINE_ROWS][PIPELINE_ROW_ACTIONS];

static void note_used(const struct state *s)
{
    for (size_t i = 0; i < SQL_COUNT; i++) {
        used[i] = used[i] || s->statements[i] != NULL;
    }
    for (size_t i = 0; i < PIPELINE_ROWS; i++) {
        for (size_t j = 0; j < PIPELINE_ROW_ACTIONS; j++) {
            used_rows[i][j] = used_rows[i][j] || s->rows[i][j] != NULL;
        }
    }
}

static void open_for(struct trial *t, const struct step *step)
{
    t->s = NULL;
    if (step->place < STEP_OPENS) {
        t->s = statefile_open(&t->file, "articles");
        sqlite3_busy_timeout(t->s->db, 0); /* do not wait for a lock */
    }
}

static void learn(const struct step *step, struct whole *out)
{
    struct trial t;
    struct err err = {0};
    make_bytes(step);
    begin(&t, step);
    out->before = content(&t.file);
    open_for(&t, step);
    OK(step->run(&t, &err));
    if (t.s != NULL) {
        note_used(t.s);
    }
    state_close(t.s);
    out->after = content(&t.file);
    out->said = text_copy(buf_text(&t.said));
    end(&t);
}

static void forget(struct whole *w)
{
    free(w->before);
    free(w->after);
    free(w->said);
}

/* Runs the step with the fault and, if it failed, again without. Returns false if the fault did not
 * occur. */
static bool try_step(const struct step *step, const struct whole *w, enum fault_kind kind, int nth)
{
    struct trial t;
    struct err err = {0};
    begin(&t, step);
    open_for(&t, step);
    faults_begin(kind, nth);
    int rc = step->run(&t, &err);
    bool came = faults_end();
    bool again = true;
    if (rc != 0) {
        ck_assert_msg(rc < 0 && err.message[0] != '\0', "no reason at %d of kind %d", nth, kind);
        ck_assert_msg(came, "%s", err.message);
        ck_assert_str_eq(buf_text(&t.said), "");
        char *there = content(&t.file);
        ck_assert_msg(step->in_parts || strcmp(there, w->before) == 0 ||
                          strcmp(there, w->after) == 0,
                      "%s at %d of kind %d left a part: %s instead of %s", err.message, nth, kind,
                      there, w->before);
        bool reads = strcmp(w->before, w->after) == 0;
        again = reads || strcmp(there, w->after) != 0; /* else the commit was done */
        if (again) {
            OK(step->run(&t, &err));
        }
        free(there);
    }
    state_close(t.s);
    char *there = content(&t.file);
    ck_assert_msg(strcmp(there, w->after) == 0, "%s at %d of kind %d: %s", err.message, nth, kind,
                  there);
    ck_assert_str_eq(buf_text(&t.said), again ? w->said : "");
    free(there);
    end(&t);
    return came;
}

/* Returns true if the fault ends the process; the file must be unchanged. */
static bool aborts(const struct step *step, const struct whole *w, enum fault_kind kind, int nth)
{
    struct trial t;
    int status;
    begin(&t, step);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct err err = {0};
        open_for(&t, step);
        faults_begin(kind, nth);
        _exit(step->run(&t, &err) == 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    char *there = content(&t.file);
    ck_assert_str_eq(there, w->before);
    free(there);
    end(&t);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void try_all(enum fault_kind kind)
{
    const char *setting = getenv("ROWFERRY_STRIDE");
    int stride = setting != NULL && strcmp(setting, "1") == 0 ? 1 : kinds[kind].stride;
    int tried = 0;
    for (size_t i = 0; i < STEPS; i++) {
        struct whole w;
        learn(&steps[i], &w);
        for (int nth = 1;; nth += stride) {
            bool aborted = steps[i].aborts && aborts(&steps[i], &w, kind, nth);
            if (!aborted && !try_step(&steps[i], &w, kind, nth)) {
                break;
            }
            tried++;
        }
        forget(&w);
    }
    printf("boundary state, %s: %d calls failed in %zu steps\n", kinds[kind].name, tried, STEPS);
    ck_assert_int_gt(tried, 0);
}

START_TEST(a_file_that_fails_once_leaves_a_step_done_or_not)
{
    try_all(FAULT_IOERR);
}
END_TEST

START_TEST(a_disk_that_is_full_once_leaves_a_step_done_or_not)
{
    try_all(FAULT_FULL);
}
END_TEST

START_TEST(a_file_that_is_busy_once_leaves_a_step_done_or_not)
{
    try_all(FAULT_BUSY);
}
END_TEST

START_TEST(an_allocation_that_fails_once_leaves_a_step_done_or_not)
{
    try_all(FAULT_NOMEM);
}
END_TEST

START_TEST(a_statement_that_is_refused_once_leaves_a_step_done_or_not)
{
    try_all(FAULT_DENY);
}
END_TEST

START_TEST(a_statement_that_breaks_off_once_leaves_a_step_done_or_not)
{
    try_all(FAULT_INTERRUPT);
}
END_TEST

START_TEST(the_steps_have_every_statement)
{
    for (size_t i = 0; i < STEPS; i++) {
        struct whole w;
        learn(&steps[i], &w);
        forget(&w);
    }
    used[SQL_ROLLBACK] = true;     /* run on failures */
    used[SQL_PIPELINE_ADD] = true; /* run by open_again on a missing file */
    for (size_t i = 0; i < SQL_COUNT; i++) {
        ck_assert_msg(used[i], "no step runs statement %zu", i);
    }
    for (size_t i = 0; i < PIPELINE_ROWS; i++) {
        for (size_t j = 0; j <= PIPELINE_ROW_DELETE_NEXT; j++) {
            bool kept = (i == PIPELINE_ROW_LIVE_PROGRESS || i == PIPELINE_ROW_VALIDATION ||
                         i == PIPELINE_ROW_HOOK_MARKS || i == PIPELINE_ROW_REQUEST_LIMIT ||
                         i == PIPELINE_ROW_PLACE) &&
                        j == PIPELINE_ROW_DELETE;
            ck_assert_msg(used_rows[i][j] || kept, "no step runs action %zu of row %zu", j, i);
        }
    }
    ck_assert(used_rows[PIPELINE_ROW_RECONCILE][PIPELINE_ROW_PROMOTE]);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_file_that_fails_once_leaves_a_step_done_or_not,
                                  a_disk_that_is_full_once_leaves_a_step_done_or_not,
                                  a_file_that_is_busy_once_leaves_a_step_done_or_not,
                                  an_allocation_that_fails_once_leaves_a_step_done_or_not,
                                  a_statement_that_is_refused_once_leaves_a_step_done_or_not,
                                  a_statement_that_breaks_off_once_leaves_a_step_done_or_not,
                                  the_steps_have_every_statement};
    return !faults_install() ? EXIT_FAILURE
                             : suite_run("state/faults", tests, sizeof(tests) / sizeof(tests[0]));
}
