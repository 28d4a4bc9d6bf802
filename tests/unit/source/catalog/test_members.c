/* SPDX-License-Identifier: Apache-2.0 */
/* Members that join, leave or lose a trigger: what is reported, and for which member. */
#include "catalog/members.h"

#include <string.h>

#include "suite.h"

START_TEST(the_most_serious_difference_is_returned)
{
    static const struct {
        const char *was;
        const char *is;
        enum members_news news;
        const char *name;
    } cases[] = {
        {"7 a t", "7 a t", MEMBERS_SAME, ""},
        {"7 a t\n8 b u", "7 a t\n8 b renamed", MEMBERS_SAME, ""},
        {"7 a t", "7 a t\n8 - u", MEMBERS_JOINED, "u"},
        {"8 b t", "7 a u\n8 b t", MEMBERS_JOINED, "u"},
        {"7 a t\n10 b u", "7 a t\n9 b \"a name\"\n10 b u", MEMBERS_JOINED, "\"a name\""},
        {"7 a t\n9 b \"a name\"", "7 a t", MEMBERS_LEFT, "\"a name\""},
        {"7 a t\n9 b u", "7 a t\n8 b v", MEMBERS_LEFT, "u"},
        {"7 a t\n8 b u\n9 c v", "7 a t\n8 - u\n10 c v", MEMBERS_CHANGED, "u"},
        {"7 a t", "", MEMBERS_LEFT, "t"},
        {"", "7 a t", MEMBERS_JOINED, "t"},
        {"", "", MEMBERS_SAME, ""},
        {"9 a t\n4294967295 b u", "9 a t\n4294967295 b u", MEMBERS_SAME, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct span name = {"", 0};
        ck_assert_int_eq(members_compare(cases[i].was, cases[i].is, &name), cases[i].news);
        ck_assert_uint_eq(name.len, strlen(cases[i].name));
        ck_assert_int_eq(memcmp(name.data, cases[i].name, name.len), 0);
    }
}
END_TEST

START_TEST(a_member_without_triggers_is_found)
{
    static const struct {
        const char *members;
        const char *name;
    } cases[] = {
        {"7 a t\n8 - \"a - name\"\n9 b v", "\"a - name\""},
        {"7 - t", "t"},
        {"7 a t\n8 b -", NULL},
        {"7 a-b t", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct span name = {"", 0};
        ck_assert_int_eq(members_uncovered(cases[i].members, &name), cases[i].name != NULL);
        ck_assert(cases[i].name == NULL || span_is(name, cases[i].name));
    }
}
END_TEST

START_TEST(a_rewritten_member_has_new_storage_and_new_versions)
{
    static const struct {
        const char *was;
        const char *is;
        bool rewritten;
    } cases[] = {
        {"7 a 1\n8 b 2", "7 a 1\n8 c 3", true},
        {"7 a 1\n8 b 2", "7 a 1\n8 c 2", false},
        {"7 a 1\n8 b 2", "7 a 3\n8 c 2", false},
        {"7 a 1", "7 a 1\n8 c 3", false},
        {"7 a 1\n8 b 2", "7 a 1", false},
        {"7 a 1\n9 b 2", "8 c 3\n9 b 2", false},
        {"7 a 1\n9 b 2", "6 x 0\n8 c 3\n9 d 4", true},
        {"", "7 a 1", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(members_rewritten(cases[i].was, cases[i].is), cases[i].rewritten);
    }
}
END_TEST

START_TEST(a_recorded_member_is_kept_while_it_is_relied_on)
{
    static const struct {
        const char *was;
        const char *is;
        const char *relied;
        const char *noted;
    } cases[] = {
        {"7 a 1\n8 b 2", "7 c 3", "7 x t\n8 y u", "7 c 3\n8 b 2"},
        {"7 a 1\n8 b 2", "7 c 3", "7 x t", "7 c 3"},
        {"6 a 1\n8 b 2", "7 c 3\n9 d 4", "6 x s\n8 y u\n9 z v", "6 a 1\n7 c 3\n8 b 2\n9 d 4"},
        {"7 a 1", "7 a 1\n8 b 2", "7 x t", "7 a 1\n8 b 2"},
        {"", "7 a 1", "", "7 a 1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf out;
        buf_init(&out, 1024);
        members_note_stored(&out, cases[i].was, cases[i].is, cases[i].relied);
        ck_assert_str_eq(buf_text(&out), cases[i].noted);
        buf_release(&out);
    }
}
END_TEST

SUITE_MAIN("source/members", the_most_serious_difference_is_returned,
           a_member_without_triggers_is_found, a_rewritten_member_has_new_storage_and_new_versions,
           a_recorded_member_is_kept_while_it_is_relied_on)
