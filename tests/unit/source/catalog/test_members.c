/* SPDX-License-Identifier: Apache-2.0 */
/* Members that join, leave or lose a trigger: what is reported, and for which member. */
#include "catalog/members.h"

#include <string.h>

#include "suite.h"

START_TEST(the_gravest_of_what_happened_is_told)
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

SUITE_MAIN("source/members", the_gravest_of_what_happened_is_told,
           a_member_without_triggers_is_found)
