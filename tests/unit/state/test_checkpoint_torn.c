/* SPDX-License-Identifier: Apache-2.0 */
/* Every statement of the checkpoint fails once, wherever it can: all or nothing. */
#include "rowferry/state/checkpoint.h"

#include "statefile.h"

static int settle(struct state *s, struct err *err)
{
    const struct letter letters[] = {statefile_letter("b", 2), statefile_letter("c", 3)};
    const struct span cleared[] = {span_of("a"), span_of("d")};
    return checkpoint_settle(s,
                             &(struct settlement){.position = "after",
                                                  .settled = 2,
                                                  .letters = letters,
                                                  .letter_count = 2,
                                                  .cleared = cleared,
                                                  .cleared_count = 2,
                                                  .wall_us = 7},
                             err);
}

static int raise_ceiling(struct state *s, struct err *err)
{
    return checkpoint_raise_ceiling(s, 1700000000000009, err);
}

static int lower_ceiling(struct state *s, struct err *err)
{
    return checkpoint_lower_ceiling(s, 1600000000000000, err);
}

static int begin_generation(struct state *s, struct err *err)
{
    char name[] = "articles-2";
    return checkpoint_begin_generation(s,
                                       &(struct checkpoint){.generation = name,
                                                            .generation_number = 2,
                                                            .mapping_fingerprint = name,
                                                            .table_fingerprint = name,
                                                            .source_identity = name},
                                       err);
}

static int set_uuid(struct state *s, struct err *err)
{
    return checkpoint_set_uuid(s, "another", err);
}

static int go_live(struct state *s, struct err *err)
{
    return checkpoint_go_live(s, 8, err);
}

static int take_over(struct state *s, struct err *err)
{
    char name[] = "articles-3";
    char position[] = "theirs";
    int64_t cut;
    return checkpoint_take_over(s,
                                &(struct checkpoint){.generation = name,
                                                     .generation_number = 3,
                                                     .mapping_fingerprint = name,
                                                     .table_fingerprint = name,
                                                     .source_identity = name,
                                                     .index_uuid = name,
                                                     .position = position,
                                                     .clock_ceiling = 1800000000000000},
                                "[]", 9, &cut, err);
}

static int load(struct state *s, struct err *err)
{
    struct checkpoint c;
    int rc = checkpoint_load(s, &c, err);
    checkpoint_release(&c);
    return rc;
}

static int print_letter(void *context, const struct dead_letter *letter)
{
    buf_printf(context, " %s", letter->key);
    return 0;
}

/* All that a checkpoint is. */
static char *told(const struct statefile *f)
{
    struct buf out;
    struct checkpoint c;
    struct err err = {0};
    struct state *s;
    buf_init(&out, 4096);
    OK(state_open_read_only(&s, f->path, "articles", &err));
    OK(checkpoint_load(s, &c, &err));
    buf_printf(&out, "%d %s %s %s %lld %lld %lld:", (int)c.phase, c.generation,
               c.index_uuid != NULL ? c.index_uuid : "-", c.position != NULL ? c.position : "-",
               (long long)c.generation_number, (long long)c.clock_ceiling, (long long)c.documents);
    checkpoint_release(&c);
    OK(deadletter_each(s, print_letter, &out, &err));
    state_close(s);
    return buf_detach(&out);
}

static int deny_at(void *context, int action, const char *a, const char *b, const char *c,
                   const char *d)
{
    (void)action;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return --*(int *)context == 0 ? SQLITE_DENY : SQLITE_OK;
}

static int interrupt_at(void *context)
{
    return --*(int *)context == 0;
}

typedef int (*step)(struct state *s, struct err *err);

/* A preparation fails, or in the midst of its work a statement; false where it came to its end. */
static bool fails_at(const struct statefile *f, step run, bool prepared, int n, const char *whole)
{
    struct err err = {0};
    struct state *s = statefile_open(f, "articles");
    char *before = told(f);
    int left = n;
    if (prepared) {
        sqlite3_set_authorizer(s->db, deny_at, &left);
    } else {
        sqlite3_progress_handler(s->db, 1, interrupt_at, &left);
    }
    int rc = run(s, &err);
    sqlite3_set_authorizer(s->db, NULL, NULL);
    sqlite3_progress_handler(s->db, 0, NULL, NULL);
    state_close(s);
    char *after = told(f);
    bool done = strcmp(after, whole) == 0; /* also where the commit is all that did not fail */
    ck_assert_msg(done || (rc < 0 && strcmp(after, before) == 0), "%s at %d: %s", err.message, n,
                  after);
    ck_assert_msg(rc == 0 || err.message[0] != '\0', "no reason at %d", n);
    free(before);
    free(after);
    return left <= 0 && (!done || rc < 0);
}

static struct statefile with_a_letter(void)
{
    struct statefile f = statefile_make_in_memory();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    struct letter letter = statefile_letter("a", 1);
    struct settlement settlement = statefile_settles(&letter, "before");
    statefile_begin(s, 1);
    OK(checkpoint_set_uuid(s, "one", &err));
    OK(checkpoint_settle(s, &settlement, &err));
    OK(raise_ceiling(s, &err));
    state_close(s);
    return f;
}

static char *done_by(step run)
{
    struct err err = {0};
    struct statefile f = with_a_letter();
    struct state *s = statefile_open(&f, "articles");
    OK(run(s, &err));
    state_close(s);
    char *text = told(&f);
    statefile_remove(&f);
    return text;
}

START_TEST(wherever_a_step_fails_it_changes_nothing)
{
    static const step steps[] = {load,    settle,        begin_generation, set_uuid,
                                 go_live, lower_ceiling, take_over};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        char *whole = done_by(steps[i]);
        for (int prepared = 0; prepared < 2; prepared++) {
            struct statefile f = with_a_letter();
            int n = 1;
            while (fails_at(&f, steps[i], prepared, n, whole)) {
                n += prepared ? 1 : 3;
            }
            ck_assert_int_gt(n, 1);
            statefile_remove(&f);
        }
        free(whole);
    }
}
END_TEST

/* A bit of the row that turned over, on the disk or in memory. */
START_TEST(a_checkpoint_with_another_sum_is_damaged)
{
    struct statefile f = with_a_letter();
    struct err err = {0};
    struct checkpoint c;
    struct state *s = statefile_open(&f, "articles");
    ck_assert_int_eq(sqlite3_exec(s->db, "drop trigger pipeline_changed", NULL, NULL, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_exec(s->db, "update pipeline set position = 'beyond'", NULL, NULL, NULL),
        SQLITE_OK);
    ck_assert_int_eq(checkpoint_load(s, &c, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "the sum of the checkpoint is wrong"));
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/checkpoint_torn", wherever_a_step_fails_it_changes_nothing,
           a_checkpoint_with_another_sum_is_damaged)
