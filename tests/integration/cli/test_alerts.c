/* SPDX-License-Identifier: Apache-2.0 */
/* Every command of rowferry that an alert rule, a monitor, the dashboard or the page about alerts
 * prints is one that the program takes: it is run as it stands there, with the placeholders filled.
 */
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/file.h"
#include "suite.h"
#include "typed.h"

#define TEXT_BYTES ((size_t)1 << 20)

static const char *const placeholders[][2] = {
    {"{{ $labels.pipeline }}", "articles"},
    {"PIPELINE", "articles"},
    {"KEY", "7"},
};

static char *filled(const char *command, size_t len)
{
    struct buf out;
    buf_init(&out, TEXT_BYTES);
    for (size_t i = 0; i < len;) {
        size_t p = 0;
        while (p < 3 && strncmp(command + i, placeholders[p][0], strlen(placeholders[p][0])) != 0) {
            p++;
        }
        buf_push_text(&out, p < 3 ? placeholders[p][1] : "");
        if (p < 3) {
            i += strlen(placeholders[p][0]);
        } else {
            buf_push_char(&out, command[i] == '\n' ? ' ' : command[i]);
            i++;
        }
    }
    return buf_detach(&out);
}

/* Returns the number of commands in backticks. Fails if one stands without them. */
static size_t type_all(const struct world *w, const char *path)
{
    struct buf text;
    size_t count = 0;
    buf_init(&text, TEXT_BYTES);
    ck_assert_ptr_null(file_read(path, 1000, &text, NULL));
    for (const char *at = strstr(buf_text(&text), "`rowferry "); at != NULL;
         at = strstr(at + 1, "`rowferry ")) {
        size_t len = strcspn(at + 1, "`");
        char *command = filled(at + 1, len);
        if (strcmp(command, "rowferry run") != 0) {
            typed(w, command);
            count++;
        }
        free(command);
        at += len;
    }
    buf_release(&text);
    return count;
}

START_TEST(every_command_of_an_alert_is_one_that_the_program_takes)
{
    struct world w;
    world_start(&w, 20, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    ck_assert_uint_ge(type_all(&w, TEST_TOP "/deploy/prometheus/rowferry.rules.yml"), 10);
    ck_assert_uint_ge(type_all(&w, TEST_TOP "/docs/alerts.md"), 12);
    (void)type_all(&w, TEST_TOP "/deploy/grafana/rowferry.json");
    world_stop(&w);
}
END_TEST

/* A command outside of backticks would not be typed by the test above. */
START_TEST(no_rule_names_a_command_without_backticks)
{
    static const char *const commands[] = {"status", "check",      "sync",
                                           "resume", "deadletter", "reindex"};
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    ck_assert_ptr_null(
        file_read(TEST_TOP "/deploy/prometheus/rowferry.rules.yml", 1000, &text, NULL));
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        char words[64];
        snprintf(words, sizeof(words), "rowferry %s", commands[i]);
        for (const char *at = strstr(buf_text(&text), words); at != NULL;
             at = strstr(at + 1, words)) {
            ck_assert_msg(at[-1] == '`', "without backticks: %.60s", at);
        }
    }
    buf_release(&text);
}
END_TEST

SUITE_MAIN("cli/alerts", every_command_of_an_alert_is_one_that_the_program_takes,
           no_rule_names_a_command_without_backticks)
