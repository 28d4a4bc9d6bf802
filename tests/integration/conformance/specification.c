/* SPDX-License-Identifier: Apache-2.0 */
/* docs/specification.md: every statement has an answer, and its command runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/file.h"
#include "shop.h"
#include "sql.h"

#define STATEMENTS 73
#define COMMANDS_MAX 32

/* Runs "rowferry WORD WORD ...`", which the page has in backticks. */
static void run_command(const struct shop *shop, const char *command)
{
    char text[128];
    const char *words[4] = {NULL};
    char *save = NULL;
    snprintf(text, sizeof(text), "%.*s", (int)strcspn(command, "`"), command);
    strtok_r(text, " ", &save);
    for (size_t i = 0; i < 4; i++) {
        words[i] = strtok_r(NULL, " ", &save);
    }
    ck_assert_ptr_nonnull(words[0]);
    printf("%.*s\n", (int)strcspn(command, "`"), command);
    rowferry_expect(0, shop->config, words[0], words[1], words[2], words[3], NULL);
}

/* Runs the command of a line, if no line before had the same. */
static void run_once(const struct shop *shop, const char **seen, size_t *count, const char *command)
{
    size_t len = strcspn(command, "`") + 1;
    for (size_t i = 0; i < *count; i++) {
        if (strncmp(seen[i], command, len) == 0) {
            return;
        }
    }
    ck_assert_uint_lt(*count, COMMANDS_MAX);
    seen[(*count)++] = command;
    run_command(shop, command);
}

START_TEST(every_statement_of_the_specification_is_shown_by_its_command)
{
    struct shop shop;
    struct buf page;
    struct stat found;
    const char *seen[COMMANDS_MAX];
    size_t count = 0;
    long number = 0;
    shop_open(&shop, 40, NULL, NULL);
    buf_init(&page, 1 << 20);
    ck_assert_ptr_null(file_read(TEST_TOP "/docs/specification.md", 0, &page, &found));
    for (const char *line = buf_text(&page); line != NULL; line = strchr(line + 1, '\n')) {
        const char *asked = strstr(line, " | ");
        const char *answer = asked != NULL ? strstr(asked + 3, " | ") : NULL;
        if (strncmp(line, "\n| ", 3) != 0 || atol(line + 3) == 0 || answer == NULL) {
            continue;
        }
        ck_assert_int_eq(atol(line + 3), ++number);
        ck_assert_msg(strncmp(answer, " | yes", 6) == 0 || strncmp(answer, " | in part", 10) == 0,
                      "statement %ld has no answer", number);
        const char *command = strstr(line + 1, "| `rowferry ");
        ck_assert_msg(command != NULL && command < strchr(line + 1, '\n'), "%ld", number);
        run_once(&shop, seen, &count, command + strlen("| `"));
    }
    ck_assert_int_eq(number, STATEMENTS);
    buf_release(&page);
    shop_close(&shop);
}
END_TEST

TESTS(specification_tests, NULL, every_statement_of_the_specification_is_shown_by_its_command)
