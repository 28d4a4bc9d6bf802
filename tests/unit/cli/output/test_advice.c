/* SPDX-License-Identifier: Apache-2.0 */
/* Recommended commands repeat the configuration file of -c. */
#include "output/advice.h"

#include <string.h>

#include "suite.h"

static bool is_command(const char *text)
{
    return strncmp(text, "sync", 4) == 0 || strncmp(text, "check", 5) == 0 ||
           strncmp(text, "source", 6) == 0;
}

static void expect(const char *config, const char *text, const char *wanted)
{
    struct buf out;
    buf_init(&out, 4096);
    advice_use_config(config, is_command);
    advice_push(&out, text);
    ck_assert_str_eq(buf_text(&out), wanted);
    buf_release(&out);
    advice_use_config(NULL, NULL);
}

START_TEST(a_command_gets_the_file)
{
    expect("shop.json", "run: rowferry sync articles", "run: rowferry -c shop.json sync articles");
    expect(
        "/etc/my shop's.json", "\"rowferry check\", or rowferry source install --as owner",
        "\"rowferry -c '/etc/my shop'\\''s.json' check\", or rowferry -c '/etc/my shop'\\''s.json' "
        "source install --as owner");
}
END_TEST

START_TEST(a_sentence_does_not)
{
    expect("shop.json", "which rowferry is not tested with", "which rowferry is not tested with");
    expect("shop.json", "rowferry has read it; rowferry version",
           "rowferry has read it; rowferry version");
    expect("shop.json", "rowferry ", "rowferry ");
    expect(NULL, "run: rowferry sync articles", "run: rowferry sync articles");
}
END_TEST

SUITE_MAIN("cli/advice", a_command_gets_the_file, a_sentence_does_not)
