/* SPDX-License-Identifier: Apache-2.0 */
/* The export of a state file, and another one that continues from it. */
#include "rowferry/base/buf.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/guard_stop.h"

#include "statefile.h"

#define TEXT_BYTES ((size_t)64 << 20)

/* Two state files: `lost` has a generation, `found` has none. */
struct pair {
    struct statefile lost_file, found_file;
    struct state *lost, *found;
};

static struct pair pair_make(void)
{
    struct pair p = {.lost_file = statefile_make(), .found_file = statefile_make()};
    p.lost = statefile_open(&p.lost_file, "articles");
    p.found = statefile_open(&p.found_file, "articles");
    statefile_begin(p.lost, 3);
    return p;
}

static void pair_remove(struct pair *p)
{
    state_close(p->lost);
    state_close(p->found);
    statefile_remove(&p->lost_file);
    statefile_remove(&p->found_file);
}

static void reject(struct state *s, const struct new_letter *letters, size_t count, int64_t wall_us)
{
    struct err err = {0};
    struct settlement settlement = {
        .letters = letters, .letter_count = count, .wall_us = wall_us, .position = "log 7"};
    OK(checkpoint_settle(s, &settlement, &err));
}

static void reject_one(struct state *s, const char *key, const char *reason, int64_t wall_us)
{
    struct new_letter letter = {.key = span_of(key),
                                .kind = OPERATION_UPSERT,
                                .reason = span_of(reason),
                                .error_type = span_of("mapper_parsing_exception"),
                                .http_status = 400,
                                .version = wall_us * 10};
    reject(s, &letter, 1, wall_us);
}

static struct buf exported(struct state *s)
{
    struct err err = {0};
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    OK(deadletter_export(s, &text, &err));
    return text;
}

static int take_over(struct state *s, const char *letters, int64_t *cut, struct err *err)
{
    struct checkpoint c = {.generation = (char[]){"shop-20240101-4"},
                           .index_uuid = (char[]){"uuid"},
                           .mapping_fingerprint = (char[]){"mapping"},
                           .table_fingerprint = (char[]){"table"},
                           .source_identity = (char[]){"1/db"},
                           .position = (char[]){"log 9"},
                           .generation_number = 4,
                           .clock_ceiling = 5000};
    return checkpoint_take_over(s, &c, letters, 77, cut, err);
}

static void must_take_over(struct state *s, const char *letters, int64_t cut)
{
    struct err err = {0};
    int64_t lost = -1;
    OK(take_over(s, letters, &lost, &err));
    ck_assert_int_eq(lost, cut);
}

/* Prints every member of every dead letter. */
static int print_letter(void *context, const struct dead_letter *l)
{
    buf_push_text(context, "[");
    buf_push(context, l->key, l->key_len);
    buf_printf(context, "|%d|", (int)l->kind);
    buf_push_text(context, l->reason);
    buf_printf(context, "|%s|%d|%lld|%lld|%lld|%lld]", l->error_type, l->http_status,
               (long long)l->version, (long long)l->first_us, (long long)l->last_us,
               (long long)l->attempts);
    return 0;
}

static struct buf printed(struct state *s)
{
    struct err err = {0};
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    OK(deadletter_each(s, print_letter, &text, &err));
    return text;
}

static void expect_same_letters(struct pair *p, int64_t count)
{
    struct buf was = printed(p->lost);
    struct buf is = printed(p->found);
    ck_assert_str_eq(buf_text(&is), buf_text(&was));
    ck_assert_int_eq(statefile_letters(p->found), count);
    buf_release(&was);
    buf_release(&is);
}

START_TEST(the_checkpoint_that_is_taken_over_is_that_of_a_live_generation)
{
    struct err err = {0};
    struct pair p = pair_make();
    struct checkpoint c;
    must_take_over(p.found, "{}", 0);
    OK(checkpoint_load(p.found, &c, &err));
    ck_assert_int_eq(c.phase, GENERATION_LIVE);
    ck_assert_str_eq(c.generation, "shop-20240101-4");
    ck_assert_str_eq(c.index_uuid, "uuid");
    ck_assert_str_eq(c.mapping_fingerprint, "mapping");
    ck_assert_str_eq(c.table_fingerprint, "table");
    ck_assert_str_eq(c.source_identity, "1/db");
    ck_assert_str_eq(c.position, "log 9");
    ck_assert_int_eq(c.generation_number, 4);
    ck_assert_int_eq(c.clock_ceiling, 5000);
    ck_assert_int_eq(c.settled_at_us, 77);
    checkpoint_release(&c);
    pair_remove(&p);
}
END_TEST

START_TEST(letters_arrive_with_every_member_whatever_their_text_holds)
{
    struct pair p = pair_make();
    reject_one(p.lost, "eu:42", "quotes \" and \\ and \t and \x01", 100);
    reject_one(p.lost, "gr\xc3\xbc\xc3\x9f", "\xe4\xb8\xad \xf0\x9f\x98\x80 \xef\xbf\xbd", 200);
    reject_one(p.lost, "", "", 300);
    reject_one(p.lost, "eu:42", "again", 400);
    struct new_letter gone = {
        .key = span_of("gone"), .kind = OPERATION_DELETE, .version = INT64_MAX};
    reject(p.lost, &gone, 1, 500);
    struct buf text = exported(p.lost);
    must_take_over(p.found, buf_text(&text), 0);
    expect_same_letters(&p, 4);
    struct buf again = exported(p.found);
    ck_assert_str_eq(buf_text(&again), buf_text(&text));
    buf_release(&again);
    buf_release(&text);
    pair_remove(&p);
}
END_TEST

/* The source may use another encoding than UTF-8. */
START_TEST(the_text_of_the_letters_is_ascii)
{
    struct pair p = pair_make();
    reject_one(p.lost, "gr\xc3\xbc\xc3\x9f", "\xe4\xb8\xad \xf0\x9f\x98\x80 half \xc3", 200);
    struct buf text = exported(p.lost);
    for (size_t i = 0; i < text.len; i++) {
        ck_assert_msg((unsigned char)text.data[i] < 0x80, "byte %zu of %s", i, buf_text(&text));
    }
    ck_assert_ptr_nonnull(strstr(buf_text(&text), "\\u4e2d"));
    ck_assert_ptr_nonnull(strstr(buf_text(&text), "\\ud83d\\ude00"));
    ck_assert_ptr_nonnull(strstr(buf_text(&text), "half \\ufffd"));
    buf_release(&text);
    pair_remove(&p);
}
END_TEST

START_TEST(letters_beyond_the_limit_are_counted_as_lost)
{
    enum { MORE = 3, ALL = DEADLETTER_EXPORT_MOST + MORE };
    struct pair p = pair_make();
    static char keys[ALL][12];
    struct new_letter *letters = mem_zero(ALL, sizeof(*letters));
    for (size_t i = 0; i < ALL; i++) {
        snprintf(keys[i], sizeof(keys[i]), "k%05zu", i);
        letters[i] =
            (struct new_letter){.key = span_of(keys[i]), .reason = span_of("no"), .version = 1};
    }
    reject(p.lost, letters + MORE, ALL - MORE, 200);
    reject(p.lost, letters, MORE, 300); /* later ones, although their keys sort first */
    struct buf text = exported(p.lost);
    must_take_over(p.found, buf_text(&text), MORE);
    ck_assert_int_eq(statefile_letters(p.found), DEADLETTER_EXPORT_MOST);
    struct buf is = printed(p.found);
    ck_assert_ptr_null(strstr(buf_text(&is), "[k00002|"));
    ck_assert_ptr_nonnull(strstr(buf_text(&is), "[k00003|"));
    buf_release(&is);
    buf_release(&text);
    free(letters);
    pair_remove(&p);
}
END_TEST

START_TEST(letters_that_are_too_long_for_the_buffer_are_counted_as_lost)
{
    static const size_t sizes[] = {120, 200, 290};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct err err = {0};
        struct pair p = pair_make();
        struct buf text;
        char reason[101] = {0};
        memset(reason, 'x', 100);
        reject_one(p.lost, "a", reason, 100);
        reject_one(p.lost, "b", reason, 100);
        buf_init(&text, sizes[i]);
        OK(deadletter_export(p.lost, &text, &err));
        ck_assert(!text.failed);
        must_take_over(p.found, buf_text(&text), 2);
        buf_release(&text);
        pair_remove(&p);
    }
}
END_TEST

START_TEST(a_text_that_somebody_spoiled_holds_no_letters)
{
    static const char *const texts[] = {"", "{", "{}", "[1,2]", "{\"letters\":3}", "null"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pair p = pair_make();
        must_take_over(p.found, texts[i], 0);
        ck_assert_int_eq(statefile_letters(p.found), 0);
        pair_remove(&p);
    }
    struct pair p = pair_make();
    must_take_over(p.found, "{\"total\":2,\"letters\":[[\"k\"],[\"a\",1,\"r\",400,9,1,2,3]]}", 1);
    ck_assert_int_eq(statefile_letters(p.found), 1);
    pair_remove(&p);
}
END_TEST

START_TEST(who_has_another_generation_goes_on_with_the_one_that_is_taken_over)
{
    struct err err = {0};
    struct pair p = pair_make();
    struct checkpoint c;
    int64_t cut;
    reject_one(p.lost, "own", "mine", 100);
    OK(take_over(p.lost,
                 "{\"total\":2,\"letters\":[[\"a\",1,\"r\",400,9,1,2,3],"
                 "[\"b\",1,\"r\",400,9,1,2,3]]}",
                 &cut, &err));
    OK(checkpoint_load(p.lost, &c, &err));
    ck_assert_int_eq(c.phase, GENERATION_LIVE);
    ck_assert_str_eq(c.position, "log 9");
    ck_assert_int_eq(c.generation_number, 4);
    ck_assert_int_eq(statefile_letters(p.lost), 2); /* and not its own ones */
    checkpoint_release(&c);
    pair_remove(&p);
}
END_TEST

START_TEST(nothing_of_what_was_taken_over_before_is_left)
{
    struct err err = {0};
    struct pair p = pair_make();
    struct guard_stop halt;
    bool halted = true;
    must_take_over(p.lost,
                   "{\"total\":2,\"letters\":[[\"a\",1,\"r\",400,9,1,2,3],"
                   "[\"b\",1,\"r\",400,9,1,2,3]]}",
                   0);
    OK(guard_stop_write(p.lost, &(struct guard_stop){.deletes = 1}, &err));
    must_take_over(p.lost, "{\"total\":1,\"letters\":[[\"c\",1,\"r\",400,9,1,2,3]]}", 0);
    ck_assert_int_eq(statefile_letters(p.lost), 1);
    OK(guard_stop_read(p.lost, &halt, &halted, &err));
    ck_assert(!halted);
    pair_remove(&p);
}
END_TEST

START_TEST(what_was_taken_over_is_gone_on_with)
{
    struct err err = {0};
    struct pair p = pair_make();
    struct checkpoint c;
    reject_one(p.lost, "a", "no", 100);
    reject_one(p.lost, "b", "no", 100);
    struct buf text = exported(p.lost);
    must_take_over(p.found, buf_text(&text), 0);
    struct span cleared = span_of("a");
    OK(checkpoint_settle(p.found,
                         &(struct settlement){.position = "log 12",
                                              .settled = 1,
                                              .cleared = &cleared,
                                              .cleared_count = 1,
                                              .wall_us = 90},
                         &err));
    OK(checkpoint_load(p.found, &c, &err));
    ck_assert_str_eq(c.position, "log 12");
    checkpoint_release(&c);
    ck_assert_int_eq(statefile_letters(p.found), 1);
    statefile_begin(p.found, 5);
    OK(checkpoint_go_live(p.found, 100, &err));
    ck_assert_int_eq(statefile_letters(p.found), 0); /* they belonged to the previous generation */
    buf_release(&text);
    pair_remove(&p);
}
END_TEST

START_TEST(the_revision_grows_with_every_change_of_the_letters)
{
    struct err err = {0};
    struct pair p = pair_make();
    uint64_t revision = deadletter_revision(p.lost);
    ck_assert_uint_ne(revision, 0);
    OK(statefile_position(p.lost, "log 1", 10, &err));
    ck_assert_uint_eq(deadletter_revision(p.lost), revision);
    reject_one(p.lost, "a", "no", 100);
    ck_assert_uint_gt(deadletter_revision(p.lost), revision);
    revision = deadletter_revision(p.lost);
    struct span cleared = span_of("a");
    OK(checkpoint_settle(p.lost, &(struct settlement){.cleared = &cleared, .cleared_count = 1},
                         &err));
    ck_assert_uint_gt(deadletter_revision(p.lost), revision);
    pair_remove(&p);
}
END_TEST

SUITE_MAIN("state/takeover", the_checkpoint_that_is_taken_over_is_that_of_a_live_generation,
           letters_arrive_with_every_member_whatever_their_text_holds,
           the_text_of_the_letters_is_ascii, letters_beyond_the_limit_are_counted_as_lost,
           letters_that_are_too_long_for_the_buffer_are_counted_as_lost,
           a_text_that_somebody_spoiled_holds_no_letters,
           who_has_another_generation_goes_on_with_the_one_that_is_taken_over,
           nothing_of_what_was_taken_over_before_is_left, what_was_taken_over_is_gone_on_with,
           the_revision_grows_with_every_change_of_the_letters)
