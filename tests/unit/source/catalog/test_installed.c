/* SPDX-License-Identifier: Apache-2.0 */
/* Installed objects are identified only by their version, so any change of them needs a new
 * version. */
#include "catalog/installed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rowferry/base/embed.h"
#include "suite.h"

/* The version, and the checksum of its objects. */
#define KNOWN_VERSION 7
#define KNOWN_SUM UINT64_C(0xef417d0a1dfa56b9)

/* FNV-1a over everything but blanks and comment lines, which have no effect. */
static uint64_t sum_of(const char *text)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        size_t at = strspn(text, " ");
        bool comment = strncmp(text + at, "--", 2) == 0;
        for (; !comment && at < len; at++) {
            if (text[at] != ' ') {
                sum = (sum ^ (unsigned char)text[at]) * UINT64_C(1099511628211);
            }
        }
        text += len + (text[len] == '\n');
    }
    return sum;
}

START_TEST(a_change_log_that_changed_has_another_version)
{
    uint64_t sum = sum_of(embed_text(source_sql, "001_change_log"));
    ck_assert_msg(INSTALLED_VERSION != KNOWN_VERSION || sum == KNOWN_SUM,
                  "migrations/source/001_change_log.sql is not what version %d installs: databases "
                  "would keep the old one; raise the version at its end and INSTALLED_VERSION",
                  KNOWN_VERSION);
    ck_assert_msg(INSTALLED_VERSION == KNOWN_VERSION && sum == KNOWN_SUM,
                  "a new version: write KNOWN_VERSION %d and KNOWN_SUM 0x%" PRIx64 " here",
                  INSTALLED_VERSION, sum);
}
END_TEST

START_TEST(the_installed_version_is_the_required_version)
{
    char line[128];
    snprintf(line, sizeof(line), "insert into rowferry.migration (version) values (%d) ",
             INSTALLED_VERSION);
    ck_assert_ptr_nonnull(strstr(embed_text(source_sql, "001_change_log"), line));
}
END_TEST

START_TEST(only_comments_and_blanks_may_change_without_a_new_version)
{
    uint64_t sum = sum_of("create table a (\n    b int);\n");
    ck_assert(sum == sum_of("-- a comment\n\ncreate table a (\n  -- another\n\n b int);"));
    ck_assert(sum != sum_of("create table a (\n    c int);\n"));
    ck_assert(sum != sum_of("create table a (\n    b int);\ndrop table a;\n"));
}
END_TEST

SUITE_MAIN("source/installed", a_change_log_that_changed_has_another_version,
           the_installed_version_is_the_required_version,
           only_comments_and_blanks_may_change_without_a_new_version)
