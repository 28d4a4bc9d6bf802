/* SPDX-License-Identifier: Apache-2.0 */
/* A damaged checkpoint is detected by its checksum. */
#include "rowsum.h"

#include "statefile.h"

/* Evaluates an SQL condition in a database with row_sum. */
static int holds(const char *condition)
{
    char sql[512];
    sqlite3 *db;
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(rowsum_register(db), SQLITE_OK);
    snprintf(sql, sizeof(sql), "select %s", condition);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    int result = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return result;
}

START_TEST(each_value_its_type_and_its_place_count)
{
    ck_assert(holds("row_sum(1, 'a', null) = row_sum(1, 'a', null)"));
    ck_assert(holds("row_sum(1, 'a') <> row_sum(2, 'a')"));
    ck_assert(holds("row_sum(1, 'a') <> row_sum('1', 'a')"));
    ck_assert(holds("row_sum('a', 'b') <> row_sum('b', 'a')"));
    ck_assert(holds("row_sum('ab', '') <> row_sum('a', 'b')"));
    ck_assert(holds("row_sum('', 'a') <> row_sum(null, 'a')"));
    ck_assert(holds("row_sum(1) is not null"));
}
END_TEST

/* Changes one byte of the file without SQLite. */
static void flip(const struct statefile *f, const char *text)
{
    char bytes[65536];
    int fd = open(f->path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ssize_t size = pread(fd, bytes, sizeof(bytes), 0);
    ck_assert_int_gt(size, 0);
    const char *at = memmem(bytes, (size_t)size, text, strlen(text));
    ck_assert_ptr_nonnull(at);
    char flipped = (char)(*at ^ 1);
    ck_assert_int_eq(pwrite(fd, &flipped, 1, at - bytes), 1);
    close(fd);
}

START_TEST(a_position_with_a_flipped_bit_is_damage_and_no_position)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    OK(statefile_position(s, "4711:4711:", 10, &err));
    state_close(s);
    flip(&f, "4711:4711:");
    s = statefile_open(&f, "articles");
    struct checkpoint c;
    ck_assert_int_eq(checkpoint_load(s, &c, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "is damaged"));
    ck_assert_str_ne(err.hint, "");
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/rowsum", each_value_its_type_and_its_place_count,
           a_position_with_a_flipped_bit_is_damage_and_no_position)
