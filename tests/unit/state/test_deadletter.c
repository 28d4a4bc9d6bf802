/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a dead letter: added, repeated, cleared, deleted with its generation. */
#include "rowferry/state/deadletter.h"

#include "statefile.h"

struct dedup_cache {
    size_t count;
    size_t stop_after;
    char keys[8][16];
    struct dead_letter last;
    char last_reason[64];
};

static int note(void *context, const struct dead_letter *letter)
{
    struct dedup_cache *seen = context;
    snprintf(seen->keys[seen->count], sizeof(seen->keys[0]), "%.*s", (int)letter->key_len,
             letter->key);
    snprintf(seen->last_reason, sizeof(seen->last_reason), "%s", letter->reason);
    seen->last = *letter;
    seen->count++;
    return seen->count == seen->stop_after ? -42 : 0;
}

static void settle(struct state *s, const char *rejected, int64_t version, const char *cleared,
                   int64_t wall_us)
{
    struct err err = {0};
    struct new_letter letter = {.kind = OPERATION_DELETE, .http_status = 400, .version = version};
    struct span key = {0};
    struct settlement settlement = {.wall_us = wall_us};
    char reason[32];
    if (rejected != NULL) {
        snprintf(reason, sizeof(reason), "reason %d", (int)version);
        letter.key = span_of(rejected);
        letter.reason = span_of(reason);
        settlement.letters = &letter;
        settlement.letter_count = 1;
    }
    if (cleared != NULL) {
        key = span_of(cleared);
        settlement.cleared = &key;
        settlement.cleared_count = 1;
    }
    OK(checkpoint_settle(s, &settlement, &err));
}

static struct dedup_cache look(struct state *s)
{
    struct err err = {0};
    struct dedup_cache seen = {0};
    OK(deadletter_each(s, note, &seen, &err));
    ck_assert_int_eq(statefile_letters(s), (int64_t)seen.count);
    return seen;
}

START_TEST(a_key_rejected_again_keeps_its_first_time_and_shows_the_new_reason)
{
    struct statefile f = statefile_make();
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    settle(s, "eu:42", 7, NULL, 100);
    settle(s, "eu:42", 9, NULL, 200);
    struct dedup_cache seen = look(s);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_str_eq(seen.keys[0], "eu:42");
    ck_assert_int_eq(seen.last.kind, OPERATION_DELETE);
    ck_assert_int_eq(seen.last.http_status, 400);
    ck_assert_int_eq(seen.last.version, 9);
    ck_assert_int_eq(seen.last.first_us, 100);
    ck_assert_int_eq(seen.last.last_us, 200);
    ck_assert_int_eq(seen.last.attempts, 2);
    ck_assert_str_eq(seen.last_reason, "reason 9");
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(letters_come_in_the_order_of_their_first_time_then_key)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    settle(s, "z", 1, NULL, 100);
    settle(s, "b", 2, NULL, 200);
    settle(s, "a", 3, NULL, 200);
    struct dedup_cache seen = look(s);
    ck_assert_uint_eq(seen.count, 3);
    ck_assert_str_eq(seen.keys[0], "z");
    ck_assert_str_eq(seen.keys[1], "a");
    ck_assert_str_eq(seen.keys[2], "b");
    struct dedup_cache stopped = {.stop_after = 2};
    ck_assert_int_eq(deadletter_each(s, note, &stopped, &err), -42);
    ck_assert_uint_eq(stopped.count, 2);
    ck_assert_uint_eq(look(s).count, 3);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_later_operation_that_is_done_clears_the_letter)
{
    struct statefile f = statefile_make();
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    settle(s, "a", 1, NULL, 100);
    settle(s, NULL, 0, "b", 200);
    ck_assert_int_eq(statefile_letters(s), 1);
    settle(s, NULL, 0, "a", 300);
    ck_assert_int_eq(statefile_letters(s), 0);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(letters_go_with_a_generation_that_never_went_live)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    settle(s, "a", 1, NULL, 100);
    statefile_begin(s, 2);
    ck_assert_int_eq(statefile_letters(s), 0);
    settle(s, "b", 2, NULL, 200);
    OK(checkpoint_go_live(s, 300, &err));
    ck_assert_int_eq(statefile_letters(s), 1);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(keys_of_any_bytes_come_back_whole)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    struct new_letter letters[] = {
        {.key = span_make("", 0), .reason = span_make(NULL, 0)},
        {.key = span_make("'\"\xc3\xa9\n", 5), .reason = span_make("r", 1)},
    };
    OK(checkpoint_settle(
        s, &(struct settlement){.letters = letters, .letter_count = 2, .wall_us = 1}, &err));
    struct dedup_cache seen = look(s);
    ck_assert_uint_eq(seen.count, 2);
    ck_assert_str_eq(seen.keys[0], "");
    ck_assert_str_eq(seen.keys[1], "'\"\xc3\xa9\n");
    state_close(s);
    statefile_remove(&f);
}
END_TEST

/* Adds `count` letters in groups of ten with the same first time; every third has another error
 * type. */
static void fill(struct state *s, int count)
{
    struct err err = {0};
    for (int i = 0; i < count; i += 10) {
        char keys[10][16];
        struct new_letter letters[10];
        for (int n = 0; n < 10; n++) {
            snprintf(keys[n], sizeof(keys[n]), "k%05d", i + n);
            bool odd = (i + n) % 3 == 0;
            letters[n] =
                (struct new_letter){.key = span_of(keys[n]),
                                    .reason = span_of(odd ? "odd one" : "mapping: no number"),
                                    .error_type = span_of(odd ? "" : "mapping"),
                                    .http_status = odd ? 0 : 400};
        }
        OK(checkpoint_settle(
            s, &(struct settlement){.letters = letters, .letter_count = 10, .wall_us = 1000 + i},
            &err));
    }
}

struct walk {
    int64_t count;
    char previous[16];
    bool ordered;
    struct state *holder; /* writes in the middle of the loop */
    int64_t typed;
};

static int step(void *context, const struct dead_letter *letter)
{
    struct walk *walk = context;
    struct err err = {0};
    walk->ordered = walk->ordered && strcmp(walk->previous, letter->key) < 0;
    snprintf(walk->previous, sizeof(walk->previous), "%s", letter->key);
    walk->typed += strcmp(letter->error_type, "mapping") == 0;
    if (walk->holder != NULL && walk->count == 300) {
        OK(statefile_position(walk->holder, "p", 1, &err));
    }
    walk->count++;
    return 0;
}

static struct walk walk_with(struct state *s, struct dead_letter_filter filter)
{
    struct err err = {0};
    struct walk walk = {.ordered = true};
    OK(deadletter_select(s, &filter, step, &walk, &err));
    ck_assert(walk.ordered);
    return walk;
}

START_TEST(letters_are_chosen_by_reason_type_age_key_and_number)
{
    struct statefile f = statefile_make();
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    fill(s, 900);
    struct walk all = walk_with(s, (struct dead_letter_filter){0});
    ck_assert_int_eq(all.count, 900);
    ck_assert_int_eq(all.typed, 600);
    ck_assert_int_eq(walk_with(s, (struct dead_letter_filter){.reason = "odd"}).count, 300);
    ck_assert_int_eq(walk_with(s, (struct dead_letter_filter){.reason = "mapping"}).count, 600);
    ck_assert_int_eq(walk_with(s, (struct dead_letter_filter){.reason = "o d"}).count, 0);
    ck_assert_int_eq(walk_with(s, (struct dead_letter_filter){.since_us = 1500}).count, 400);
    ck_assert_int_eq(walk_with(s, (struct dead_letter_filter){.until_us = 1500}).count, 510);
    ck_assert_int_eq(walk_with(s, (struct dead_letter_filter){.limit = 333}).count, 333);
    ck_assert_int_eq(walk_with(s, (struct dead_letter_filter){.limit = 400}).count, 400);
    ck_assert_int_eq(walk_with(s, (struct dead_letter_filter){.limit = 901}).count, 900);
    struct walk one = walk_with(s, (struct dead_letter_filter){.key = "k00421"});
    ck_assert_int_eq(one.count, 1);
    ck_assert_str_eq(one.previous, "k00421");
    state_close(s);
    statefile_remove(&f);
}
END_TEST

/* `deadletter list | less` used to keep the holder from writing, and ended its sync after ten
 * seconds. */
START_TEST(a_list_that_is_read_slowly_lets_the_holder_write)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    fill(s, 900);
    struct state *reader;
    OK(state_open_read_only(&reader, f.path, "articles", &err));
    struct walk walk = {.ordered = true, .holder = s};
    OK(deadletter_each(reader, step, &walk, &err));
    ck_assert_int_eq(walk.count, 900);
    state_close(reader);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

static int note_group(void *context, const struct dead_letter_group *g)
{
    buf_printf(context, "[%s %d %lld %lld %lld]", g->error_type, g->never_sent, (long long)g->count,
               (long long)g->first_us, (long long)g->last_us);
    return 0;
}

START_TEST(letters_are_counted_by_error_type_the_most_first)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct buf text;
    struct state *s = statefile_open(&f, "articles");
    buf_init(&text, 4096);
    statefile_begin(s, 1);
    fill(s, 90);
    OK(deadletter_groups(s, &(struct dead_letter_filter){0}, note_group, &text, &err));
    ck_assert_str_eq(buf_text(&text), "[mapping 0 60 1000 1080][ 1 30 1000 1080]");
    buf_reset(&text);
    OK(deadletter_groups(s, &(struct dead_letter_filter){.reason = "odd", .until_us = 1020},
                         note_group, &text, &err));
    ck_assert_str_eq(buf_text(&text), "[ 1 10 1000 1020]");
    buf_release(&text);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(an_error_type_is_replaced_by_the_next_and_outlives_the_state_file)
{
    struct statefile f = statefile_make();
    struct statefile other = statefile_make();
    struct err err = {0};
    struct buf letters;
    int64_t cut;
    buf_init(&letters, 65536);
    struct state *s = statefile_open(&f, "articles");
    struct state *found = statefile_open(&other, "articles");
    statefile_begin(s, 1);
    struct new_letter letter = {.key = span_of("a"), .reason = span_of("r")};
    struct settlement settlement = {.letters = &letter, .letter_count = 1, .wall_us = 5};
    OK(checkpoint_settle(s, &settlement, &err));
    letter.error_type = span_of("mapping");
    OK(checkpoint_settle(s, &settlement, &err));
    ck_assert_int_eq(walk_with(s, (struct dead_letter_filter){0}).typed, 1);
    OK(deadletter_export(s, &letters, &err));
    struct checkpoint next = {.generation = (char[]){"articles-1"},
                              .generation_number = 1,
                              .index_uuid = (char[]){"u"},
                              .mapping_fingerprint = (char[]){"m"},
                              .table_fingerprint = (char[]){"t"},
                              .source_identity = (char[]){"s"},
                              .position = (char[]){"p"}};
    OK(checkpoint_take_over(found, &next, buf_text(&letters), 9, &cut, &err));
    ck_assert_int_eq(walk_with(found, (struct dead_letter_filter){0}).typed, 1);
    buf_release(&letters);
    state_close(found);
    state_close(s);
    statefile_remove(&other);
    statefile_remove(&f);
}
END_TEST

/* Adds letters like one commit: with the same time and a reason of one kilobyte. */
static void settle_many(struct state *s, int from, int to)
{
    struct err err = {0};
    char reason[1024];
    memset(reason, 'r', sizeof(reason));
    OK(transaction_begin(s, &err));
    for (int i = from; i < to; i++) {
        char key[16];
        snprintf(key, sizeof(key), "k%06d", i);
        OK(sql_run(s, SQL_LETTER_ADD,
                   BIND(STRING(key), INTEGER(OPERATION_UPSERT),
                        SPAN(span_make(reason, sizeof(reason))), INTEGER(400), INTEGER(1),
                        INTEGER(100), STRING("")),
                   &err));
    }
    OK(transaction_end(s, 0, &err));
}

static int next_key(void *context, const struct dead_letter *letter)
{
    int *next = context;
    char key[16];
    snprintf(key, sizeof(key), "k%06d", (*next)++);
    ck_assert_str_eq(letter->key, key);
    return 0;
}

static int count_step(void *steps)
{
    ++*(long *)steps;
    return 0;
}

/* Returns the number of SQLite's steps to list the letters, each once and in order. */
static long listing_steps(struct state *s, int letters)
{
    struct err err = {0};
    long steps = 0;
    int next = 0;
    sqlite3_progress_handler(s->db, 1000, count_step, &steps);
    OK(deadletter_each(s, next_key, &next, &err));
    sqlite3_progress_handler(s->db, 0, NULL, NULL);
    ck_assert_int_eq(next, letters);
    return steps;
}

START_TEST(many_letters_of_one_time_are_each_read_once)
{
    struct statefile f = statefile_make_in_memory();
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    settle_many(s, 0, 2000);
    long few = listing_steps(s, 2000);
    settle_many(s, 2000, 8000);
    long many = listing_steps(s, 8000);
    ck_assert_msg(many < 6 * few, "%ld thousand steps for 2,000, %ld for 8,000", few, many);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(the_file_is_small_again_once_many_letters_are_gone)
{
    struct statefile f = statefile_make_in_memory();
    struct stat at;
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    settle_many(s, 0, 8000);
    ck_assert_int_eq(stat(f.path, &at), 0);
    ck_assert_int_gt(at.st_size, 8 << 20);
    int code =
        sqlite3_exec(s->db, "delete from dead_letter where key > 'k000009'", NULL, NULL, NULL);
    ck_assert_int_eq(code, SQLITE_OK);
    state_close(s);
    s = statefile_open(&f, "articles");
    ck_assert_int_eq(stat(f.path, &at), 0);
    ck_assert_int_lt(at.st_size, 1 << 20);
    (void)listing_steps(s, 10);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/deadletter", a_key_rejected_again_keeps_its_first_time_and_shows_the_new_reason,
           letters_come_in_the_order_of_their_first_time_then_key,
           a_later_operation_that_is_done_clears_the_letter,
           letters_go_with_a_generation_that_never_went_live, keys_of_any_bytes_come_back_whole,
           letters_are_chosen_by_reason_type_age_key_and_number,
           a_list_that_is_read_slowly_lets_the_holder_write,
           letters_are_counted_by_error_type_the_most_first,
           an_error_type_is_replaced_by_the_next_and_outlives_the_state_file,
           many_letters_of_one_time_are_each_read_once,
           the_file_is_small_again_once_many_letters_are_gone)
