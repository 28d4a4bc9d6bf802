/* SPDX-License-Identifier: Apache-2.0 */
/* Parses argv into command, options and operands. */
#include "arguments.h"

#include <check.h>

#include "suite.h"

#define PARSE(a, err, ...)                                                                         \
    arguments_parse((a),                                                                           \
                    (int)(sizeof((const char *[]){"rowferry", __VA_ARGS__}) / sizeof(char *)),     \
                    (const char *[]){"rowferry", __VA_ARGS__}, (err))

START_TEST(options_may_stand_anywhere)
{
    struct arguments a;
    struct err err;
    ck_assert_int_eq(PARSE(&a, &err, "--json", "-c", "x.json", "sync", "one", "--refresh", "two"),
                     0);
    ck_assert_str_eq(a.command->name, "sync");
    ck_assert_str_eq(a.values[OPTION_CONFIG], "x.json");
    ck_assert(arguments_have(&a, OPTION_JSON) && arguments_have(&a, OPTION_REFRESH));
    ck_assert(!arguments_have(&a, OPTION_DEAD_LETTERS_OK));
    ck_assert_uint_eq(a.operand_count, 2);
    ck_assert_str_eq(a.operands[0], "one");
    ck_assert_str_eq(a.operands[1], "two");
    arguments_release(&a);
}
END_TEST

START_TEST(a_value_is_taken_in_each_of_its_forms)
{
    static const char *const forms[][2] = {
        {"--config", "f"}, {"--config=f", "sync"}, {"-cf", "sync"}, {"-c", "f"}};
    for (size_t i = 0; i < 4; i++) {
        struct arguments a;
        struct err err;
        ck_assert_int_eq(PARSE(&a, &err, "status", forms[i][0], forms[i][1]), 0);
        ck_assert_str_eq(a.values[OPTION_CONFIG], "f");
        arguments_release(&a);
    }
}
END_TEST

START_TEST(a_command_of_two_words_has_the_rest_as_operands)
{
    struct arguments a;
    struct err err;
    ck_assert_int_eq(PARSE(&a, &err, "source", "--as", "URI", "install", "one"), 0);
    ck_assert_str_eq(a.command->name, "source install");
    ck_assert_uint_eq(a.operand_count, 1);
    ck_assert_str_eq(a.operands[0], "one");
    arguments_release(&a);
}
END_TEST

START_TEST(an_option_of_several_values_takes_words_up_to_the_next_option)
{
    static const char *const forms[][6] = {
        {"init", "--with", "a", "b", "--table", "t"},
        {"--with", "a", "init", "--with=b", "--table", "t"},
        {"init", "--with", "a", "--table=t", "--with", "b"},
        {"init", "--table", "t", "--with", "a", "b"},
    };
    for (size_t i = 0; i < 4; i++) {
        struct arguments a;
        struct err err;
        const char *const *w = forms[i];
        ck_assert_int_eq(PARSE(&a, &err, w[0], w[1], w[2], w[3], w[4], w[5]), 0);
        ck_assert_str_eq(a.command->name, "init");
        ck_assert_str_eq(a.values[OPTION_TABLE], "t");
        ck_assert_uint_eq(a.several_count, 2);
        ck_assert_str_eq(a.several[0], "a");
        ck_assert_str_eq(a.several[1], "b");
        ck_assert_uint_eq(a.operand_count, 0);
        arguments_release(&a);
    }
}
END_TEST

START_TEST(two_dashes_end_the_options)
{
    struct arguments a;
    struct err err;
    ck_assert_int_eq(PARSE(&a, &err, "document", "--", "--help", "-7"), 0);
    ck_assert(!arguments_have(&a, OPTION_HELP));
    ck_assert_uint_eq(a.operand_count, 2);
    ck_assert_str_eq(a.operands[1], "-7");
    arguments_release(&a);
}
END_TEST

START_TEST(help_needs_neither_command_nor_operands)
{
    struct arguments a;
    struct err err;
    ck_assert_int_eq(PARSE(&a, &err, "--help"), 0);
    ck_assert_ptr_null(a.command);
    arguments_release(&a);
    ck_assert_int_eq(PARSE(&a, &err, "source", "-h"), 0);
    ck_assert_str_eq(a.group, "source");
    arguments_release(&a);
    ck_assert_int_eq(PARSE(&a, &err, "document", "-h"), 0);
    ck_assert_str_eq(a.command->name, "document");
    arguments_release(&a);
}
END_TEST

START_TEST(what_cannot_be_understood_is_refused_by_name)
{
    static const struct {
        const char *words[3];
        const char *message;
    } cases[] = {
        {{"stauts", "a", "b"}, "unknown command \"stauts\"; did you mean \"status\"?"},
        {{"deadletter", "lst", "a"},
         "unknown command \"deadletter lst\"; did you mean \"deadletter list\"?"},
        {{"sync", "--jsno", "a"}, "unknown option \"--jsno\"; did you mean \"--json\"?"},
        {{"sync", "--as", "a"},
         "command \"sync\" has no option \"--as\"; see: rowferry sync --help"},
        {{"sync", "--help=me", "a"}, "option \"--help\" takes no value"},
        {{"sync", "a", "--config"}, "option \"--config\" needs a value: --config FILE"},
        {{"sync", "a", "--config="}, "option \"--config\" needs a value: --config FILE"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arguments a;
        struct err err;
        const char *const *w = cases[i].words;
        ck_assert_int_eq(PARSE(&a, &err, w[0], w[1], w[2]), ERR_CONFIG);
        ck_assert_str_eq(err.message, cases[i].message);
        arguments_release(&a);
    }
}
END_TEST

/* --- the voice ---------------------------------------------------------------------------------
 */

#define PHRASE_MOST 80
#define SUMMARY_MOST 60 /* on one line with the command's name */

static void expect_phrase(const char *name, const char *text, size_t most)
{
    char last = text[strlen(text) - 1];
    ck_assert_msg(text[0] < 'A' || text[0] > 'Z', "%s begins with a capital: %s", name, text);
    ck_assert_msg(last != '.' && last != '!' && last != ' ', "%s ends like a sentence: %s", name,
                  text);
    ck_assert_msg(strchr(text, '\n') == NULL, "%s breaks its line: %s", name, text);
    ck_assert_msg(strlen(text) <= most, "%s is long: %s", name, text);
}

START_TEST(what_the_tables_say_of_a_thing_is_a_phrase_and_of_a_command_sentences)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (option_rows[i].help != NULL) {
            expect_phrase(option_rows[i].name, option_rows[i].help, PHRASE_MOST);
        }
    }
    for (const struct exit_row *row = exit_rows; row->help != NULL; row++) {
        expect_phrase("an exit code", row->help, PHRASE_MOST);
    }
    for (const struct command *c = commands; c->name != NULL; c++) {
        if (c->summary != NULL) {
            expect_phrase(c->name, c->summary, SUMMARY_MOST);
            ck_assert_msg(c->about[0] >= 'A' && c->about[0] <= 'Z' &&
                              c->about[strlen(c->about) - 1] == '.',
                          "%s: no sentences: %s", c->name, c->about);
        }
    }
}
END_TEST

SUITE_MAIN("cli/arguments", options_may_stand_anywhere, a_value_is_taken_in_each_of_its_forms,
           a_command_of_two_words_has_the_rest_as_operands,
           an_option_of_several_values_takes_words_up_to_the_next_option,
           two_dashes_end_the_options, help_needs_neither_command_nor_operands,
           what_cannot_be_understood_is_refused_by_name,
           what_the_tables_say_of_a_thing_is_a_phrase_and_of_a_command_sentences)
