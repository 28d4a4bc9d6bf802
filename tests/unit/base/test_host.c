/* SPDX-License-Identifier: Apache-2.0 */
/* A foreign name that points at this machine is not ours. */
#include "rowferry/base/host.h"

#include <string.h>

#include "suite.h"

START_TEST(addresses_localhost_and_the_configured_name_are_ours)
{
    static const char *const good[] = {"127.0.0.1",           "127.0.0.1:9187",
                                       "[::1]:9187",          "[::1]",
                                       "localhost:9187",      "LOCALHOST",
                                       "192.0.2.7:80",        "search-box:9187",
                                       "search-box",          "rowferry.search.svc:9187",
                                       "rowferry.search.svc", NULL};
    static const char *const names[] = {"search-box:9187", "rowferry.search.svc"};
    for (size_t i = 0; good[i] != NULL; i++) {
        ck_assert_msg(host_is_ours(good[i], names, 2), "%s", good[i]);
    }
    ck_assert(host_is_ours(NULL, names, 2));
    ck_assert(host_is_ours("[::1]", NULL, 0));
}
END_TEST

START_TEST(other_names_are_not)
{
    static const char *const bad[] = {"evil.example",
                                      "evil.example:9187",
                                      "127.0.0.1.evil.example",
                                      "localhost.evil.example:9187",
                                      "",
                                      "[::1",
                                      "[evil]:9187",
                                      "[::1].evil.example",
                                      NULL};
    static const char *const names[] = {"127.0.0.1:9187", ""};
    char longest[400];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    for (size_t i = 0; bad[i] != NULL; i++) {
        ck_assert_msg(!host_is_ours(bad[i], names, 2), "%s", bad[i]);
    }
    ck_assert(!host_is_ours(longest, names, 2));
}
END_TEST

SUITE_MAIN("base/host", addresses_localhost_and_the_configured_name_are_ours, other_names_are_not)
