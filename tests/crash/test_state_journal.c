/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rollback journal that a crash left beside the state file, together with a state file that it
 * was not written for: an older copy, a newer one, another world's.
 *
 * The journals are written in SQLite's documented format ("The Rollback Journal" of its file
 * format), so that each page can be tested.
 */
#include "damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "sql.h"

#define PAGE 4096
#define SECTOR 512
#define JOURNAL_MAX_BYTES ((size_t)1 << 20)
#define NONCE 0x1234567u

static const char magic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";

static void push_number(struct buf *out, size_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        buf_push_char(out, (char)(number >> shift & 0xff));
    }
}

static uint32_t checksum(const char *page)
{
    uint32_t sum = NONCE;
    for (size_t at = PAGE - 200; at > 0 && at < PAGE; at -= 200) {
        sum += (unsigned char)page[at];
    }
    return sum;
}

/* Writes a journal with the pages [from, to) of `bytes`, as the state before an interrupted
 * transaction. */
static void write_journal(const struct damage *d, const char *bytes, size_t size, size_t from,
                          size_t to)
{
    struct buf out;
    char path[4096];
    buf_init(&out, JOURNAL_MAX_BYTES);
    buf_push(&out, magic, 8);
    push_number(&out, to - from);
    push_number(&out, NONCE);
    push_number(&out, size / PAGE);
    push_number(&out, SECTOR);
    push_number(&out, PAGE);
    while (out.len < SECTOR) {
        buf_push_char(&out, '\0');
    }
    for (size_t page = from; page < to; page++) {
        push_number(&out, page + 1);
        buf_push(&out, bytes + page * PAGE, PAGE);
        push_number(&out, checksum(bytes + page * PAGE));
    }
    snprintf(path, sizeof(path), "%s-journal", d->path);
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(buf_text(&out), 1, out.len, file), out.len);
    ck_assert_int_eq(fclose(file), 0);
    buf_release(&out);
}

/* Returns the current state file. */
static char *now(struct damage *d, size_t *size)
{
    struct program_result result;
    damage_change(d);
    world_sync(&d->world, 0, &result);
    program_result_release(&result);
    return damage_read(d->path, size);
}

/* Tests each page alone and all together, from the journal of one file beside another. */
static void each_page(struct damage *d, const char *what, const char *bytes, size_t size,
                      const char *journal, size_t journal_size)
{
    char name[64];
    size_t pages = journal_size / PAGE;
    for (size_t page = 0; page <= pages; page++) {
        bool all = page == pages;
        damage_write(d, bytes, size);
        write_journal(d, journal, journal_size, all ? 0 : page, all ? pages : page + 1);
        snprintf(name, sizeof(name), "%s, page %zu of %zu", what, page + 1, pages);
        damage_case(d, name);
    }
}

/* Checks that opening the file replays the journal; otherwise these tests would prove nothing. */
static void expect_played_back(struct damage *d)
{
    size_t size;
    rowferry_expect(0, d->world.config, "deadletter", "list", NULL);
    char *bytes = damage_read(d->path, &size);
    ck_assert_uint_eq(size, d->size);
    ck_assert_mem_eq(bytes, d->sound, size);
    free(bytes);
}

START_TEST(a_journal_of_all_that_the_crash_changed_brings_back_what_was)
{
    struct damage d;
    size_t size;
    damage_start(&d);
    char *newer = now(&d, &size);
    damage_write(&d, newer, size);
    write_journal(&d, d.sound, d.size, 0, d.size / PAGE);
    expect_played_back(&d);
    damage_case(&d, "a crash");
    ck_assert_int_eq(d.refused, 0);
    free(newer);
    damage_stop(&d);
}
END_TEST

START_TEST(a_journal_beside_an_older_copy_is_refused_or_does_no_harm)
{
    struct damage d;
    size_t size;
    damage_start(&d);
    char *newer = now(&d, &size);
    each_page(&d, "an older copy", d.sound, d.size, newer, size);
    each_page(&d, "a newer file", newer, size, d.sound, d.size);
    free(newer);
    damage_stop(&d);
}
END_TEST

START_TEST(a_journal_beside_another_worlds_file_is_refused_or_does_no_harm)
{
    struct damage d;
    struct damage other;
    damage_start(&d);
    damage_start(&other);
    each_page(&d, "another world's journal", d.sound, d.size, other.sound, other.size);
    each_page(&d, "another world's file", other.sound, other.size, d.sound, d.size);
    ck_assert_int_gt(d.refused, 0);
    damage_stop(&other);
    damage_stop(&d);
}
END_TEST

START_TEST(a_journal_without_its_file_is_refused_or_does_no_harm)
{
    struct damage d;
    damage_start(&d);
    damage_write(&d, "", 0);
    write_journal(&d, d.sound, d.size, 0, d.size / PAGE);
    damage_case(&d, "an empty file");
    damage_stop(&d);
}
END_TEST

CRASH_MAIN("crash/state_journal", a_journal_of_all_that_the_crash_changed_brings_back_what_was,
           a_journal_beside_an_older_copy_is_refused_or_does_no_harm,
           a_journal_beside_another_worlds_file_is_refused_or_does_no_harm,
           a_journal_without_its_file_is_refused_or_does_no_harm)
