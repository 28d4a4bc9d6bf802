/* SPDX-License-Identifier: Apache-2.0 */
/* A damaged, truncated or empty state file never leads to a wrong index. */
#include "damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"

#define PAGE 4096

static void flip(struct damage *d, size_t at, int bit)
{
    char what[64];
    char *bytes = mem_zero(d->size, 1);
    memcpy(bytes, d->sound, d->size);
    bytes[at] = (char)(bytes[at] ^ (1 << bit));
    damage_write(d, bytes, d->size);
    snprintf(what, sizeof(what), "byte %zu, bit %d flipped", at, bit);
    damage_case(d, what);
    free(bytes);
}

START_TEST(a_flipped_bit_in_each_page_is_refused_or_does_no_harm)
{
    struct damage d;
    damage_start(&d);
    for (size_t page = 0; page < d.size / PAGE; page++) {
        flip(&d, page * PAGE + (size_t)crash_dice(PAGE), (int)crash_dice(8));
        flip(&d, page * PAGE + (size_t)crash_dice(64), (int)crash_dice(8));
    }
    damage_stop(&d);
}
END_TEST

/* Flips each byte of the row with the checkpoint. */
START_TEST(a_flipped_bit_in_the_checkpoint_is_refused_or_does_no_harm)
{
    struct damage d;
    damage_start(&d);
    const char *name = memmem(d.sound, d.size,
                              "articles"
                              "shop-articles",
                              8 + 13);
    name = name != NULL ? name : memmem(d.sound, d.size, "shop-articles-", 14);
    ck_assert_ptr_nonnull(name);
    size_t first = (size_t)(name - d.sound) > 48 ? (size_t)(name - d.sound) - 48 : 0;
    size_t stride = (size_t)crash_setting("ROWFERRY_STATE_STRIDE", 16);
    for (size_t at = first + (size_t)crash_dice((int64_t)stride);
         at < d.size && at % PAGE + stride < PAGE + stride && at < (first / PAGE + 1) * PAGE;
         at += stride) {
        flip(&d, at, (int)crash_dice(8));
    }
    damage_stop(&d);
}
END_TEST

START_TEST(a_state_file_cut_at_each_page_is_refused_or_does_no_harm)
{
    struct damage d;
    char what[64];
    damage_start(&d);
    for (size_t size = PAGE; size < d.size; size += PAGE) {
        damage_write(&d, d.sound, size);
        snprintf(what, sizeof(what), "cut to %zu bytes", size);
        damage_case(&d, what);
        damage_write(&d, d.sound, size - (size_t)crash_dice(PAGE - 1) - 1);
        damage_case(&d, "cut within a page");
    }
    damage_stop(&d);
}
END_TEST

START_TEST(a_state_file_of_zeros_or_of_anything_is_refused)
{
    struct damage d;
    damage_start(&d);
    char *bytes = mem_zero(d.size, 1);
    damage_write(&d, bytes, d.size);
    damage_case(&d, "zeros");
    for (size_t page = 0; page < d.size / PAGE; page++) {
        memcpy(bytes, d.sound, d.size);
        memset(bytes + page * PAGE, 0, PAGE);
        damage_write(&d, bytes, d.size);
        damage_case(&d, "a page of zeros");
    }
    for (size_t i = 0; i < d.size; i++) {
        bytes[i] = (char)crash_dice(256);
    }
    damage_write(&d, bytes, d.size);
    damage_case(&d, "noise");
    ck_assert_int_ge(d.refused, 2);
    free(bytes);
    damage_stop(&d);
}
END_TEST

CRASH_MAIN("crash/state_damage", a_flipped_bit_in_each_page_is_refused_or_does_no_harm,
           a_flipped_bit_in_the_checkpoint_is_refused_or_does_no_harm,
           a_state_file_cut_at_each_page_is_refused_or_does_no_harm,
           a_state_file_of_zeros_or_of_anything_is_refused)
