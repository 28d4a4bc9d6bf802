/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters and clearings between two commits, with a real state file. */
#include "core/pending_commit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/state/deadletter.h"
#include "suite.h"

static char folder[64];
static char path[96];
static struct state *state;
static struct pending_commit pending_commit;

static struct span text(const char *t)
{
    return span_make(t, strlen(t));
}

static uint64_t hash(const char *key)
{
    return text_hash(key, strlen(key));
}

static void begin(void)
{
    struct err err;
    snprintf(folder, sizeof(folder), "/tmp/rowferry-settling-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/state.db", folder);
    ck_assert_int_eq(state_open(&state, path, "things", &err), 0);
    struct checkpoint generation = {.generation = (char[]){"things-1"},
                                    .mapping_fingerprint = (char[]){"m"},
                                    .table_fingerprint = (char[]){"t"},
                                    .source_identity = (char[]){"s"},
                                    .generation_number = 1};
    ck_assert_int_eq(checkpoint_begin_generation(state, &generation, &err), 0);
    ck_assert_int_eq(pending_commit_init(&pending_commit, state, &err), 0);
}

static void end(void)
{
    static const char *const endings[] = {"", "-journal", ".lock"};
    pending_commit_release(&pending_commit);
    state_close(state);
    for (size_t i = 0; i < 3; i++) {
        char file[128];
        snprintf(file, sizeof(file), "%s%s", path, endings[i]);
        unlink(file);
    }
    rmdir(folder);
}

static void commit(void)
{
    struct err err;
    ck_assert_msg(pending_commit_write(&pending_commit, state, "log 1", 0, 1, &err) == 0, "%s",
                  err.message);
}

static int64_t open_letters(void)
{
    struct err err;
    int64_t count;
    ck_assert_int_eq(deadletter_count(state, &count, &err), 0);
    return count;
}

static void reject(const char *key, int64_t version)
{
    struct new_letter letter = {.key = text(key), .reason = text("no"), .version = version};
    pending_commit_reject(&pending_commit, &letter);
}

START_TEST(a_letter_is_open_until_a_later_operation_is_done)
{
    reject("a", 1);
    commit();
    ck_assert_int_eq(open_letters(), 1);
    ck_assert(!pending_commit_done(&pending_commit, text("b"), hash("b")));
    ck_assert(pending_commit_done(&pending_commit, text("a"), hash("a")));
    ck_assert(!pending_commit_done(&pending_commit, text("a"), hash("a")));
    commit();
    ck_assert_int_eq(open_letters(), 0);
}
END_TEST

START_TEST(rejected_and_done_between_two_commits_leaves_no_letter)
{
    reject("a", 1);
    ck_assert(pending_commit_done(&pending_commit, text("a"), hash("a")));
    commit();
    ck_assert_int_eq(open_letters(), 0);
}
END_TEST

START_TEST(cleared_and_rejected_again_between_two_commits_stays_open)
{
    reject("a", 1);
    commit();
    ck_assert(pending_commit_done(&pending_commit, text("a"), hash("a")));
    reject("a", 2);
    commit();
    ck_assert_int_eq(open_letters(), 1);
}
END_TEST

START_TEST(letters_of_an_earlier_run_are_known)
{
    struct err err;
    reject("a", 1);
    commit();
    pending_commit_release(&pending_commit);
    ck_assert_int_eq(pending_commit_init(&pending_commit, state, &err), 0);
    ck_assert(pending_commit_done(&pending_commit, text("a"), hash("a")));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/pending_commit");
    TCase *letters = tcase_create("letters");
    tcase_add_checked_fixture(letters, begin, end);
    tcase_add_test(letters, a_letter_is_open_until_a_later_operation_is_done);
    tcase_add_test(letters, rejected_and_done_between_two_commits_leaves_no_letter);
    tcase_add_test(letters, cleared_and_rejected_again_between_two_commits_stays_open);
    tcase_add_test(letters, letters_of_an_earlier_run_are_known);
    suite_add_tcase(suite, letters);
    return suite_end(suite);
}
